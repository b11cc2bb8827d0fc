#include "plugins/transports/meeting/socket.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>

#include "core/base/error.h"
#include "core/io/byte_io.h"

namespace strato::admission {
namespace {

constexpr auto kRetry = std::chrono::milliseconds(20);

[[noreturn]] void fail(int error) { throw std::system_error(error, std::generic_category()); }

int milliseconds_to(Deadline deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1 << 30));
}

// False: the deadline passed.
bool wait_for_any(std::span<pollfd> wanted, Deadline deadline) {
  for (;;) {
    const int ready = ::poll(wanted.data(), wanted.size(), milliseconds_to(deadline));
    if (ready >= 0) return ready > 0;
    if (errno != EINTR) fail(errno);
  }
}

void wait_for(int descriptor, short events, Deadline deadline) {
  pollfd wanted{descriptor, events, 0};
  if (!wait_for_any({&wanted, 1}, deadline)) fail(ETIMEDOUT);
}

using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

Addresses resolve(const std::string& host, std::uint16_t port, int flags) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const std::string service = fmt::to_string(port);
  if (::getaddrinfo(host.c_str(), service.c_str(), &wanted, &found) != 0) fail(EADDRNOTAVAIL);
  return Addresses(found, ::freeaddrinfo);
}

Socket make_socket(const addrinfo& address) {
  Socket socket(::socket(address.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket.is_open()) fail(errno);
  return socket;
}

void turn_on(const Socket& socket, int level, int option) {
  const int on = 1;
  ::setsockopt(socket.descriptor(), level, option, &on, sizeof on);
}

void bind_to(const Socket& socket, const addrinfo& address) {
  turn_on(socket, SOL_SOCKET, SO_REUSEADDR);
  if (::bind(socket.descriptor(), address.ai_addr, address.ai_addrlen) != 0) fail(errno);
}

void send_at_once(const Socket& socket) { turn_on(socket, IPPROTO_TCP, TCP_NODELAY); }

Socket try_connect(const addrinfo& address, const std::string& from, Deadline deadline) {
  Socket socket = make_socket(address);
  if (!from.empty()) bind_to(socket, *resolve(from, 0, 0));
  if (::connect(socket.descriptor(), address.ai_addr, address.ai_addrlen) != 0) {
    if (errno != EINPROGRESS) fail(errno);
    wait_for(socket.descriptor(), POLLOUT, deadline);
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(socket.descriptor(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) fail(error);
  }
  send_at_once(socket);
  return socket;
}

}  // namespace

std::string Socket::local_address() const {
  sockaddr_storage storage{};
  auto* address = reinterpret_cast<sockaddr*>(&storage);
  socklen_t size = sizeof storage;
  if (::getsockname(descriptor(), address, &size) != 0) fail(errno);
  char text[NI_MAXHOST] = "";
  const int error =
      ::getnameinfo(address, sizeof storage, text, sizeof text, nullptr, 0, NI_NUMERICHOST);
  if (error != 0) fail(EADDRNOTAVAIL);
  return text;
}

void Socket::send(std::span<const char> bytes, Deadline deadline) const {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(descriptor(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      wait_for(descriptor(), POLLOUT, deadline);
    } else if (errno != EINTR) {
      fail(errno);
    }
  }
}

std::size_t Socket::receive_some(std::span<char> bytes) const {
  const ssize_t got = ::recv(descriptor(), bytes.data(), bytes.size(), 0);
  if (got > 0) return static_cast<std::size_t>(got);
  if (got == 0) fail(ECONNRESET);
  if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) return 0;
  fail(errno);
}

void Socket::receive(std::span<char> bytes, Deadline deadline) const {
  while (!bytes.empty()) {
    const std::size_t got = receive_some(bytes);
    bytes = bytes.subspan(got);
    if (got == 0) wait_for(descriptor(), POLLIN, deadline);
  }
}

void Socket::send_text(const std::string& text, Deadline deadline) const {
  send(std::move(ByteWriter().number(std::uint64_t{text.size()})).take() + text, deadline);
}

std::string Socket::receive_text(std::size_t most, Deadline deadline) const {
  std::uint64_t size = 0;
  char header[sizeof size];
  receive(header, deadline);
  std::memcpy(&size, header, sizeof size);
  if (size > most) fail(EMSGSIZE);
  std::string text(size, '\0');
  receive(text, deadline);
  return text;
}

std::string packed(const std::vector<std::string>& texts) {
  ByteWriter all;
  for (const std::string& text : texts) all.text(text);
  return std::move(all).take();
}

std::vector<std::string> unpacked(const std::string& all) {
  std::vector<std::string> texts;
  const std::string nowhere;
  try {
    for (ByteReader in(all, nowhere); !in.at_end();) texts.push_back(in.text());
  } catch (const InputError&) {
    fail(EBADMSG);
  }
  return texts;
}

Socket listen_on(const std::string& address, std::uint16_t port) {
  const Addresses found = resolve(address, port, AI_PASSIVE);
  Socket socket = make_socket(*found);
  bind_to(socket, *found);
  if (::listen(socket.descriptor(), SOMAXCONN) != 0) fail(errno);
  return socket;
}

Socket accept_from(const Socket& listener) {
  Socket socket(::accept4(listener.descriptor(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (socket.is_open()) send_at_once(socket);
  return socket;
}

Socket connect_to(const std::string& host, std::uint16_t port, const std::string& from,
                  Deadline deadline) {
  for (;;) {
    try {
      const Addresses found = resolve(host, port, 0);
      return try_connect(*found, from, deadline);
    } catch (const std::system_error&) {
      if (Clock::now() + kRetry >= deadline) throw;
    }
    std::this_thread::sleep_for(kRetry);
  }
}

bool wait_readable(std::span<const int> descriptors, Deadline deadline) {
  std::vector<pollfd> wanted;
  for (const int descriptor : descriptors) wanted.push_back({descriptor, POLLIN, 0});
  return wait_for_any(wanted, deadline);
}

}  // namespace strato::admission
