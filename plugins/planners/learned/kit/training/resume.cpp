#include "plugins/planners/learned/kit/training/resume.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "core/base/digest.h"
#include "core/base/error.h"

namespace strato::learned {
namespace {

// The store takes no more than 8 MiB at once.
constexpr std::size_t kPart = std::size_t{1} << 20;

struct Standing {
  std::int64_t step = 0;
  double elapsed_seconds = 0;
  std::uint64_t digest = 0, size = 0;  // of the network's bytes
};

Standing standing_of(const SharedState& state) {
  return {state.step, state.elapsed_seconds, Hasher().text(state.network).finish().low,
          state.network.size()};
}

std::vector<Standing> standings(Peers& peers, const Standing& own) {
  std::vector<Standing> all;
  const std::string bytes(reinterpret_cast<const char*>(&own), sizeof own);
  for (const std::string& row : peers.exchange_bytes(bytes)) {
    Standing& one = all.emplace_back();
    CHECK(row.size() == sizeof one, "all processes are of one version");
    std::memcpy(&one, row.data(), sizeof one);
  }
  return all;
}

// Returns what the leader has; the others give nothing.
std::string receive(Peers& peers, std::size_t leader, std::size_t size, const std::string& own) {
  std::string bytes;
  while (bytes.size() < size)
    bytes += peers.exchange_bytes(own.empty() ? own : own.substr(bytes.size(), kPart))[leader];
  return bytes;
}

}  // namespace

std::filesystem::path checkpoint_of(const std::filesystem::path& file, int rank) {
  if (rank == 0 || file.empty()) return file;
  return file.string() + ".rank" + std::to_string(rank);
}

std::optional<SharedState> agree_on_start(Peers& peers, const SharedState& own) {
  if (peers.processes() == 1) return std::nullopt;
  const std::vector<Standing> all = standings(peers, standing_of(own));
  const auto leading = std::ranges::max_element(all, {}, &Standing::step);  // the first of equals
  const bool same = std::ranges::all_of(all, [&](const Standing& one) {
    return one.step == leading->step && one.digest == leading->digest;
  });
  if (same) return std::nullopt;
  const auto leader = static_cast<std::size_t>(leading - all.begin());
  const bool leads = leader == static_cast<std::size_t>(peers.rank());
  SharedState state{leading->step, leading->elapsed_seconds, {}};
  state.network = receive(peers, leader, leading->size, leads ? own.network : "");
  return leads ? std::nullopt : std::optional(std::move(state));
}

}  // namespace strato::learned
