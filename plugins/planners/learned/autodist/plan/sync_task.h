// A task of AutoDist is what it decides about: the variables of a model and the replicas of it
// (AutoDist 2.2). The graph config is given: every op is replicated on the devices of `base`; the
// node configs are what builders (below) and searches fill in.
#pragma once

#include <limits>
#include <map>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/random.h"
#include "core/search/api/problem.h"
#include "core/strategy/value/strategy.h"

namespace strato::autodist {

struct Variable {
  OpId update;
  TensorId parameter, gradient;
  Shape shape;
  DataType type = DataType::F32;
  Bytes bytes;
  // The gradient is that of one embedding lookup along axis 0: most of its rows are zero.
  bool sparse = false;
  Bytes rows_bytes;  // of a sparse gradient: rows that are looked up in a step, with their numbers
  double ready = 0;  // part of the step's compute time after which the gradient is made
  std::optional<OpSplit> sharded;  // its update, every replica its part; nothing: it cannot be

  // Gathering rows moves clearly less than all-reducing the whole, which moves it twice.
  bool has_few_rows() const { return sparse && 2 * rows_bytes < 3 * bytes; }
  // Most parts along an axis; 1: it cannot be divided.
  std::int64_t most_parts(int axis) const;
  std::vector<int> axes() const;  // that can be divided
};

struct SyncTask {
  // `rows`: false: gradients of lookups count as dense. `sharded`: false: no variable can be.
  SyncTask(const Problem& problem, Strategy base, bool rows = true, bool sharded = true);

  const Problem problem;
  const Strategy base;            // data parallel; without node configs
  std::vector<DeviceId> devices;  // the replicas, ascending
  // By machine, ascending: its replicas.
  std::vector<std::vector<DeviceId>> machines;
  std::vector<std::size_t> machine_of;  // by device of the cluster: index into machines
  std::vector<Variable> variables;      // in the order in which gradients are made

  Bytes bytes() const;  // of all variables
};

// A variable's node config. `sharded`: replicas keep and update a part each; gradients are
// reduce-scattered, and values gathered before they are read (ZeRO; beyond the paper). Of a
// variable that can be, which then is in one part that is all-reduced, in no merge group.
struct NodeConfig : VariableSync {
  bool sharded = false;
  friend bool operator==(const NodeConfig&, const NodeConfig&) = default;
};

// May it travel in one message with parts of other variables?
inline bool may_merge(const NodeConfig& config, const SyncPart& part) {
  return !config.sharded && part.synchroniser == Synchroniser::AllReduce &&
         part.encoding == Encoding::None;
}

// One entry for each of the task's variables, in their order.
using SyncPlan = std::vector<NodeConfig>;

// All variables as they are, each all-reduced on its own.
SyncPlan plain_plan(const SyncTask& task);
Strategy strategy_of(const SyncTask& task, const SyncPlan& plan);

// `variable` in `parts` parts along `axis`, all like `part`.
NodeConfig in_parts(const Variable& variable, int axis, std::int64_t parts, const SyncPart& part);
// `variable` as a whole, which is like `part`.
NodeConfig in_one(const Variable& variable, const SyncPart& part = {}, bool sharded = false);
// Elements of part `index`: as equal as can be, larger ones first.
Bytes part_bytes(const Variable& variable, const VariableSync& sync, std::size_t index);

// All parts of a plan, in order.
template <class Plan>
auto parts_of(Plan& plan) {
  return plan | std::views::transform(&NodeConfig::parts) | std::views::join;
}

// Calls use(index of the variable, part, its bytes) for every part of a plan, in order.
template <class Plan, class Use>
void for_each_part(const SyncTask& task, Plan& plan, Use&& use) {
  for (std::size_t v = 0; v < plan.size(); ++v)
    for (std::size_t p = 0; p < plan[v].parts.size(); ++p)
      use(v, plan[v].parts[p], part_bytes(task.variables[v], plan[v], p));
}

// Above the merge groups of the plan.
std::int32_t next_group(const SyncPlan& plan);

// Parts that are all-reduced as one.
struct Message {
  Bytes bytes;
  std::int64_t parts = 0;
  double ready = 0;  // when the last of its gradients is made, as Variable::ready
};
std::map<std::int32_t, Message> messages_of(const SyncTask& task, const SyncPlan& plan);

// Bytes that each node and each device of it serves, so that what servers hold can be placed where
// loads are least (AutoDist 2.4, constraint 2; the improved TF-PS of 3.1). A node is a machine: its
// devices share its way to the others.
class NodeLoads {
 public:
  explicit NodeLoads(const SyncTask& task);
  // The device with the least load of the machine with the least load; the first of equals, or with
  // `random` any of them.
  DeviceId take(Bytes load, Random* random = nullptr);
  void add(DeviceId device, Bytes load);
  // Gives a part a server as take() does, and stations where it had some.
  void place(SyncPart& part, Bytes load, Random* random = nullptr);
  const std::vector<Bytes>& by_machine() const { return by_machine_; }

 private:
  const SyncTask& task_;
  std::vector<Bytes> by_machine_, by_device_;  // by_device_: by device of the cluster
};

// Loads as the plan has them.
NodeLoads loads_of(const SyncTask& task, const SyncPlan& plan);

// Gives every part that a server holds a server, large parts first; with `random` in an order that
// is so only roughly.
void place_balanced(const SyncTask& task, SyncPlan& plan, Random* random = nullptr);

// Transfer destinations: in every machine with several replicas but the server's own one of them,
// the same for all parts on this server.
std::vector<DeviceId> stations_for(const SyncTask& task, DeviceId server);

// ---- Hand-designed strategy builders (AutoDist 2.1, 3.1, 3.2): synchronisation as known systems
// do it, composed of node configs.

struct BuilderOptions {
  std::int64_t chunk = 64;               // allreduce: adjacent variables of one message
  Bytes bucket{std::int64_t{64} << 20};  // horovod, parallax: most bytes of one message
  Bytes large{std::int64_t{4} << 20};    // variables from here on are divided by those that divide
  std::uint64_t seed = 1;                // of those that draw
};

inline constexpr std::int64_t kAnyParts = std::numeric_limits<std::int64_t>::max();

std::vector<std::string_view> builder_names();  // ascending by effort, not by name

// Throws InputError for a name that is not there.
SyncPlan build(std::string_view name, const SyncTask& task, const BuilderOptions& options);

struct BuiltPlan {
  std::string name;  // "allreduce chunk=64"
  SyncPlan plan;
};
// Every builder, those with an option at several of its values: what a person would try.
std::vector<BuiltPlan> all_builds(const SyncTask& task, std::uint64_t seed);

// Adjacent all-reduced parts of one data type become messages of at most `limit` bytes and `most`
// parts; a part that is larger stands alone. Row-wise encoded ones stay on their own.
void merge_adjacent(const SyncTask& task, SyncPlan& plan, Bytes limit, std::int64_t most);

}  // namespace strato::autodist
