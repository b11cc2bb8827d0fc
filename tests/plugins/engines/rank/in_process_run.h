// All ranks of a plan in one process: their instructions in a random order that the plan allows,
// bytes copied where a transport would move them, as late as it may.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "core/base/random.h"
#include "core/plugin/api/rank_engine.h"

namespace strato {

// Is element `index` of a tensor of this shape in the slice?
inline bool holds_element(const Part& slice, const Shape& shape, std::size_t index) {
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    const auto extent = static_cast<std::size_t>(shape[axis]);
    const auto at = static_cast<std::int32_t>(index % extent);
    index /= extent;
    for (const AxisRange& range : slice.cuts())
      if (range.axis == static_cast<int>(axis) && (at < range.begin || at >= range.end))
        return false;
  }
  return true;
}

class InProcessRun {
 public:
  InProcessRun(std::shared_ptr<const RankPrograms> programs, const RankEngine& engine,
               const EngineOptions& options);

  // Throws std::logic_error when the ranks wait for each other.
  void run_step(std::int64_t step, Random& random);
  RankExecution& rank(std::size_t i) { return *ranks_[i].execution; }
  const RankPrograms& programs() const { return *programs_; }

 private:
  struct Rank {
    const RankProgram* program;
    std::unique_ptr<RankExecution> execution;
    std::array<std::vector<std::uint32_t>, kStreams> streams;  // instructions
    std::array<std::size_t, kStreams> next{};
    std::vector<bool> started, ended;
  };
  struct Place {
    std::size_t rank, instruction;
  };

  bool may_start(const Rank& rank, std::size_t stream) const;
  void start(std::size_t rank, std::size_t stream);
  void end(const Place& place);
  bool all_there(const Place& place, std::vector<Place>& members) const;
  void finish(const std::vector<Place>& members);
  std::string moved(const Place& place, ValueId id);
  void transfer(const Place& from, const Place& to);
  void all_reduce(const std::vector<Place>& members);
  void all_gather(const std::vector<Place>& members);
  void reduce_scatter(const std::vector<Place>& members);
  void all_to_all(const std::vector<Place>& members);
  const Instruction& at(const Place& place) const;
  std::span<std::byte> read_memory(const Place& place, std::size_t i = 0);
  std::span<std::byte> write_memory(const Place& place, std::size_t i = 0);
  bool act(Random& random);

  std::shared_ptr<const RankPrograms> programs_;
  std::vector<Rank> ranks_;
  std::vector<Place> under_way_;
};

}  // namespace strato
