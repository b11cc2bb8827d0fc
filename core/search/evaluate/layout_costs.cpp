#include "core/search/evaluate/layout_costs.h"

#include <algorithm>
#include <limits>
#include <span>
#include <unordered_map>

#include "core/base/digest.h"
#include "core/graph/axes/letter_splits.h"

namespace strato {
namespace {

// Every count while that is cheap; else steps of a quarter.
std::vector<std::int64_t> sample_counts(const Problem& problem) {
  const std::int64_t batch = problem.graph->batch();
  const auto asked =
      static_cast<std::int64_t>(problem.graph->op_count() * problem.cluster->gpu_types().size()) *
      batch;
  const bool all = batch <= 256 && asked <= 2'000'000;
  std::vector<std::int64_t> counts;
  for (std::int64_t n = 1; n < batch; n += all ? 1 : std::max<std::int64_t>(1, n / 4))
    counts.push_back(n);
  counts.push_back(batch);
  return counts;
}

// Lowering makes no task of these, or may make none.
bool is_free(const Op& op) {
  return op.view || (op.phase != Phase::Update && op.work.flops == 0 &&
                     op.work.batch_bytes.value == 0 && op.work.fixed_bytes.value == 0);
}

// Whether parts of it that have the same samples can be computed on their own. An update's are
// those of its variable.
bool is_divisible(const Graph& graph, OpId op) {
  return graph.op(op).phase == Phase::Update || !split_axes(graph, op).empty() ||
         !letter_splits(graph, op).empty();
}

double time_of(const Problem& problem, OpId op, GpuTypeId type, std::int64_t samples) {
  return static_cast<double>(
      std::max<std::int64_t>(1, problem.cost->compute(op, type, samples).value));
}

// The least times per sample between the points. Analytic ones never grow with the samples; those
// of measurements may, so every count is asked for, or, where that is too many, all that is known
// is that times never fall.
void add_least_rates(const Problem& problem, OpId op, GpuTypeId type,
                     const std::vector<std::int64_t>& counts, const std::vector<double>& time,
                     std::vector<double>& rates) {
  constexpr std::int64_t kMostAsked = 256;
  const bool every = counts.back() == static_cast<std::int64_t>(counts.size());
  const bool measured = !every && problem.cost->explain_compute(op, type, counts.back()).source !=
                                      CostSource::Analytic;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const auto n = static_cast<double>(counts[i]);
    rates.push_back(time[i] / n);
    if (!measured || i == 0) continue;
    if (counts[i] - counts[i - 1] > kMostAsked)
      rates.back() = std::min(rates.back(), time[i - 1] / n);
    else
      for (std::int64_t m = counts[i - 1] + 1; m < counts[i]; ++m)
        rates.back() =
            std::min(rates.back(), time_of(problem, op, type, m) / static_cast<double>(m));
  }
}

}  // namespace

LayoutCosts::LayoutCosts(const Problem& problem, BoundOf strategies)
    : strategies_(strategies),
      counts_(sample_counts(problem)),
      batch_(static_cast<double>(problem.graph->batch())) {
  const std::size_t types = problem.cluster->gpu_types().size();
  devices_.assign(types, 0);
  for (const Device& device : problem.cluster->devices()) devices_[device.type.index()] += 1;
  for (std::size_t type = 0; type < types; ++type)
    floor_.push_back(std::max(
        1.0, static_cast<double>(problem.cost->local_move(GpuTypeId(type), Bytes(1)).value)));
  using Table = std::vector<std::vector<double>>;
  std::unordered_map<Digest, std::size_t> known;
  Table time(types), rate(types);  // of an op: memory that is used again
  for (std::size_t i = 0; i < problem.graph->op_count(); ++i) {
    const Op& op = problem.graph->op(OpId(i));
    const bool splits = op.split != Splittability::None && op.phase != Phase::Update;
    const bool divides =
        strategies == BoundOf::All && !is_free(op) && is_divisible(*problem.graph, OpId(i));
    for (std::size_t type = 0; type < types; ++type) {
      time[type].clear();
      rate[type].clear();
      for (const std::int64_t n : counts_)
        if (splits || n == counts_.back())
          time[type].push_back(is_free(op) ? 0.0 : time_of(problem, OpId(i), GpuTypeId(type), n));
      if (splits && !is_free(op))
        add_least_rates(problem, OpId(i), GpuTypeId(type), counts_, time[type], rate[type]);
    }
    Hasher hasher;
    hasher.number(splits).number(divides);
    for (const Table* table : {&time, &rate})
      for (const std::vector<double>& of_type : *table)
        hasher.numbers(std::span<const double>(of_type));
    const auto [at, fresh] = known.try_emplace(hasher.finish(), classes_.size());
    if (fresh) classes_.push_back({splits, divides, time, rate, 0});
    class_of_.push_back(at->second);
  }
  for (OpClass& op : classes_) {
    op.shortest = std::numeric_limits<double>::max();
    for (std::size_t type = 0; type < types; ++type)
      for (std::size_t i = 0; i < op.time[type].size(); ++i)
        op.shortest =
            std::min(op.shortest, op.divides ? least_part(op, type, i) : op.time[type][i]);
  }
}

