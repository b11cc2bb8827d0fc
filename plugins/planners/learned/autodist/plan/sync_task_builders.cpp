#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "plugins/planners/learned/autodist/plan/sync_task.h"

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

// Large variables become what `config(variable, its axes)` returns.
template <class Config>
void divide_large(const SyncTask& task, const BuilderOptions& options, SyncPlan& plan,
                  const Config& config) {
  for (std::size_t v = 0; v < plan.size(); ++v) {
    const std::vector<int> axes = task.variables[v].axes();
    if (task.variables[v].bytes >= options.large && !axes.empty())
      plan[v] = config(task.variables[v], axes);
  }
}

// Large variables in `parts(variable)` parts along their first axis.
template <class Parts>
SyncPlan divided(const SyncTask& task, const BuilderOptions& options, const Parts& parts) {
  SyncPlan plan = on_servers(task);
  divide_large(task, options, plan, [&](const Variable& variable, const std::vector<int>& axes) {
    return in_parts(variable, axes.front(), parts(variable), served());
  });
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

// The paper's "PS builder" (3.1): hierarchical on nodes with several GPUs, large variables divided
// into as many parts as there are nodes.
SyncPlan hierarchical(const SyncTask& task, const BuilderOptions& options) {
  SyncPlan plan = divided_evenly(task, options);
  for_each_part(task, plan, [&](std::size_t, SyncPart& part, Bytes) {
    if (part.synchroniser == Synchroniser::Ps) part.stations = stations_for(task, part.server);
  });
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
  divide_large(task, options, plan, [&](const Variable& variable, const std::vector<int>& axes) {
    return in_parts(variable, axes[random.below(axes.size())], std::ssize(task.machines), {});
  });
  merge_adjacent(task, plan, options.bucket, kAnyParts);
  return plan;
}

constexpr std::pair<std::string_view, Build> kBuilders[] = {
    {"allreduce", allreduce},            // every `chunk` adjacent variables as one message
    {"horovod", horovod},                // in buckets of at most `bucket` MB
    {"mirrored", mirrored},              // all variables in one message (MirroredStrategy)
    {"ps", one_server},                  // one server holds everything
    {"ps-lb", least_loaded},             // each variable on the node with the least load (TF-PS-LB)
    {"ps-partitioned", divided_evenly},  // large variables in as many parts as there are nodes
    {"ps-partitioned-size", divided_by_size},     // large variables in parts of `large` MB
    {"ps-partitioned-random", divided_randomly},  // large variables in random numbers of parts
    {"ps-hierarchical", hierarchical},            // partitioned, and a station in each machine
    {"parallax", parallax},        // sparse gradients through servers, dense ones all-reduced
    {"allgather", allgather},      // sparse gradients gathered as rows
    {"random-axis", random_axis},  // large variables divided along a random axis
};

}  // namespace

void merge_adjacent(const SyncTask& task, SyncPlan& plan, Bytes limit, std::int64_t most) {
  struct Open {
    std::int32_t group = -1;
    Bytes bytes;
    std::int64_t parts = 0;
  };
  std::map<DataType, Open> messages;
  std::int32_t next = 0;
  for_each_part(task, plan, [&](std::size_t v, SyncPart& part, Bytes bytes) {
    if (!may_merge(plan[v], part)) return;
    Open& message = messages[task.variables[v].type];
    const bool full = message.parts >= most || (message.parts > 0 && message.bytes > limit - bytes);
    if (message.group < 0 || full) message = {next++, {}, 0};
    part.merge_group = message.group;
    message.bytes += bytes;
    ++message.parts;
  });
}

std::vector<std::string_view> builder_names() {
  const auto names = kBuilders | std::views::keys;
  return {names.begin(), names.end()};
}

SyncPlan build(std::string_view name, const SyncTask& task, const BuilderOptions& options) {
  for (const auto& [known, make] : kBuilders)
    if (known == name) return make(task, options);
  throw InputError("", fmt::format("--set builder={}", name), "there is no such builder",
                   fmt::format("take one of {}", fmt::join(builder_names(), ", ")));
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
    add("allreduce", fmt::format(" chunk={}", chunk));
  }
  for (const std::int64_t size : {64, 1, 4, 16, 32, 128}) {
    options.bucket = Bytes(size * kMegabyte);
    add("horovod", fmt::format(" bucket={}", size));
  }
  options.bucket = BuilderOptions().bucket;
  for (const std::string_view name : {"mirrored", "ps", "ps-lb"}) add(name, "");
  for (const std::int64_t size : {4, 1, 16}) {
    options.large = Bytes(size * kMegabyte);
    for (const std::string_view name : {"ps-partitioned", "ps-hierarchical", "ps-partitioned-size",
                                        "ps-partitioned-random", "random-axis"})
      add(name, fmt::format(" large={}", size));
  }
  for (const std::int64_t size : {64, 4}) {
    options.bucket = Bytes(size * kMegabyte);
    for (const std::string_view name : {"parallax", "allgather"})
      add(name, fmt::format(" bucket={}", size));
  }
  return all;
}

}  // namespace strato::autodist
