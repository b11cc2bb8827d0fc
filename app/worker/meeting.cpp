#include "app/worker/meeting.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "core/base/error.h"

namespace strato::worker {
namespace {

using namespace std::chrono_literals;

[[noreturn]] void fail(const std::string& address, const std::string& problem) {
  throw InputError(
      "", "", "cannot listen at " + (address.empty() ? "any address" : address) + ": " + problem,
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

std::string text_of(const sockaddr* address) {
  std::array<char, NI_MAXHOST> text{};
  const socklen_t size =
      address->sa_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  const int error =
      ::getnameinfo(address, size, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST);
  return error == 0 ? text.data() : "";
}

struct Network {
  std::string name, address;
  bool loopback = false;
};

// That are up: those of IPv4 first, link-local ones of IPv6 left out.
std::vector<Network> networks() {
  ifaddrs* found = nullptr;
  if (::getifaddrs(&found) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> list(found, ::freeifaddrs);
  std::vector<Network> result;
  for (const int family : {AF_INET, AF_INET6}) {
    for (const ifaddrs* each = found; each != nullptr; each = each->ifa_next) {
      if (each->ifa_addr == nullptr || each->ifa_addr->sa_family != family) continue;
      const std::string address = text_of(each->ifa_addr);
      const bool local = address.find('%') != std::string::npos;
      if ((each->ifa_flags & IFF_UP) != 0 && !local && !address.empty())
        result.push_back({each->ifa_name, address, (each->ifa_flags & IFF_LOOPBACK) != 0});
    }
  }
  return result;
}

bool is_loopback(const sockaddr* address) {
  if (address->sa_family == AF_INET)
    return ntohl(reinterpret_cast<const sockaddr_in*>(address)->sin_addr.s_addr) >> 24 == 127;
  return IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr);
}

// Of this machine's name; empty: it has none that others can use.
std::string address_of_name() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(name.data(), nullptr, &hints, &found) != 0) return "";
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> list(found, ::freeaddrinfo);
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    const bool known = each->ai_family == AF_INET || each->ai_family == AF_INET6;
    if (known && !is_loopback(each->ai_addr)) return text_of(each->ai_addr);
  }
  return "";
}

MeetingPlace open_place(const WorkerArguments& arguments) {
  const std::string own = arguments.interface.empty() ? own_address() : arguments.interface;
  MeetingPlace place{arguments.host.empty() ? own : arguments.host, arguments.port};
  if (place.port == 0) place.port = free_port(own);
  write_meeting(arguments.job, place);
  return place;
}

}  // namespace

std::string address_of_interface(const std::string& interface) {
  if (::if_nametoindex(interface.c_str()) == 0) return interface;
  for (const Network& network : networks()) {
    if (network.name == interface) return network.address;
  }
  fail(interface, "it is down or has no address");
}

std::string own_address() {
  if (std::string address = address_of_name(); !address.empty()) return address;
  for (const Network& network : networks()) {
    if (!network.loopback) return network.address;
  }
  return "127.0.0.1";
}

std::uint16_t free_port(const std::string& address) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(address.empty() ? nullptr : address.c_str(), "0", &hints, &found);
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
