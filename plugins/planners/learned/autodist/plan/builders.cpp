#include "plugins/planners/learned/autodist/plan/builders.h"

#include <algorithm>
#include <map>
#include <utility>

#include "core/base/error.h"
#include "plugins/planners/learned/autodist/plan/placing.h"

namespace strato::autodist {
namespace {

using Build = SyncPlan (*)(const SyncTask&, const BuilderOptions&);

SyncPart served() {
  SyncPart part;
  part.synchroniser = Synchroniser::Ps;
  return part;
}

SyncPlan all_reduced(const SyncTask& task, Bytes limit, std::int64_t most) {
  SyncPlan plan = plain_plan(task);
  merge_adjacent(task, plan, limit, most);
  return plan;
}

SyncPlan allreduce(const SyncTask& task, const BuilderOptions& options) {
  return all_reduced(task, Bytes::max(), options.chunk);
}
SyncPlan horovod(const SyncTask& task, const BuilderOptions& options) {
  return all_reduced(task, options.bucket, kAnyParts);
}
// tf.distribute packs all gradients into one message.
SyncPlan mirrored(const SyncTask& task, const BuilderOptions&) {
  return all_reduced(task, Bytes::max(), kAnyParts);
}

SyncPlan on_servers(const SyncTask& task) {
  SyncPlan plan;
  for (const Variable& variable : task.variables) plan.push_back(in_one(variable, served()));
  return plan;
}

SyncPlan one_server(const SyncTask& task, const BuilderOptions&) {
  SyncPlan plan = on_servers(task);
  for (NodeConfig& sync : plan) sync.parts[0].server = task.devices.front();
  return plan;
}

// TF-PS-LB: every variable, as they come, to the node with the least load.
SyncPlan least_loaded(const SyncTask& task, const BuilderOptions&) {
  SyncPlan plan = on_servers(task);
  NodeLoads loads(task);
  for (std::size_t v = 0; v < plan.size(); ++v)
    plan[v].parts[0].server = loads.take(task.variables[v].bytes);
  return plan;
}

// Large variables in `parts(variable)` parts along their first axis.
template <class Parts>
SyncPlan divided(const SyncTask& task, const BuilderOptions& options, const Parts& parts) {
  SyncPlan plan = on_servers(task);
  for (std::size_t v = 0; v < plan.size(); ++v) {
    const Variable& variable = task.variables[v];
    const std::vector<int> axes = variable.axes();
    if (variable.bytes < options.large || axes.empty()) continue;
    plan[v] = in_parts(variable, axes.front(), parts(variable), served());
  }
  place_balanced(task, plan);
  return plan;
}

SyncPlan divided_evenly(const SyncTask& task, const BuilderOptions& options) {
  return divided(task, options, [&](const Variable&) { return std::ssize(task.machines); });
}
SyncPlan divided_by_size(const SyncTask& task, const BuilderOptions& options) {
  return divided(task, options, [&](const Variable& variable) {
    const std::int64_t wanted =
        1 + (variable.bytes.value - 1) / std::max(options.large.value, std::int64_t{1});
    return std::min(wanted, 4 * std::ssize(task.devices));
  });
}
SyncPlan divided_randomly(const SyncTask& task, const BuilderOptions& options) {
  Random random(options.seed);
  return divided(task, options, [&](const Variable&) {
    return 1 + static_cast<std::int64_t>(random.below(task.devices.size()));
  });
}

void add_stations(const SyncTask& task, SyncPlan& plan) {
  for (NodeConfig& sync : plan)
    for (SyncPart& part : sync.parts)
      if (part.synchroniser == Synchroniser::Ps) part.stations = stations_for(task, part.server);
}

// The paper's "PS builder" (3.1): hierarchical on nodes with several GPUs, large variables divided
// into as many parts as there are nodes.
SyncPlan hierarchical(const SyncTask& task, const BuilderOptions& options) {
  SyncPlan plan = divided_evenly(task, options);
  add_stations(task, plan);
  return plan;
}

// Kim et al. 2018: sparse gradients through servers, dense ones by all-reduce.
SyncPlan parallax(const SyncTask& task, const BuilderOptions& options) {
  SyncPlan plan = hierarchical(task, options);
  for (std::size_t v = 0; v < plan.size(); ++v) {
    if (!task.variables[v].sparse) plan[v] = in_one(task.variables[v]);
    for (SyncPart& part : plan[v].parts)
      if (task.variables[v].sparse) part.encoding = Encoding::SparseRows;
  }
  place_balanced(task, plan);
  merge_adjacent(task, plan, options.bucket, kAnyParts);
  return plan;
}

// Sparse gradients gathered, dense ones reduced (Horovod's own way with them).
SyncPlan allgather(const SyncTask& task, const BuilderOptions& options) {
  SyncPlan plan = plain_plan(task);
  for (std::size_t v = 0; v < plan.size(); ++v)
    if (task.variables[v].sparse) plan[v].parts[0].encoding = Encoding::SparseRows;
  merge_adjacent(task, plan, options.bucket, kAnyParts);
  return plan;
}

SyncPlan random_axis(const SyncTask& task, const BuilderOptions& options) {
  Random random(options.seed);
  SyncPlan plan = plain_plan(task);
  for (std::size_t v = 0; v < plan.size(); ++v) {
    const Variable& variable = task.variables[v];
    const std::vector<int> axes = variable.axes();
    if (variable.bytes < options.large || axes.empty()) continue;
    const int axis = axes[random.below(axes.size())];
    plan[v] = in_parts(variable, axis, std::ssize(task.machines), SyncPart());
  }
  merge_adjacent(task, plan, options.bucket, kAnyParts);
  return plan;
}

struct Builder {
  BuilderInfo info;
  Build build;
};

const std::vector<Builder>& builders() {
  static const std::vector<Builder> all = {
      {{"allreduce", "every `chunk` adjacent variables all-reduced as one message"}, allreduce},
      {{"horovod", "all-reduced in buckets of at most `bucket` MB"}, horovod},
      {{"mirrored", "all variables in one message (MirroredStrategy)"}, mirrored},
      {{"ps", "one server holds everything"}, one_server},
      {{"ps-lb", "each variable on the node with the least load (TF-PS-LB)"}, least_loaded},
      {{"ps-partitioned", "large variables in as many parts as there are nodes"}, divided_evenly},
      {{"ps-partitioned-size", "large variables in parts of `large` MB"}, divided_by_size},
      {{"ps-partitioned-random", "large variables in random numbers of parts"}, divided_randomly},
      {{"ps-hierarchical", "partitioned, and a station in each machine (PS builder)"},
       hierarchical},
      {{"parallax", "sparse gradients through servers, dense ones all-reduced"}, parallax},
      {{"allgather", "sparse gradients gathered as rows, dense ones all-reduced"}, allgather},
      {{"random-axis", "large variables divided along a random axis, then all-reduced"},
       random_axis},
  };
  return all;
}

}  // namespace

void merge_adjacent(const SyncTask& task, SyncPlan& plan, Bytes limit, std::int64_t most) {
  struct Message {
    std::int32_t group;
    Bytes bytes;
    std::int64_t parts;
  };
  std::map<DataType, Message> open;
  std::int32_t next = 0;
  for (std::size_t v = 0; v < plan.size(); ++v)
    for (std::size_t p = 0; p < plan[v].parts.size(); ++p) {
      SyncPart& part = plan[v].parts[p];
      if (!may_merge(plan[v], part)) continue;
      const Bytes bytes = part_bytes(task.variables[v], plan[v], p);
      const auto [at, fresh] = open.try_emplace(task.variables[v].type, Message{next, {}, 0});
      Message& message = at->second;
      const bool full =
          message.parts >= most || (message.parts > 0 && message.bytes > limit - bytes);
      if (full) message = {next, {}, 0};
      if (fresh || full) ++next;
      part.merge_group = message.group;
      message.bytes += bytes;
      ++message.parts;
    }
}

const std::vector<BuilderInfo>& builder_infos() {
  static const std::vector<BuilderInfo> infos = [] {
    std::vector<BuilderInfo> result;
    for (const Builder& builder : builders()) result.push_back(builder.info);
    return result;
  }();
  return infos;
}

SyncPlan build(std::string_view name, const SyncTask& task, const BuilderOptions& options) {
  std::string known;
  for (const Builder& builder : builders()) {
    if (builder.info.name == name) return builder.build(task, options);
    known += (known.empty() ? "" : ", ") + std::string(builder.info.name);
  }
  throw InputError("", "--set builder=" + std::string(name), "there is no such builder",
                   "take one of " + known);
}

std::vector<BuiltPlan> all_builds(const SyncTask& task, std::uint64_t seed) {
  constexpr std::int64_t kMegabyte = 1 << 20;
  std::vector<BuiltPlan> all;
  BuilderOptions options;
  options.seed = seed;
  const auto add = [&](std::string_view name, const std::string& with) {
    SyncPlan plan = build(name, task, options);
    const bool known = std::ranges::any_of(all, [&](const BuiltPlan& b) { return b.plan == plan; });
    if (!known) all.push_back({std::string(name) + with, std::move(plan)});
  };
  for (const std::int64_t chunk : {64, 1, 16, 128, 512}) {
    options.chunk = chunk;
    add("allreduce", " chunk=" + std::to_string(chunk));
  }
  for (const std::int64_t size : {64, 1, 4, 16, 32, 128}) {
    options.bucket = Bytes(size * kMegabyte);
    add("horovod", " bucket=" + std::to_string(size));
  }
  options.bucket = BuilderOptions().bucket;
  for (const std::string_view name : {"mirrored", "ps", "ps-lb"}) add(name, "");
  for (const std::int64_t size : {4, 1, 16}) {
    options.large = Bytes(size * kMegabyte);
    for (const std::string_view name : {"ps-partitioned", "ps-hierarchical", "ps-partitioned-size",
                                        "ps-partitioned-random", "random-axis"})
      add(name, " large=" + std::to_string(size));
  }
  for (const std::int64_t size : {64, 4}) {
    options.bucket = Bytes(size * kMegabyte);
    for (const std::string_view name : {"parallax", "allgather"})
      add(name, " bucket=" + std::to_string(size));
  }
  return all;
}

}  // namespace strato::autodist
