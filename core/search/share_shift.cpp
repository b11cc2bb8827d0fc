#include "core/search/share_shift.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/strategy/share_weights.h"

namespace strato {
namespace {

constexpr double kSharpness = 16;  // of the norm of the loads: nearly the largest

bool has_shares(const Decision& decision) {
  const bool replicates =
      decision.mode == Mode::ReplicateAllReduce || decision.mode == Mode::ReplicatePs;
  return replicates && decision.devices.size() > 1;
}

Strategy with_samples(const Strategy& base, const std::vector<GroupId>& groups,
                      const std::vector<std::int64_t>& samples) {
  Strategy strategy = base;
  for (const GroupId group : groups) {
    Decision& decision = *strategy.groups[group];
    for (std::size_t i = 0; i < samples.size(); ++i)
      decision.devices[i].weight = static_cast<std::int32_t>(samples[i]);
    decision = reduced(std::move(decision));
  }
  return strategy;
}

}  // namespace

ShareShift::ShareShift(const Problem& problem, std::vector<bool> fixed)
    : problem_(problem), fixed_(std::move(fixed)) {}

void ShareShift::look_at(const Strategy& base) {
  const Outcome outcome = simulate_strategy(problem_, base, false);
  load_.clear();
  for (const DeviceUse& use : outcome.timeline->devices)
    load_.push_back(to_seconds(use.compute_busy));
  duplicated_.assign(problem_.graph->op_count(), false);
  for (const OpId op : base.duplicated) duplicated_[op.index()] = true;
  work_.clear();
}

// Where a device has no sample there is no weight that says so: such groups stay as they are.
std::vector<ShareShift::Alike> ShareShift::alike(const Strategy& base) const {
  std::vector<Alike> found;
  for (std::size_t g = 0; g < base.groups.size(); ++g) {
    const Decision& decision = *base.groups[GroupId(g)];
    if (!has_shares(decision) || (!fixed_.empty() && fixed_[g])) continue;
    Alike own{{GroupId(g)}, {}, apportion(problem_.graph->batch(), decision.devices)};
    if (std::ranges::min(own.samples) < 1) continue;
    for (const DeviceShare& share : decision.devices) own.devices.push_back(share.device);
    const auto same = std::ranges::find_if(found, [&](const Alike& other) {
      return other.devices == own.devices && other.samples == own.samples;
    });
    if (same == found.end())
      found.push_back(std::move(own));
    else
      same->groups.push_back(GroupId(g));
  }
  return found;
}

// Seconds that the device at `place` computes on so many samples.
double ShareShift::work(const Alike& groups, std::size_t place, std::int64_t samples) {
  const GpuTypeId type = problem_.cluster->device(groups.devices[place]).type;
  const auto [known, is_new] =
      work_.emplace(std::tuple(groups.groups.front(), type, samples), 0);
  if (!is_new) return known->second;
  Nanos sum;
  for (const GroupId group : groups.groups)
    for (const OpId op : problem_.grouping->group(group).ops)
      if (!duplicated_[op.index()]) sum += problem_.cost->compute(op, type, samples);
  return known->second = to_seconds(sum);
}

double ShareShift::cost(const Alike& groups, const Samples& samples) {
  IdVector<DeviceId, double> load = load_;
  for (std::size_t i = 0; i < samples.size(); ++i)
    if (samples[i] != groups.samples[i])
      load[groups.devices[i]] += work(groups, i, samples[i]) - work(groups, i, groups.samples[i]);
  const double unit = std::max(std::ranges::max(load_), 1e-12);
  double sum = 0;
  for (const double seconds : load) sum += std::pow(seconds / unit, kSharpness);
  return sum;
}

// From one kind of device to another: a sample, one of each, or one for each.
void ShareShift::add_moves(const Alike& groups, std::vector<Samples>& found) const {
  std::map<std::pair<GpuTypeId, std::int64_t>, std::vector<std::size_t>> kinds;
  for (std::size_t i = 0; i < groups.devices.size(); ++i)
    kinds[{problem_.cluster->device(groups.devices[i]).type, groups.samples[i]}].push_back(i);
  for (auto& [kind, places] : kinds)
    std::ranges::stable_sort(places, {}, [&](std::size_t i) { return load_[groups.devices[i]]; });
  for (const auto& [from, givers] : kinds)
    for (const auto& [to, takers] : kinds)
      for (const std::size_t count : std::set<std::size_t>{1, givers.size(), takers.size()}) {
        Samples samples = groups.samples;
        for (std::size_t k = 0; k < count; ++k) {
          --samples[givers[givers.size() - 1 - k % givers.size()]];
          ++samples[takers[k % takers.size()]];
        }
        if (std::ranges::min(samples) >= 1 && samples != groups.samples)
          found.push_back(std::move(samples));
      }
}

// One sample after another from the device with most to do to the one that is ready with it first, as
// long as that helps; what lies on the way, too.
void ShareShift::add_balanced(const Alike& groups, std::vector<Samples>& found) {
  std::vector<double> load;
  for (const DeviceId device : groups.devices) load.push_back(load_[device]);
  Samples samples = groups.samples;
  const auto after = [&](std::size_t i, std::int64_t more) {
    return load[i] + work(groups, i, samples[i] + more) - work(groups, i, samples[i]);
  };
  for (std::int64_t moved = 0; moved < problem_.graph->batch(); ++moved) {
    const auto from = static_cast<std::size_t>(std::ranges::max_element(load) - load.begin());
    if (samples[from] == 1) return;
    std::size_t to = from;
    double ready = load[from];
    for (std::size_t i = 0; i < samples.size(); ++i)
      if (const double then = after(i, 1); i != from && then < ready) to = i, ready = then;
    if (to == from) return;
    load[from] = after(from, -1);
    load[to] = ready;
    --samples[from];
    ++samples[to];
    found.push_back(samples);
  }
}

std::vector<ShareShift::Proposal> ShareShift::proposals(const std::vector<Alike>& alike) {
  std::vector<Proposal> result;
  for (std::size_t a = 0; a < alike.size(); ++a) {
    std::vector<Samples> found;
    add_moves(alike[a], found);
    add_balanced(alike[a], found);
    for (Samples& samples : found) {
      const double cost = this->cost(alike[a], samples);
      result.push_back({a, std::move(samples), cost});
    }
  }
  std::ranges::stable_sort(result, {}, &Proposal::cost);
  return result;
}

std::vector<Strategy> ShareShift::propose(const Strategy& base, std::size_t count) {
  look_at(base);
  tried_.insert(base.digest());
  const std::vector<Alike> alike = this->alike(base);
  std::vector<Strategy> strategies;
  for (const Proposal& proposal : proposals(alike)) {
    if (strategies.size() == count) break;
    Strategy strategy = with_samples(base, alike[proposal.alike].groups, proposal.samples);
    if (tried_.insert(strategy.digest()).second) strategies.push_back(std::move(strategy));
  }
  return strategies;
}

ShiftedShares shift_shares(const Problem& problem, Evaluator& evaluator, Strategy strategy,
                           const Score& score, std::vector<bool> fixed, std::int64_t evaluations,
                           int batch, const std::stop_token& stop) {
  ShiftedShares result{std::move(strategy), score};
  const auto& own = result.strategy.grouping;
  if (!score.feasible || (own != nullptr && own->digest() != problem.grouping->digest()))
    return result;
  ShareShift shift(problem, std::move(fixed));
  while (result.evaluations + 1 < evaluations && !stop.stop_requested()) {
    ++result.evaluations;  // the look at the timeline
    const std::int64_t most = std::min<std::int64_t>(batch, evaluations - result.evaluations);
    std::vector<Strategy> some = shift.propose(result.strategy, static_cast<std::size_t>(most));
    if (some.empty()) break;
    const std::vector<Score> scores = evaluator.evaluate(some);
    result.evaluations += static_cast<std::int64_t>(some.size());
    const auto best = std::ranges::min_element(
        scores, [](const Score& a, const Score& b) { return a.better_than(b); });
    if (!best->better_than(result.score)) continue;
    result.strategy = std::move(some[static_cast<std::size_t>(best - scores.begin())]);
    result.score = *best;
    ++result.moves;
  }
  return result;
}

}  // namespace strato
