// Two bounds, made in one way: of every strategy, and of those that divide the batch alone
// (BoundOf). Both hold on exclusive and on fair links, since communication is taken to be free.
//
// Let t(o, k, n) be the cost model's time of op o on GPU type k for n of the B samples, c(k) the
// number of devices of type k, and T the step time. Times never fall as n grows. A task of o has n
// samples and a share f of the op's elements for each of them (f = 1, but for columns of a mesh,
// parts of split ops and of variables); with L(k) the time of the smallest kernel it takes
//   d >= max(f t(o, k, n), min(t(o, k, n), L(k)))             (ExchangeTasks::share_of).
// What holds of every lowered program (the property tests check it): the tasks of an op make up all
// its elements of all samples, sum of f n >= B; and before a task with the samples S come, for each
// sample in S, some task of each op that its op follows from which has the sample. Of a strategy
// that divides the batch alone also: an op is computed by one task a device at most, and f = 1.
// Views and ops without work make no task and count nothing.
//
// Work. A compute stream runs one task at a time: T >= busy time of each device, so for any weights
// y(k) >= 0 with sum over k of c(k) y(k) = 1
//   T >= sum over tasks of y(type of its device) * time of the task.                          (1)
//
// Path. For a sample s let e(o, s) be the first end of a task of o that has s, and d(o, s) the
// shortest time of one that has s. If b reads what a makes, a task of b with s starts at e(a, s) or
// later. So e(b, s) >= e(a, s) + d(b, s). Take the mean over the samples: along any chain of ops
//   T >= sum over the chain of mean over s of d(o, s).                                        (2)
// Of an op that is not divided but in samples a task of n samples counts n / B times: many of them
// make the mean small, one of B samples makes it t(o, k, B). Where a tensor does not depend on the
// batch, its reader may have waited for a task with other samples: there only the shortest
// conceivable time is known, for everything before it. An op that is never split along the batch
// waits for all samples, and so for their mean. An update waits for its gradient, unless its
// variable is stale: of all strategies it is known to wait for nothing.
//
// Together. For 0 <= p <= 1, T >= p (2) + (1 - p) (1). Both sums depend on the strategy through the
// layouts of the ops alone, op by op: so the sum over the ops of
//   min over layouts of o of  p [o on the chain] mean + (1 - p) sum over tasks of y time      (3)
// is a bound for any p, y and chain. Of all strategies nothing is known of how many tasks an op has
// (micro-batches): then the least that any of them costs for its part f n / B of the op is a bound.
// - Of an op that is divided in samples alone it is the least over k and n of
//     p t(o, k, n) + (1 - p) y(k) t(o, k, n) B / n.
// - Of an op whose elements can be divided, too, all tasks with one sample have the same n, but may
//   be of several types: the least over n of
//     p min over k of min(t(o, k, n), L(k)) + (1 - p) min over k of y(k) t(o, k, n) B / n.
//   So one op on P equal devices has max(t / P, min(t, L)) where more samples take less time each.
// Of strategies that divide the batch alone a layout is at most c(k) shards of each type k with
// n(j) samples, sum n(j) = B (several whole copies cost no less than one). By Lagrange, for any
// multiplier m,
//   (3) >= m B + sum over k of c(k) min(0, min over n of (p n / B + (1 - p) y(k)) t(o, k, n) - m
//   n).
// With fixed cost f and rate r on P equal devices (2) alone gives f + r B / P for each op of the
// chain: the cost of the best even split, launches included, which neither the work nor the path
// says alone.
//
// We take the weights that are best for (1) by climbing, the chain that is longest by (2), and the
// best p by ternary search: the bound is concave in p, and every p on the way is valid.
//
// The minimum over n is over every n of batches up to 256 (unless there are very many ops); else
// over steps of a quarter, and between them over the least time per sample there. The analytic
// model's never grows with n (fixed cost plus linear or roofline cost); that of measured ops may,
// and is asked for (see layout_costs.cpp).
#include "core/search/evaluate/lower_bound.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/search/evaluate/layout_costs.h"

namespace strato {
namespace {

// Counts how often each class of ops occurs, on the chain and elsewhere.
struct Chain {
  std::vector<double> on, all;  // by class
  double before = 0;            // the chain starts no sooner
};

// Finds for each op when its tasks can end at the earliest, any of them and in the mean over the
// samples.
class Paths {
 public:
  Paths(const Problem& problem, const LayoutCosts& costs, BoundOf strategies)
      : graph_(*problem.graph), costs_(costs), strategies_(strategies) {
    const std::vector<double> nothing(costs.devices().size(), 0.0);
    for (std::size_t i = 0; i < costs.class_count(); ++i)
      mean_time_.push_back(costs.least(i, 1, nothing));
    ends_.resize(graph_.op_count());
    for (std::size_t op = 0; op < ends_.size(); ++op) visit(OpId(op));
  }

  double longest() const {
    double end = 0;
    for (const End& each : ends_) end = std::max(end, each.mean);
    return end;
  }

