#include "plugins/transports/meeting/failure.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <string>
#include <vector>

#include "core/base/error.h"

namespace strato::admission {
namespace {

constexpr auto kNewsTime = std::chrono::milliseconds(500);

}  // namespace

void throw_failure(const Meeting& meeting, const Watch& watch, std::span<const int> others) {
  const std::string place = fmt::format("rank {} of {}", meeting.rank, meeting.ranks);
  if (const auto lost = watch.lost(kNewsTime)) {
    throw InputError("", place, fmt::format("rank {} {}", lost->rank, lost->problem),
                     fmt::format("see the log of rank {}", lost->rank));
  }
  std::vector<int> peers;
  std::copy_if(others.begin(), others.end(), std::back_inserter(peers),
               [&](int rank) { return rank != meeting.rank; });
  throw InputError("", place,
                   fmt::format("rank {} does not answer within {} s", fmt::join(peers, ", "),
                               std::chrono::duration<double>(meeting.patience()).count()),
                   "see the logs of those ranks");
}

}  // namespace strato::admission