// multiplier * B + sum over devices of min(0, min over n of cost of a task of n samples -
// multiplier * n).
LayoutCosts::Dual LayoutCosts::dual(const OpClass& op, double path,
                                    const std::vector<double>& weights, double multiplier) const {
  Dual dual{multiplier * batch_, batch_};
  for (std::size_t type = 0; type < devices_.size(); ++type) {
    const double weight = weights[type], scale = path / batch_;
    const std::vector<double>& time = op.time[type];
    double least = 0, samples = 0;
    const auto consider = [&](double value, double n) {
      if (value < least) least = value, samples = n;
    };
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      const auto n = static_cast<double>(counts_[i]);
      consider((scale * n + weight) * time[i] - multiplier * n, n);
      if (i == 0 || counts_[i] == counts_[i - 1] + 1) continue;
      if (op.rate[type].empty()) continue;  // free
      const double rate = op.rate[type][i], before = static_cast<double>(counts_[i - 1]);
      const double lowest = scale > 0 ? (multiplier - weight * rate) / (2 * scale * rate) : n;
      const double m = std::clamp(lowest, before, n);
      consider((scale * m + weight) * rate * m - multiplier * m, m);
    }
    dual.value += devices_[type] * least;
    dual.slope -= devices_[type] * samples;
  }
  return dual;
}

// The dual is concave in the multiplier and every value of it is a bound: close in on its top by
// the crossing of the two tangents around it.
double LayoutCosts::least_split(const OpClass& op, double path,
                                const std::vector<double>& weights) const {
  double low = std::numeric_limits<double>::max();  // where no task pays: the value is low * B
  for (std::size_t type = 0; type < devices_.size(); ++type)
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      const auto n = static_cast<double>(counts_[i]);
      low = std::min(low, (path * n / batch_ + weights[type]) * op.time[type][i] / n);
    }
  if (low <= 0) return 0;
  Dual left = dual(op, path, weights, low);
  if (path <= 0 || left.slope <= 0) return left.value;
  double high = 2 * low;
  Dual right = dual(op, path, weights, high);
  double best = std::max(left.value, right.value);
  for (int i = 0; i < 60 && right.slope > 0; ++i) {
    low = high, left = right;
    high *= 2;
    right = dual(op, path, weights, high);
    best = std::max(best, right.value);
  }
  for (int i = 0; i < 12 && left.slope > 0 && right.slope < 0; ++i) {
    const double crossing = (left.value - right.value + right.slope * high - left.slope * low) /
                            (right.slope - left.slope);
    if (!(crossing > low && crossing < high)) break;
    const Dual middle = dual(op, path, weights, crossing);
    best = std::max(best, middle.value);
    const double ceiling = left.value + left.slope * (crossing - low);
    if (ceiling - best <= 1e-4 * best) break;
    if (middle.slope > 0) {
      low = crossing, left = middle;
    } else {
      high = crossing, right = middle;
    }
  }
  return best;
}

// Any number of tasks, each of a type and of so many samples.
double LayoutCosts::least_alone(const OpClass& op, double path,
                                const std::vector<double>& weights) const {
  double least = std::numeric_limits<double>::max();
  for (std::size_t type = 0; type < devices_.size(); ++type) {
    const std::vector<double>& time = op.time[type];
    for (std::size_t i = 0; i < time.size(); ++i) {
      const auto n = static_cast<double>(counts_[counts_.size() - time.size() + i]);
      least = std::min(least, (path + weights[type] * batch_ / n) * time[i]);
      if (op.rate[type].empty() || i == 0) continue;
      least = std::min(least, path * time[i - 1] + weights[type] * batch_ * op.rate[type][i]);
    }
  }
  return least;
}

// Any number of tasks, of parts of so many samples: of several types, so that the shortest may be
// of another one than that on which the work costs least.
double LayoutCosts::least_together(const OpClass& op, double path,
                                   const std::vector<double>& weights) const {
  double least = std::numeric_limits<double>::max();
  const std::size_t points = op.time.front().size();
  double part_before = 0;  // of one point less
  for (std::size_t i = 0; i < points; ++i) {
    const auto n = static_cast<double>(counts_[counts_.size() - points + i]);
    double part = std::numeric_limits<double>::max(), work = part, work_between = part;
    for (std::size_t type = 0; type < devices_.size(); ++type) {
      part = std::min(part, least_part(op, type, i));
      work = std::min(work, weights[type] * op.time[type][i] * batch_ / n);
      if (!op.rate[type].empty())
        work_between = std::min(work_between, weights[type] * op.rate[type][i] * batch_);
    }
    least = std::min(least, path * part + work);
    if (i > 0) least = std::min(least, path * part_before + work_between);
    part_before = part;
  }
  return least;
}

double LayoutCosts::least(std::size_t index, double path,
                          const std::vector<double>& weights) const {
  const OpClass& op = classes_[index];
  if (op.divides) return least_together(op, path, weights);
  return op.splits && strategies_ == BoundOf::WholeOps ? least_split(op, path, weights)
                                                       : least_alone(op, path, weights);
}

}  // namespace strato
