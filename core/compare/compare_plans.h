// Two plans side by side: what is decided otherwise, and where the difference of their step times
// comes from. From the first plan to the second: a negative change is a gain. They may be of other
// clusters, groups or models. Values; safe from any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/graph/value/graph.h"
#include "core/search/api/evaluator.h"
#include "core/search/evaluate/outcome.h"
#include "core/sim/explain/path_pieces.h"

namespace strato {

// Ops of one graph and those of another one: a model that was changed, exported again or planned
// with another batch. Ops of one name are the same op, whatever became of it; of those that are
// left, ops with the same fingerprint (type, phase, attributes, shapes) are the same, in the
// graph's order, where both graphs have as many of them.
struct OpMatch {
  bool same_graph = false;          // by digest: every op is itself
  IdVector<OpId, OpId> to_of_from;  // invalid: the other graph has none
  IdVector<OpId, OpId> from_of_to;
  std::size_t same = 0;                  // name and fingerprint
  std::size_t changed = 0;               // name alone: other shapes or attributes
  std::size_t renamed = 0;               // fingerprint alone
  std::vector<OpId> only_from, only_to;  // ascending
};
OpMatch match_ops(const Graph& from, const Graph& to);

// "412 ops are the same, 3 changed, 2 renamed, 5 only in the first, 1 only in the second"
std::string text_of(const OpMatch& match);

// One plan; all that it names must outlive the call.
struct PlanToCompare {
  std::string label;         // "data parallel", "mcts #3"
  const Problem& problem;    // in the groups of the strategy
  const Strategy& strategy;  // complete
  const Outcome& outcome;    // both plans simulated alike
};

template <class T>
struct Pair {
  T from{}, to{};
  T& of(bool second) { return second ? to : from; }
  friend bool operator==(const Pair&, const Pair&) = default;
};

struct PlanFigures {
  std::string label, model, cluster;
  Nanos step_time;
  std::int64_t batch = 1;
  bool fits = true;     // into the memory of every device
  std::string why_not;  // "1080ti:0 needs 12.3 GB of 11.0 GB, and 2 more"; empty when it fits
  double samples_per_second() const;
};

// A cause of time on the critical paths.
struct Cause {
  std::optional<Reason> reason;  // nothing: several, folded
  std::string text;              // "waiting for 1080ti", "AllReduce", "4 other causes"
  Nanos from, to;                // of the critical path
  Nanos change() const { return to - from; }
};
// A group of the second plan with the same ops in the first one.
struct GroupChange {
  GroupId group;  // of the second plan; invalid: ops that only the first one has
  std::string name;
  std::size_t ops = 0;
  std::size_t unmatched = 0;   // of them, those that the first plan's model does not have
  Pair<std::string> decision;  // in words; "-": there are no such ops
  bool differs = false;        // in what is decided for at least one op
  // The time on the critical path in which an op of the group runs; over all groups these add up to
  // the step times.
  Pair<Nanos> on_path;
  Pair<Nanos> busy;  // of its compute tasks, summed over devices
  Nanos change() const { return on_path.to - on_path.from; }
};

// A parameter that is trained.
struct VariableChange {
  OpId update;  // of the second plan's graph; invalid: only the first one has it
  std::string name;
  Bytes bytes;                     // of the parameter
  Pair<std::string> synchronised;  // in words; "-": there is no such parameter
  bool differs = false;
  Pair<Nanos> communication;  // durations of the tasks that move it or its gradient; of what is
                              // merged into one message, the first one has them all
};

// A device by name; nothing where a cluster does not have it.
struct DeviceChange {
  std::string name;
  Pair<DeviceId> device;
  Pair<std::optional<DeviceUse>> use;
  Pair<Nanos> idle;  // of the compute stream
};

// One kind of traffic is named by what is sent, and where: "gradients" "between machines".
struct TrafficChange {
  std::string what, where;
  bool inside = false;  // `where`: machines, not between them
  Pair<Bytes> bytes;    // of messages, each once
  Pair<std::int64_t> messages;
  Pair<Nanos> time;  // durations, summed
};
struct LinksChange {        // of one kind of links
  std::string kind;         // "in machines", "between machines"
  Pair<double> busiest;     // busy fraction of the busiest one
  Pair<std::string> which;  // its name; empty: none is used
};

// In US dollars, where the cluster's file says what it costs. `used`: of machines that have work.
struct PlanPrice {
  double per_hour = 0, used_per_hour = 0;
  double per_step = 0, per_million_samples = 0;  // of all machines
};

struct PlanComparison {
  Pair<PlanFigures> plans;
  bool same_cluster = false;
  OpMatch match;
  std::vector<Cause> causes;              // largest change first; add up to change()
  std::vector<GroupChange> groups;        // largest change first; all groups
  std::vector<VariableChange> variables;  // largest first; all variables
  std::vector<std::string> others;        // "gradient buckets: none -> up to 25 MB"
  std::vector<DeviceChange> devices;      // in the order of the second cluster, then those gone
  std::vector<TrafficChange> traffic;     // most bytes first
  std::vector<LinksChange> links;
  Pair<std::optional<PlanPrice>> price;
  std::string sentence;  // "44 ms faster (24 %): 31 ms less waiting for 1080ti, ..."

  Nanos change() const { return plans.to.step_time - plans.from.step_time; }
  std::size_t differing_groups() const;
  std::size_t differing_variables() const;
  bool same_decisions() const;  // for every op and variable
};
PlanComparison compare_plans(const PlanToCompare& from, const PlanToCompare& to);
std::string sentence_of(const PlanComparison& comparison);  // what makes the difference

// The first ones, and one for all others; at most `most` (2 or more) in all. Sums stay. Causes that
// change nothing are dropped.
std::vector<Cause> folded(const std::vector<Cause>& causes, std::size_t most);

// "+1.2 ms", "-340 us", "0 ns"
std::string signed_time_text(Nanos time);
// "$0.00312": three significant digits, whatever the size.
std::string price_text(double dollars);

// One side of a comparison by itself.
PlanFigures plan_figures(const PlanToCompare& plan);

}  // namespace strato
