#include <fmt/format.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <optional>

#include "core/base/error.h"
#include "plugins/transports/nccl/connections.h"

namespace strato::nccl_transport {
namespace {

constexpr int kMostBlocks = 16;

std::string numeric(const sockaddr& address) {
  const bool six = address.sa_family == AF_INET6;
  if (!six && address.sa_family != AF_INET) return {};
  char text[NI_MAXHOST] = "";
  const socklen_t size = six ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  const int error = ::getnameinfo(&address, size, text, sizeof text, nullptr, 0, NI_NUMERICHOST);
  return error == 0 ? text : "";
}

}  // namespace

int round_count(int ranks) { return ranks % 2 == 0 ? ranks - 1 : ranks; }

// All but the last of an even number sit in a circle and meet across it; who would meet itself
// meets the last one, which is nobody when the number of ranks is odd.
int partner_in(int round, int rank, int ranks) {
  const int seats = round_count(ranks);
  const int last = seats;
  const auto across = [&](int seat) { return ((round - seat) % seats + seats) % seats; };
  int partner = last;
  if (rank == last) {
    for (int seat = 0; seat < seats; ++seat) {
      if (across(seat) == seat) partner = seat;
    }
  } else if (across(rank) != rank) {
    partner = across(rank);
  }
  return partner < ranks ? partner : -1;
}

int blocks_of_channel(int ranks, int multiprocessors) {
  return std::clamp(multiprocessors / 2 / std::max(2 * (ranks - 1), 1), 1, kMostBlocks);
}

std::string interface_with(const std::string& address) {
  if (address.empty()) return {};
  ifaddrs* found = nullptr;
  if (::getifaddrs(&found) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> list(found, ::freeifaddrs);
  for (const ifaddrs* each = list.get(); each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr != nullptr && numeric(*each->ifa_addr) == address) return each->ifa_name;
  }
  return {};
}

ncclDataType_t sum_type_of(DataType type) {
  constexpr std::optional<ncclDataType_t> kNone;
  static constexpr std::optional<ncclDataType_t> kTypes[] = {
      ncclFloat64, ncclFloat32, ncclFloat16, ncclBfloat16, ncclInt64,
      ncclInt32,   kNone,       ncclInt8,    ncclUint8,    kNone};  // in DataType's order
  if (const auto known = kTypes[static_cast<std::size_t>(type)]) return *known;
  throw InputError("", "a reduction",
                   fmt::format("NCCL does not add values of type {}", name_of(type)),
                   "take a strategy that does not replicate what makes them");
}

}  // namespace strato::nccl_transport
