#include "core/launch/profiling/op_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>

#include "core/base/error.h"
#include "core/base/quantity_text.h"

namespace strato {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kWarmUp = 2;              // allocations, code and the library's own caches
constexpr double kEnoughSeconds = 1.0;  // of timed steps, beyond the least number of repetitions
constexpr int kMostRepetitions = 400;

double nanos_since(Clock::time_point start) {
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

double quantile(const std::vector<double>& ascending, double share) {
  const double at = share * static_cast<double>(ascending.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, ascending.size() - 1);
  const double part = at - static_cast<double>(below);
  return ascending[below] * (1 - part) + ascending[above] * part;
}

// The ops of a graph by signature, and what each took in every timed step.
class SignatureTimes {
 public:
  explicit SignatureTimes(const Graph& graph) : row_of_(graph.op_count(), -1) {
    std::map<std::string, std::vector<std::size_t>> equal_ops;
    for (std::size_t i = 0; i < graph.op_count(); ++i)
      if (!graph.op(OpId(i)).view) equal_ops[op_signature(graph, OpId(i))].push_back(i);
    for (const auto& [signature, ops] : equal_ops) {
      for (const std::size_t op : ops) row_of_[op] = static_cast<int>(ops_.size());
      ops_.push_back({signature, follows_batch(graph, OpId(ops.back())), std::ssize(ops), {}});
    }
    steps_.resize(ops_.size());
  }

  // Equal ops of one step count with their mean, so that the step's time is kept.
  void add(const std::vector<Nanos>& times) {
    std::vector<double> sums(ops_.size(), 0);
    for (std::size_t i = 0; i < times.size(); ++i)
      if (row_of_[i] >= 0)
        sums[static_cast<std::size_t>(row_of_[i])] += static_cast<double>(times[i].value);
    for (std::size_t r = 0; r < sums.size(); ++r)
      steps_[r].push_back(sums[r] / static_cast<double>(ops_[r].ops));
  }

  std::vector<OpTime> finished(std::int64_t batch) && {
    if (steps_.empty() || steps_[0].empty()) return {};
    for (std::size_t r = 0; r < ops_.size(); ++r) {
      const Middle middle = middle_of(steps_[r]);
      OpMeasurement& measurement = ops_[r].measurement;
      measurement.samples = ops_[r].follows_batch ? batch : 1;
      measurement.time = std::max(Nanos(1), nanos_from(middle.median));
      measurement.spread = nanos_from(middle.spread);
      measurement.repetitions = static_cast<std::int64_t>(steps_[r].size());
    }
    return std::move(ops_);
  }

 private:
  std::vector<int> row_of_;  // per op; -1: a view
  std::vector<OpTime> ops_;
  std::vector<std::vector<double>> steps_;  // per row: a time for each step
};

int repetitions_for(double step_nanos, int least) {
  const double enough = std::ceil(kEnoughSeconds * 1e9 / std::max(step_nanos, 1.0));
  return std::max(least, static_cast<int>(std::min<double>(enough, kMostRepetitions)));
}

// Returns the memory that the op with the largest tensors holds at once: less than a step takes.
Bytes largest_op(const Graph& graph) {
  Bytes largest;
  for (std::size_t i = 0; i < graph.op_count(); ++i) {
    Bytes held;
    for (const auto* tensors : {&graph.op(OpId(i)).inputs, &graph.op(OpId(i)).outputs})
      for (const TensorId id : *tensors)
        if (id.valid()) held += graph.tensor(id).bytes();
    largest = std::max(largest, held);
  }
  return largest;
}

}  // namespace

void add_ops(Profile& profile, const ProfiledGraph& measured, const std::string& model,
             const std::string& gpu, bool largest_batch) {
  for (const OpTime& op : measured.ops)
    if (op.follows_batch || largest_batch)
      profile.ops.push_back({op.signature, gpu, {op.measurement}});
  if (!measured.ops.empty())
    profile.memory.push_back({model, gpu, measured.step.batch, measured.step.peak});
}

std::vector<std::int64_t> halves(std::int64_t batch) {
  std::vector<std::int64_t> result = {batch};
  while (result.size() < 4 && result.back() > 1) result.push_back(result.back() / 2);
  return result;
}

void check_memory(const Graph& graph, const EngineDevice& device) {
  const Bytes needed = largest_op(graph);
  if (needed <= device.memory) return;
  throw InputError("", fmt::format("batch {}", graph.batch()),
                   fmt::format("one op alone holds {}, and {} has {}", bytes_text(needed),
                               device.name, bytes_text(device.memory)),
                   "give smaller batches with --batches");
}

Middle middle_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return {quantile(values, 0.5), (quantile(values, 0.75) - quantile(values, 0.25)) / 2};
}

ProfiledGraph measure_ops(const Engine& engine, std::shared_ptr<const Graph> graph,
                          const OpTimesOptions& options, const std::stop_token& stop,
                          const std::function<void(double)>& progress) {
  const auto execution = engine.prepare(graph, options.engine);
  SignatureTimes table(*graph);
  std::vector<Nanos> times(graph->op_count());
  std::vector<double> whole, wall;
  int repetitions = options.repetitions;
  for (int round = -kWarmUp; round < repetitions; ++round) {
    progress(static_cast<double>(round + kWarmUp) / (repetitions + kWarmUp));
    if (!execution->run_step(times, stop)) break;
    if (round >= 0) table.add(times);
    const Clock::time_point start = Clock::now();
    const Nanos before = execution->now();
    if (!execution->run_step({}, stop)) break;
    const Nanos time = execution->now() - before;
    if (round == -1) repetitions = repetitions_for(nanos_since(start), options.repetitions);
    if (round < 0) continue;
    whole.push_back(static_cast<double>(time.value));
    wall.push_back(nanos_since(start));
  }
  ProfiledGraph measured;
  measured.step.batch = graph->batch();
  measured.step.peak = execution->peak_memory();
  measured.step.repetitions = static_cast<std::int64_t>(whole.size());
  if (!whole.empty()) {
    const Middle middle = middle_of(whole);
    measured.step.time = nanos_from(middle.median);
    measured.step.spread = nanos_from(middle.spread);
    measured.step.wall = nanos_from(middle_of(wall).median);
  }
  measured.ops = std::move(table).finished(graph->batch());
  for (const OpTime& op : measured.ops) measured.step.sum_of_ops += op.measurement.time * op.ops;
  return measured;
}

}  // namespace strato
