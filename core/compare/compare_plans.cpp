#include "core/compare/compare_plans.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "core/base/error.h"
#include "core/base/quantity_text.h"
#include "core/compare/changes.h"

namespace strato {
namespace {

std::string why_not(const Timeline& timeline) {
  std::vector<DeviceId> full;
  for (std::size_t d = 0; d < timeline.devices.size(); ++d)
    if (!timeline.devices[DeviceId(d)].fits()) full.emplace_back(d);
  if (full.empty()) return {};
  const DeviceId worst = *std::ranges::max_element(full, {}, [&](DeviceId device) {
    return timeline.devices[device].peak - timeline.devices[device].capacity;
  });
  const DeviceUse& use = timeline.devices[worst];
  return fmt::format("{} needs {} of {}{}", timeline.program->cluster->device(worst).name,
                     bytes_text(use.peak), bytes_text(use.capacity),
                     full.size() == 1 ? "" : fmt::format(", and {} more", full.size() - 1));
}

// Other numbers in the same order are the same order. The ops are those that both models have.
bool same_order(const Strategy& from, const Strategy& to, const OpMatch& match) {
  if (from.priorities.empty() || to.priorities.empty())
    return from.priorities.empty() == to.priorities.empty();
  std::set<std::pair<std::int32_t, std::int32_t>> priorities;  // of the same op
  for (std::size_t i = 0; i < match.to_of_from.size(); ++i)
    if (const OpId other = match.to_of_from[OpId(i)]; other.valid())
      priorities.emplace(from.priorities[i], to.priorities[other.index()]);
  const auto differ = [](const auto& a, const auto& b) {
    return a.first == b.first || a.second >= b.second;
  };
  return std::ranges::adjacent_find(priorities, differ) == priorities.end();
}

// Collects what is decided otherwise beside the op groups and variables.
std::vector<std::string> other_changes(const PlanToCompare& from, const PlanToCompare& to,
                                       const OpMatch& match) {
  const auto bucket = [](Bytes bytes) {
    return bytes > Bytes(0) ? "up to " + bytes_text(bytes) : std::string("none");
  };
  const auto order = [](const Strategy& strategy) {
    return strategy.priorities.empty() ? "first in, first out" : "its own";
  };
  std::vector<std::string> lines;
  const Strategy &a = from.strategy, &b = to.strategy;
  if (a.bucket != b.bucket)
    lines.push_back(fmt::format("gradient buckets: {} -> {}", bucket(a.bucket), bucket(b.bucket)));
  if (a.micro_batches != b.micro_batches)
    lines.push_back(fmt::format("micro-batches: {} -> {}", describe(a.micro_batches),
                                describe(b.micro_batches)));
  if (a.recomputed.size() != b.recomputed.size())
    lines.push_back(
        fmt::format("computed again: {} ops -> {} ops", a.recomputed.size(), b.recomputed.size()));
  if (a.offloaded.size() != b.offloaded.size())
    lines.push_back(fmt::format("kept on the host: of {} ops -> of {} ops", a.offloaded.size(),
                                b.offloaded.size()));
  if (!same_order(a, b, match))
    lines.push_back(a.priorities.empty() || b.priorities.empty()
                        ? fmt::format("execution order: {} -> {}", order(a), order(b))
                        : "execution order: another one");
  return lines;
}

constexpr std::size_t kMostCauses = 3, kMostAgainst = 2;
constexpr double kLeastShare = 0.05;  // of the largest cause

Nanos size_of(Nanos change) { return Nanos(std::abs(change.value)); }

// Names the greatest of the causes with one sign: "31 ms less waiting for 1080ti, 9.1 ms less
// AllReduce".
std::string causes_text(const std::vector<Cause>& causes, bool faster, std::size_t most,
                        Nanos least) {
  std::string text;
  std::size_t count = 0;
  for (const Cause& cause : causes) {
    const Nanos change = cause.change();
    if (change == Nanos(0) || (change < Nanos(0)) != faster || size_of(change) < least) continue;
    if (count++ == most) break;
    text += fmt::format("{}{} {} {}", text.empty() ? "" : ", ", time_text(size_of(change)),
                        faster ? "less" : "more", cause.text);
  }
  return text;
}

std::string per_sample_text(const PlanComparison& comparison) {
  const PlanFigures &from = comparison.plans.from, &to = comparison.plans.to;
  if (from.batch == to.batch) return {};
  return fmt::format(" The batches are {} and {} samples: {} samples a second instead of {}.",
                     from.batch, to.batch, significant_text(to.samples_per_second()),
                     significant_text(from.samples_per_second()));
}

std::string memory_text(const PlanComparison& comparison) {
  const PlanFigures &from = comparison.plans.from, &to = comparison.plans.to;
  if (from.fits && to.fits) return {};
  if (!from.fits && !to.fits) return " Neither fits into memory.";
  const PlanFigures& larger = from.fits ? to : from;
  return fmt::format(" But {} does not fit into memory: {}.", larger.label, larger.why_not);
}

std::string no_difference_text(const PlanComparison& comparison) {
  const std::string time = time_text(comparison.plans.to.step_time);
  if (comparison.same_decisions()) return fmt::format("The same: a step takes {}.", time);
  if (comparison.differing_groups() == 0)
    return fmt::format("A step takes {} in both, though they differ beside the op groups.", time);
  return fmt::format("A step takes {} in both, though {} op group{} decided otherwise.", time,
                     comparison.differing_groups(),
                     comparison.differing_groups() == 1 ? " is" : "s are");
}

}  // namespace

PlanFigures plan_figures(const PlanToCompare& plan) {
  const Timeline& timeline = *plan.outcome.timeline;
  return {.label = plan.label,
          .model = plan.problem.graph->name(),
          .cluster = plan.problem.cluster->name(),
          .step_time = timeline.step_time,
          .batch = plan.problem.graph->batch(),
          .fits = timeline.feasible,
          .why_not = why_not(timeline)};
}

double PlanFigures::samples_per_second() const {
  return step_time > Nanos(0) ? static_cast<double>(batch) / to_seconds(step_time) : 0;
}

std::size_t PlanComparison::differing_groups() const {
  return static_cast<std::size_t>(std::ranges::count_if(groups, &GroupChange::differs));
}

std::size_t PlanComparison::differing_variables() const {
  return static_cast<std::size_t>(std::ranges::count_if(variables, &VariableChange::differs));
}

bool PlanComparison::same_decisions() const {
  return match.only_from.empty() && differing_groups() == 0 && differing_variables() == 0 &&
         others.empty();
}

PlanComparison compare_plans(const PlanToCompare& from, const PlanToCompare& to) {
  const Timeline &before = *from.outcome.timeline, &after = *to.outcome.timeline;
  const Pair<std::vector<PathPiece>> paths{path_pieces(before), path_pieces(after)};
  PlanComparison result;
  result.plans = {plan_figures(from), plan_figures(to)};
  result.same_cluster = from.problem.cluster->digest() == to.problem.cluster->digest();
  result.match = match_ops(*from.problem.graph, *to.problem.graph);
  result.causes = step_causes(before, paths.from, after, paths.to);
  result.groups = group_changes(from, to, result.match, paths);
  result.variables = variable_changes(from, to, result.match);
  result.others = other_changes(from, to, result.match);
  result.devices = device_changes(before, after);
  result.traffic = traffic_changes(before, after);
  result.links = links_changes(before, after);
  result.price = {plan_price(from), plan_price(to)};
  result.sentence = sentence_of(result);
  return result;
}

std::string sentence_of(const PlanComparison& comparison) {
  const Nanos change = comparison.change();
  if (change == Nanos(0))
    return no_difference_text(comparison) + per_sample_text(comparison) + memory_text(comparison);
  const bool faster = change < Nanos(0);
  std::string text = fmt::format("{} {}", time_text(size_of(change)), faster ? "faster" : "slower");
  if (comparison.plans.from.step_time > Nanos(0))
    text += fmt::format(" ({})", percent_text(size_of(change) / comparison.plans.from.step_time));
  const Nanos largest =
      comparison.causes.empty() ? Nanos(0) : size_of(comparison.causes.front().change());
  const Nanos least(static_cast<std::int64_t>(kLeastShare * static_cast<double>(largest.value)));
  const std::string why = causes_text(comparison.causes, faster, kMostCauses, least);
  const std::string against = causes_text(comparison.causes, !faster, kMostAgainst, least);
  if (!why.empty()) text += ": " + why;
  if (!against.empty()) text += (why.empty() ? ": " : "; against that, ") + against;
  return text + "." + per_sample_text(comparison) + memory_text(comparison);
}

std::vector<Cause> folded(const std::vector<Cause>& causes, std::size_t most) {
  CHECK(most >= 2, "one cause and one for the others");
  std::vector<Cause> changed = causes;
  std::erase_if(changed, [](const Cause& cause) { return cause.change() == Nanos(0); });
  if (changed.size() <= most) return changed;
  Cause others;
  for (std::size_t i = most - 1; i < changed.size(); ++i) {
    others.from += changed[i].from;
    others.to += changed[i].to;
  }
  others.text = fmt::format("{} other causes", changed.size() - (most - 1));
  changed.resize(most - 1);
  changed.push_back(std::move(others));
  return changed;
}

std::string signed_time_text(Nanos time) { return (time > Nanos(0) ? "+" : "") + time_text(time); }

std::string price_text(double dollars) { return "$" + significant_text(dollars); }

}  // namespace strato
