// The steps of a white-box planner, one by one, for a person to replay: how nodes were ordered and
// fused, which devices were tried for each, and why one was taken.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/units.h"
#include "core/cluster/value/cluster.h"
#include "core/graph/value/graph.h"
#include "core/schedule/dag/dag.h"

namespace strato {

struct PlanningSteps {
  std::string algorithm;                 // for people: "DPOS (FastT 5.1, Algorithm 1)"
  std::vector<std::vector<OpId>> nodes;  // the ops of every node that is scheduled
  std::vector<std::string> names;        // of the nodes
  std::vector<DagLink> edges;

  struct Ranking {
    std::string name;              // "upward rank", "t-level + b-level"
    std::vector<Nanos> value;      // by node
    std::vector<NodeIndex> order;  // as the planner takes them
    std::vector<NodeIndex> critical_path;
  };
  Ranking ranking;

  // Fusion by dynamic programming over a sequence of ops (Celeritas Equations 4 to 6); empty: none.
  struct Fusion {
    std::vector<OpId> sequence;
    std::vector<Nanos> cost;  // S(j), j = 0 .. sequence.size(): the cheapest way to cut before j
    std::vector<std::int32_t> before;  // P(j): the breakpoint before j in that way
    std::vector<std::int32_t> breaks;  // the chosen ones, ascending, with 0 and sequence.size()
    double ratio_before = 0, ratio_after = 0;  // communication to computing
  };
  Fusion fusion;

  enum class Why : std::uint8_t {
    EarliestFinish,
    EarliestStart,
    CriticalPath,
    WithPrevious,
    WorthMoving,
    FavouriteParent,
    Colocated,
    NextInOrder,
    BestEffort,
  };
  struct Candidate {
    DeviceId device;
    Nanos start, finish;
    bool fits = true;
  };
  struct Step {
    NodeIndex node = 0;
    DeviceId device;
    Nanos start, finish;
    Why why = Why::EarliestFinish;
    std::vector<Candidate> candidates;  // ascending by device; empty: no choice
    std::string remark;                 // for people: "waiting costs 3 ms, sending back 1.2 ms"
  };
  std::vector<Step> steps;  // in the order in which nodes were placed

  // Splits that were tried after that (FastT Algorithm 2).
  struct Trial {
    OpId op;
    int axis = 0;
    int parts = 0;
    Nanos makespan;
    bool taken = false;
  };
  std::vector<Trial> trials;
};

inline std::string sentence(PlanningSteps::Why why) {
  constexpr std::array kSentences = {
      "finishes first here",
      "starts first here",
      "is on the critical path, which has this device",
      "stays with the node before it",
      "waits less here than sending its result back costs",
      "follows its favourite parent",
      "has to be with a node that shares its parameters",
      "is next in the order, and this device has room",
      "fits nowhere; this device has the most memory left",
  };
  return kSentences[static_cast<std::size_t>(why)];
}

}  // namespace strato
