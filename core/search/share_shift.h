// Improves a complete strategy by moving samples between the devices of replicated groups, which no
// choice among placements says: from the devices that compute most to those that have time. Sets of
// devices and modes stay as they are, and every device keeps at least one sample.
//
// Samples move in all groups at once that have the same numbers of them on the same devices: layers
// hand on what they make where it is, so that a single group with other numbers costs more transfers
// than it gains.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <stop_token>
#include <tuple>
#include <vector>

#include "core/search/evaluator.h"
#include "core/search/problem.h"

namespace strato {

// Deterministic. `problem` must outlive it; one thread at a time.
class ShareShift {
 public:
  // `fixed`: by group id, those that keep their decision; empty: none.
  explicit ShareShift(const Problem& problem, std::vector<bool> fixed = {});

  // Up to `count` strategies near the complete `base`, in the problem's groups, that were not
  // proposed before; most promising first, by what `base`'s timeline says of every device.
  std::vector<Strategy> propose(const Strategy& base, std::size_t count);

 private:
  using Samples = std::vector<std::int64_t>;  // by place in a decision's devices
  struct Alike {
    std::vector<GroupId> groups;
    std::vector<DeviceId> devices;
    Samples samples;
  };
  struct Proposal {
    std::size_t alike;
    Samples samples;
    double cost;
  };
  void look_at(const Strategy& base);
  std::vector<Alike> alike(const Strategy& base) const;
  double work(const Alike& groups, std::size_t place, std::int64_t samples);
  void add_moves(const Alike& groups, std::vector<Samples>& found) const;
  void add_balanced(const Alike& groups, std::vector<Samples>& found);
  double cost(const Alike& groups, const Samples& samples);
  std::vector<Proposal> proposals(const std::vector<Alike>& alike);

  const Problem& problem_;
  const std::vector<bool> fixed_;
  IdVector<DeviceId, double> load_;  // seconds of computing in a step
  std::vector<bool> duplicated_;     // by op id
  // Seconds by first group, GPU type and samples, of the base that was looked at.
  std::map<std::tuple<GroupId, GpuTypeId, std::int64_t>, double> work_;
  std::set<Digest> tried_;
};

struct ShiftedShares {
  Strategy strategy;
  Score score;
  std::int64_t evaluations = 0;  // at most what was asked for
  int moves = 0;                 // improvements taken; 0: the strategy is what it was
};
// Takes what `evaluator` finds better, in rounds of `batch` proposals and at most `evaluations` of
// them (a round's look at the timeline of its base counts, too); never worse than `strategy`, which
// has to be complete, with its score. A strategy with groups of its own, or one that does not fit in
// memory, stays as it is.
ShiftedShares shift_shares(const Problem& problem, Evaluator& evaluator, Strategy strategy,
                           const Score& score, std::vector<bool> fixed, std::int64_t evaluations,
                           int batch, const std::stop_token& stop = {});

}  // namespace strato
