#include "plugins/planners/learned/autodist/search/sampler.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace strato::autodist {
namespace {

bool by_chance(double chance, Random& random) { return random.uniform() < chance; }

template <class T, std::size_t N>
T one_of(const std::array<T, N>& values, Random& random) {
  return values[random.below(N)];
}

std::int64_t random_parts(const SyncTask& task, Random& random) {
  const std::size_t known[] = {2, task.machines.size(), task.devices.size()};
  const std::size_t kind = random.below(4);
  const std::size_t parts =
      kind < 3 ? std::max<std::size_t>(2, known[kind]) : 2 + random.below(task.devices.size());
  return static_cast<std::int64_t>(parts);
}

SyncPart random_part(const Variable& variable, double servers, double stations, Random& random) {
  SyncPart part;
  if (variable.sparse && by_chance(0.5, random)) part.encoding = Encoding::SparseRows;
  if (!by_chance(servers, random)) return part;
  part.synchroniser = Synchroniser::Ps;
  // Where they are comes later; that there are any is said by one.
  if (by_chance(stations, random)) part.stations.emplace_back(0);
  return part;
}

struct Reduced {
  SyncPart* part;
  DataType type;
  Bytes bytes;
  double weight = 0;
};
std::vector<Reduced> reduced_parts(const SyncTask& task, SyncPlan& plan) {
  std::vector<Reduced> parts;
  for_each_part(task, plan, [&](std::size_t v, SyncPart& part, Bytes bytes) {
    if (may_merge(plan[v], part)) parts.push_back({&part, task.variables[v].type, bytes});
  });
  return parts;
}

void shard_some(const SyncTask& task, SyncPlan& plan, const SamplerOptions& options,
                Random& random) {
  const auto [begin, end] = random_run(plan.size(), plan.size(), random);
  const Bytes least = random_size(options, random);
  for (std::size_t v = begin; v < end; ++v)
    if (may_shard(task.variables[v], options) && task.variables[v].bytes >= least &&
        !task.variables[v].has_few_rows())
      plan[v] = in_one(task.variables[v], {}, true);
}

// Between 1 and `most`, small and large ones alike.
std::int64_t random_count(std::int64_t most, Random& random) {
  most = std::max<std::int64_t>(most, 1);
  const double logarithm = std::log(static_cast<double>(most) + 1);
  return std::clamp<std::int64_t>(std::llround(std::exp(random.uniform() * logarithm)), 1, most);
}

}  // namespace

bool may_divide(const Variable& variable, const SamplerOptions& options) {
  return variable.bytes >= options.small && !variable.axes().empty();
}

bool must_divide(const Variable& variable, const SamplerOptions& options) {
  return variable.bytes >= options.large && !variable.axes().empty();
}

bool may_shard(const Variable& variable, const SamplerOptions& options) {
  return variable.bytes >= options.small && variable.sharded;
}

Bytes random_size(const SamplerOptions& options, Random& random) {
  const double most = static_cast<double>(std::max(options.large, options.small).value) + 1;
  const double least = static_cast<double>(options.small.value) + 1;
  return Bytes(std::llround(least * std::exp(random.uniform() * std::log(most / least))) - 1);
}

VariableRun random_run(std::size_t variables, std::size_t most, Random& random) {
  const std::size_t begin = random.below(variables);
  return {begin, std::min(variables, begin + 1 + random.below(most))};
}

NodeConfig random_sync(const SyncTask& task, const Variable& variable,
                       const SamplerOptions& options, double servers, double divided,
                       double stations, Random& random) {
  const SyncPart part = random_part(variable, servers, stations, random);
  const bool divide = must_divide(variable, options) ||
                      (may_divide(variable, options) && by_chance(divided, random));
  if (!divide) return in_one(variable, part);
  const std::vector<int> axes = variable.axes();
  // Rows go by their numbers: such a gradient is divided along axis 0 only.
  const bool first = part.encoding == Encoding::SparseRows || by_chance(0.5, random);
  return in_parts(variable, first ? axes.front() : axes[random.below(axes.size())],
                  random_parts(task, random), part);
}

void merge_randomly(const SyncTask& task, SyncPlan& plan, std::int64_t count, Random& random) {
  std::vector<Reduced> parts = reduced_parts(task, plan);
  for (Reduced& part : parts)
    part.weight = random.uniform(0.5, 1.5) * static_cast<double>(part.bytes.value);
  std::ranges::stable_sort(parts, std::greater(), &Reduced::weight);
  struct Group {
    Bytes bytes;
    std::optional<DataType> type = {};  // nothing: it is empty
  };
  std::vector<Group> groups(static_cast<std::size_t>(count));
  for (const Reduced& part : parts) {
    Group* best = nullptr;
    for (Group& group : groups)
      if (group.type.value_or(part.type) == part.type && (!best || group.bytes < best->bytes))
        best = &group;
    if (best == nullptr) best = &groups.emplace_back();
    best->type = part.type;
    best->bytes += part.bytes;
    part.part->merge_group = static_cast<std::int32_t>(best - groups.data());
  }
}

SyncPlan sample_plan(const SyncTask& task, const SamplerOptions& options, Random& random) {
  constexpr std::array<double, 5> kServers = {0, 0.1, 0.5, 0.9, 1};
  constexpr std::array<double, 3> kDivided = {0, 0.3, 0.8};
  constexpr std::array<double, 3> kStations = {0, 0.5, 1};
  const double servers = one_of(kServers, random), divided = one_of(kDivided, random);
  const double stations = one_of(kStations, random);
  SyncPlan plan;
  for (const Variable& variable : task.variables)
    plan.push_back(random_sync(task, variable, options, servers, divided, stations, random));
  if (by_chance(options.sharded, random)) shard_some(task, plan, options, random);
  place_balanced(task, plan, &random);
  const std::vector<Reduced> parts = reduced_parts(task, plan);
  Bytes sum;
  for (const Reduced& part : parts) sum += part.bytes;
  const std::int64_t count = random_count(std::ssize(parts), random);
  if (by_chance(options.adjacent, random))
    merge_adjacent(task, plan, Bytes(sum.value / count + 1), kAnyParts);
  else
    merge_randomly(task, plan, count, random);
  return plan;
}

}  // namespace strato::autodist
