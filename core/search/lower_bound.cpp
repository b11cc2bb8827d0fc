// A bound that no strategy of the problem can beat; the larger of two.
//
// What both need: let t(o, k, n) be the cost model's time of op o on GPU type k for n of the B
// samples, and rate(o, k) = min over n of t(o, k, n) / n (for an op that does not split: n = B
// only). Rounding up to whole nanoseconds only lengthens tasks.
//
// Work. Every strategy computes every op on all samples at least once: replicas cover the batch
// with their shards, duplicates and model parallelism with the whole batch. An op that does not
// split runs in full on at least one device. Let w(d, o) be the time that device d's compute stream
// spends on op o. If d computes n(d, o) samples of a splittable op, w(d, o) >= n(d, o) rate(o, type
// of d), and the sum over d of n(d, o) is at least B. A compute stream runs one task at a time, so
// the step time T >= sum over o of w(d, o) for every d. Take any weights y(d) >= 0 with sum 1 (LP
// duality: these are dual variables of the relaxed assignment):
//   T >= sum over d of y(d) sum over o of w(d, o)
//     >= sum over o of sum over d of y(d) n(d, o) rate(o, d)
//     >= sum over o of B min over d of y(d) rate(o, d).
// Devices of one type have equal rates, so that equal weights within a type are best. We start with
// weights in proportion to speed and climb; every weight on the way is valid, so the best of them
// is a bound.
//
// Path. If op b reads what op a computes, every task of b waits for some task of a that computes at
// least one sample. So T is at least the longest path where each op takes its shortest conceivable
// time, min over n and k of t(o, k, n), and communication is free.
//
// The minimum over n is taken over every n up to 256; for larger batches over powers of two and B,
// which is exact for models whose time per sample never grows with n and whose time never shrinks
// with n (fixed cost plus linear or roofline cost, as the analytic model has).
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/search/baselines.h"
#include "core/search/evaluator.h"

namespace strato {
namespace {

struct OpCosts {
  std::vector<std::vector<double>> whole;  // [type][op] B * rate, in ns
  std::vector<double> shortest;            // [op] shortest conceivable time, in ns
};

std::vector<std::int64_t> sample_counts(std::int64_t batch) {
  std::vector<std::int64_t> counts;
  for (std::int64_t n = 1; n < batch; n = batch <= 256 ? n + 1 : 2 * n) counts.push_back(n);
  counts.push_back(batch);
  return counts;
}

OpCosts op_costs(const Problem& problem) {
  const Graph& graph = *problem.graph;
  const std::int64_t batch = graph.batch();
  const std::vector<std::int64_t> all = sample_counts(batch), one = {batch};
  const std::size_t types = problem.cluster->gpu_types().size();
  OpCosts costs;
  costs.whole.assign(types, std::vector<double>(graph.op_count()));
  costs.shortest.assign(graph.op_count(), std::numeric_limits<double>::max());
  for (std::size_t type = 0; type < types; ++type)
    for (std::size_t op = 0; op < graph.op_count(); ++op) {
      const bool splits = graph.op(OpId(op)).split != Splittability::None;
      double rate = std::numeric_limits<double>::max();
      for (std::int64_t n : splits ? all : one) {
        const auto time =
            static_cast<double>(problem.cost->compute(OpId(op), GpuTypeId(type), n).value);
        rate = std::min(rate, time / static_cast<double>(n));
        costs.shortest[op] = std::min(costs.shortest[op], time);
      }
      costs.whole[type][op] = rate * static_cast<double>(batch);
    }
  return costs;
}

// The dual objective for weights by type (any positive scale).
double dual(const OpCosts& costs, const std::vector<double>& counts, const std::vector<double>& y) {
  double total = 0, sum = 0;
  for (std::size_t type = 0; type < y.size(); ++type) total += counts[type] * y[type];
  for (std::size_t op = 0; op < costs.shortest.size(); ++op) {
    double least = std::numeric_limits<double>::max();
    for (std::size_t type = 0; type < y.size(); ++type)
      least = std::min(least, y[type] * costs.whole[type][op]);
    sum += least;
  }
  return sum / total;
}

double work_bound(const Problem& problem, const OpCosts& costs) {
  const std::size_t types = costs.whole.size();
  std::vector<double> counts(types, 0), y(types);
  for (const Device& device : problem.cluster->devices()) counts[device.type.index()] += 1;
  for (std::size_t type = 0; type < types; ++type) {
    double time = 0;
    for (double op : costs.whole[type]) time += op;
    y[type] = 1 / std::max(time, 1.0);
  }
  double best = dual(costs, counts, y);
  for (double factor = 1.3; factor > 1.005; factor = std::sqrt(factor))
    for (std::size_t type = 0; types > 1 && type < types; ++type)
      for (double change : {factor, 1 / factor}) {
        std::vector<double> tried = y;
        tried[type] *= change;
        if (const double value = dual(costs, counts, tried); value > best) {
          best = value;
          y = std::move(tried);
        }
      }
  return best;
}

double path_bound(const Graph& graph, const OpCosts& costs) {
  std::vector<double> end(graph.op_count(), 0);
  double longest = 0;
  for (std::size_t op = 0; op < end.size(); ++op) {
    double start = 0;
    for (TensorId input : graph.op(OpId(op)).inputs)
      if (input.valid() && graph.tensor(input).producer.valid())
        start = std::max(start, end[graph.tensor(input).producer.index()]);
    end[op] = start + costs.shortest[op];
    longest = std::max(longest, end[op]);
  }
  return longest;
}

}  // namespace

Nanos lower_bound(const Problem& problem) {
  const OpCosts costs = op_costs(problem);
  const double bound = std::max(work_bound(problem, costs), path_bound(*problem.graph, costs));
  // Sums of doubles: step back by more than their rounding could have added.
  return Nanos(static_cast<std::int64_t>(std::floor(bound * (1 - 1e-9))));
}

}  // namespace strato
