#include "app/worker/meeting.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <thread>

#include "core/base/error.h"

namespace strato::worker {
namespace {

using namespace std::chrono_literals;

[[noreturn]] void fail(const std::string& address, const std::string& problem) {
  throw InputError("", "", "cannot listen at " + (address.empty() ? "any address" : address) +
                               ": " + problem,
                   "give an address of this machine as the interface");
}

struct Listener {
  int handle = -1;
  ~Listener() {
    if (handle >= 0) ::close(handle);
  }
};

std::uint16_t port_of(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET6)
    return ntohs(reinterpret_cast<const sockaddr_in6&>(address).sin6_port);
  return ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

std::string own_host(const WorkerArguments& arguments) {
  if (!arguments.interface.empty()) return arguments.interface;
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

MeetingPlace open_place(const WorkerArguments& arguments) {
  MeetingPlace place{arguments.host.empty() ? own_host(arguments) : arguments.host,
                     arguments.port};
  if (place.port == 0) place.port = free_port(arguments.interface);
  write_meeting(arguments.job, place);
  return place;
}

}  // namespace

std::uint16_t free_port(const std::string& address) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  const int error =
      ::getaddrinfo(address.empty() ? nullptr : address.c_str(), "0", &hints, &found);
  if (error != 0) fail(address, ::gai_strerror(error));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> list(found, ::freeaddrinfo);
  const Listener listener{
      ::socket(list->ai_family, list->ai_socktype | SOCK_CLOEXEC, list->ai_protocol)};
  sockaddr_storage taken{};
  socklen_t size = sizeof taken;
  if (listener.handle < 0 || ::bind(listener.handle, list->ai_addr, list->ai_addrlen) != 0 ||
      ::getsockname(listener.handle, reinterpret_cast<sockaddr*>(&taken), &size) != 0) {
    fail(address, std::strerror(errno));
  }
  return port_of(taken);
}

MeetingPlace meeting_place(const WorkerArguments& arguments, std::chrono::milliseconds timeout) {
  if (arguments.port != 0 && !arguments.host.empty()) return {arguments.host, arguments.port};
  if (arguments.rank == 0) return open_place(arguments);
  const auto until = std::chrono::steady_clock::now() + timeout;
  while (std::chrono::steady_clock::now() < until) {
    if (const auto place = find_meeting(arguments.job)) return *place;
    std::this_thread::sleep_for(5ms);
  }
  throw InputError(arguments.job.string(), "", "rank 0 has not told where it listens",
                   "see the log of rank 0; the job's folder must be on a path that all nodes see");
}

}  // namespace strato::worker
