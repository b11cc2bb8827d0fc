#include "plugins/planners/baselines/data_parallel.h"

#include <fmt/format.h>

#include "core/base/quantity_text.h"
#include "core/search/evaluate/baselines.h"

namespace strato {
namespace {

constexpr double kMegabyte = 1 << 20;  // HOROVOD_FUSION_THRESHOLD counts these

std::string megabytes(Bytes bucket) {
  std::string text = fmt::format("{:.6f}", static_cast<double>(bucket.value) / kMegabyte);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text + " MB";
}

// The bytes of parameters that are kept in parts, and of all.
struct ParameterBytes {
  Bytes parts, all;
};

Strategy sharded(const Problem& problem, Bytes smallest, ParameterBytes& bytes) {
  const Graph& graph = *problem.graph;
  Strategy strategy = data_parallel(problem);
  const std::vector<DeviceShare> replicas = replicas_of(graph, *strategy.groups.front());
  for (std::size_t i = 0; i < graph.op_count(); ++i) {
    const OpId op(i);
    if (graph.op(op).phase != Phase::Update || graph.op(op).inputs.empty()) continue;
    const Bytes parameter = graph.tensor(graph.op(op).inputs.front()).bytes();
    bytes.all += parameter;
    if (parameter < smallest) continue;
    const std::optional<OpSplit> split = sharded_update(graph, op, replicas);
    if (!split) continue;
    strategy.splits.push_back(*split);
    bytes.parts += parameter;
  }
  return strategy;
}

}  // namespace

OptionTable HorovodSettings::option_table() {
  return {{"bucket",
           bucket,
           OptionUnit::MB,
           {0, 1e6},
           "largest fusion bucket in MB (2^20 bytes); 0: gradients one by one"},
          {"tune", tune, "try buckets of 0, 1, 4, 16, 64 and 128 MB and take the fastest"}};
}

PlanResult horovod(const PlanRequest& request, const HorovodSettings& settings) {
  std::vector<Strategy> strategies{data_parallel(request.problem)};
  strategies.front().bucket = settings.bucket;
  if (settings.tune)
    for (const double size : {0, 1, 4, 16, 64, 128}) {
      strategies.push_back(strategies.front());
      strategies.back().bucket = Bytes(static_cast<std::int64_t>(size * kMegabyte));
    }
  PlanResult result = best_of(request, std::move(strategies));
  result.facts.push_back({"fusion bucket", megabytes(result.strategy.bucket)});
  return result;
}

OptionTable ShardedDpSettings::option_table() {
  return {{"smallest",
           smallest,
           OptionUnit::KB,
           {0, 1e9},
           "parameters below this many KB (2^10 bytes) stay whole on every device"},
          {"bucket",
           bucket,
           OptionUnit::MB,
           {0, 1e9},
           "largest fusion bucket, in MB (2^20 bytes), of gradients of whole parameters; 0: one "
           "by one"}};
}

PlanResult sharded_dp(const PlanRequest& request, const ShardedDpSettings& settings) {
  ParameterBytes bytes;
  Strategy strategy = sharded(request.problem, settings.smallest, bytes);
  strategy.bucket = settings.bucket;
  PlanResult result = best_of(request, {std::move(strategy)});
  result.facts.push_back(
      {"parameters in parts", fmt::format("{}: {} of {}", result.strategy.splits.size(),
                                          bytes_text(bytes.parts), bytes_text(bytes.all))});
  return result;
}

}  // namespace strato
