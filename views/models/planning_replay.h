// What a white-box planner did, position by position, for views that replay it: fusion, then
// ranking, then placement, then splits, as far as the planner tells them. With fusion the nodes
// that are ranked are its clusters, so it comes first. Every position can be asked for at any time,
// in any order: all that changes is kept as the step at which it does. Immutable; safe from any
// thread.
#pragma once

#include <QString>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/schedule/list/steps.h"

namespace strato {

enum class PlanningPhase : std::uint8_t { Start, Fuse, Rank, Place, Split };

class PlanningReplay {
 public:
  // Throws InputError for steps that contradict themselves: they come from plugins.
  explicit PlanningReplay(std::shared_ptr<const PlanningSteps> steps);

  const PlanningSteps& steps() const { return *steps_; }

  // Positions 0 (nothing is known) to size(), of which each adds one thing: S and P of one op of
  // the sequence, the ranks of all nodes, one placed node, one trial.
  std::size_t size() const { return begin_.back(); }
  // Position p > begin is number p - begin, from 1, of its phase.
  std::size_t begin(PlanningPhase phase) const;
  std::size_t end(PlanningPhase phase) const;
  bool has(PlanningPhase phase) const { return begin(phase) < end(phase); }
  PlanningPhase phase(std::size_t position) const;

  // --- placement
  std::size_t placed(std::size_t position) const;               // nodes
  const PlanningSteps::Step* step(std::size_t position) const;  // the one just done, or null
  std::optional<NodeIndex> node(std::size_t position) const;    // that was placed by it
  std::size_t step_of(NodeIndex node) const { return step_of_[at(node)]; }  // kNever: never placed
  std::size_t position_of_step(std::size_t step) const {
    return begin(PlanningPhase::Place) + step + 1;
  }
  Nanos makespan(std::size_t position) const;     // of the nodes placed so far
  Nanos last_time() const { return last_time_; }  // of all nodes, placed and tried

  // What is placed on a device in the end, ascending by start; at a position those with
  // step < placed(position).
  struct Slot {
    Nanos start, finish;
    std::int32_t step;
  };
  const std::vector<Slot>& placed_on(DeviceId device) const;
  std::size_t device_count() const { return slots_.size(); }  // up to the last that was tried

  // Nodes of which all predecessors are placed, in the order of the ranking: the first `most`. Just
  // before the step at `position` was done, so that its node is among them.
  struct Ready {
    std::vector<NodeIndex> first;
    std::size_t count = 0;
  };
  Ready ready(std::size_t position, std::size_t most = 20) const;
  bool on_critical_path(NodeIndex node) const { return critical_[at(node)]; }
  std::size_t place_in_order(NodeIndex node) const { return place_[at(node)]; }  // from 0
  const std::vector<NodeIndex>& order() const { return order_; }                 // of all nodes

  // Of step(position): what a candidate came to beside the device that was taken.
  QString note(const PlanningSteps::Step& step, const PlanningSteps::Candidate& candidate) const;

  // --- fusion
  // The place j in the sequence up to which S and P are known: 0 .. sequence.size().
  std::size_t fused(std::size_t position) const;
  // The breakpoints of the cheapest way to cut before place j, ascending, with 0 and j; at the end
  // those that were chosen.
  std::vector<std::int32_t> breaks(std::size_t place) const;

  // --- splits
  std::size_t tried(std::size_t position) const;  // trials
  // The ops that the position is about: a node's, the op of a trial or of the sequence.
  std::vector<OpId> ops(std::size_t position) const;

  static constexpr std::size_t kNever = static_cast<std::size_t>(-1);

 private:
  static std::size_t at(NodeIndex node) { return static_cast<std::size_t>(node); }
  void check() const;
  void number_nodes();
  void index_steps();
  void find_ready();

  std::shared_ptr<const PlanningSteps> steps_;
  std::vector<std::size_t> begin_;  // of Fuse, Rank, Place, Split, and the end
  std::vector<std::size_t> step_of_, ready_from_, place_;  // by node
  std::vector<NodeIndex> order_;                           // all nodes, also without a ranking
  std::vector<bool> critical_;
  std::vector<std::vector<Slot>> slots_;
  std::vector<Nanos> makespan_;  // after so many steps
  Nanos last_time_;
};

// Steps of a graph with so many ops on so many devices stay below some 100 MB: a candidate is
// recorded for each pair, and for planners that replicate, for each device twice.
bool steps_fit_memory(std::size_t ops, std::size_t devices);

}  // namespace strato