  Chain chain() const {
    Chain chain;
    chain.on.assign(costs_.class_count(), 0);
    chain.all.assign(costs_.class_count(), 0);
    OpId at;
    for (std::size_t i = 0; i < ends_.size(); ++i) {
      ++chain.all[costs_.class_of(OpId(i))];
      if (!at.valid() || ends_[OpId(i)].mean > ends_[at].mean) at = OpId(i);
    }
    while (at.valid()) {
      const End& end = ends_[at];
      if (end.from_any) {
        chain.before = end.any;
        break;
      }
      ++chain.on[costs_.class_of(at)];
      chain.before = end.start;
      at = end.before;
    }
    return chain;
  }

 private:
  struct End {
    double any = 0;   // of any of its tasks
    double mean = 0;  // over the samples; at least `any`
    // Says how `mean` came about: from `any`, or from `start` and the op's own mean time after
    // `before`.
    bool from_any = true;
    double start = 0;
    OpId before;
  };

  void visit(OpId op) {
    const OpClass& costs = costs_.op_class(costs_.class_of(op));
    double any = 0;
    End end;
    const bool may_be_stale = strategies_ == BoundOf::All && graph_.op(op).phase == Phase::Update;
    for (const TensorId input : graph_.op(op).inputs) {
      if (may_be_stale) break;
      if (!input.valid() || !graph_.tensor(input).producer.valid()) continue;
      const OpId producer = graph_.tensor(input).producer;
      const End& before = ends_[producer];
      const bool follows_samples = graph_.tensor(input).batch.kind != BatchKind::Whole;
      any = std::max(any, follows_samples && !costs.splits ? before.mean : before.any);
      const double start = follows_samples ? before.mean : before.any;
      if (start > end.start) {
        end.start = start;
        end.before = follows_samples ? producer : OpId();
      }
    }
    end.any = any + costs.shortest;
    end.mean = end.start + mean_time_[costs_.class_of(op)];
    end.from_any = end.any > end.mean;
    end.mean = std::max(end.mean, end.any);
    ends_[op] = end;
  }

  const Graph& graph_;
  const LayoutCosts& costs_;
  const BoundOf strategies_;
  std::vector<double> mean_time_;  // by class
  IdVector<OpId, End> ends_;
};

class Bound {
 public:
  Bound(const LayoutCosts& costs, Chain chain) : costs_(costs), chain_(std::move(chain)) {}

  // p = path; weights: any positive scale.
  double at(double path, std::vector<double> weights) const {
    double total = 0, sum = path * chain_.before;
    for (std::size_t type = 0; type < weights.size(); ++type)
      total += costs_.devices()[type] * weights[type];
    for (double& weight : weights) weight *= (1 - path) / total;
    for (std::size_t i = 0; i < costs_.class_count(); ++i) {
      const double on = chain_.on[i], off = chain_.all[i] - on;
      if (on > 0) sum += on * costs_.least(i, path, weights);
      if (off > 0) sum += off * costs_.least(i, 0, weights);
    }
    return sum;
  }

  // Weights in proportion to speed.
  std::vector<double> by_speed() const {
    const std::size_t types = costs_.devices().size();
    std::vector<double> weights(types);
    for (std::size_t type = 0; type < types; ++type) {
      double time = 0;
      for (std::size_t i = 0; i < costs_.class_count(); ++i)
        time += chain_.all[i] * costs_.time_on(i, type);
      weights[type] = 1 / std::max(time, 1.0);
    }
    return weights;
  }

  // Improves the weights for this p; returns the best bound.
  double climb(double path, std::vector<double>& weights) const {
    const std::size_t types = weights.size();
    double best = at(path, weights);
    for (double factor = 1.3; factor > 1.01; factor = std::sqrt(factor))
      for (std::size_t type = 0; types > 1 && type < types; ++type)
        for (const double change : {factor, 1 / factor}) {
          std::vector<double> tried = weights;
          tried[type] *= change;
          if (const double value = at(path, tried); value > best) {
            best = value;
            weights = std::move(tried);
          }
        }
    return best;
  }

  double best() const {
    std::vector<double> weights = by_speed();
    double best = std::max(climb(0, weights), at(1, weights));
    double low = 0, high = 1, best_path = 0;
    for (int i = 0; i < 8; ++i) {
      const double one = low + (high - low) * 0.382, two = low + (high - low) * 0.618;
      const double at_one = at(one, weights), at_two = at(two, weights);
      if (std::max(at_one, at_two) > best) {
        best = std::max(at_one, at_two);
        best_path = at_one < at_two ? two : one;
      }
      at_one < at_two ? low = one : high = two;
    }
    return std::max(best, climb(best_path, weights));
  }

 private:
  const LayoutCosts& costs_;
  Chain chain_;
};

Nanos bound_of(const Problem& problem, BoundOf strategies) {
  const LayoutCosts costs(problem, strategies);
  const Paths paths(problem, costs, strategies);
  const double bound = std::max(paths.longest(), Bound(costs, paths.chain()).best());
  // Sums of doubles: step back by more than their rounding could have added.
  return Nanos(static_cast<std::int64_t>(std::floor(bound * (1 - 1e-9))));
}

}  // namespace

// What holds for all strategies holds for some of them: chain and weights are not always the best.
Nanos lower_bound(const Problem& problem, BoundOf strategies) {
  const Nanos of_all = bound_of(problem, BoundOf::All);
  return strategies == BoundOf::All ? of_all : std::max(of_all, bound_of(problem, strategies));
}

}  // namespace strato
