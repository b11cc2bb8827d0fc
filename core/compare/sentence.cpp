// Says in a sentence or two what makes the difference.
#include "core/compare/sentence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "core/base/quantity_text.h"
#include "core/compare/plan_matrix.h"

namespace strato {
namespace {

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

std::string percent_more(double above) {
  return above < 0.0005 ? "as long" : percent_text(above) + " longer";
}

std::string named_fastest(const PlanFigures& fastest, std::size_t plans, std::size_t fitting) {
  if (plans == 1) return "There is one plan, " + fastest.label;
  if (fitting == 1) return fastest.label + " is the only plan that fits";
  const bool all = fitting == 0 || fitting == plans;
  return fmt::format("{} is the fastest of {} plans{}", fastest.label, all ? plans : fitting,
                     all ? "" : " that fit");
}

}  // namespace

// The others in the order of their times; those that do not fit are told apart.
std::string sentence_of(const PlanMatrix& matrix) {
  const std::size_t best = matrix.best();
  const MatrixPlan& fastest = matrix.plans[best];
  std::vector<std::size_t> others;
  std::string too_large;
  std::size_t fitting = 0;
  bool same_batch = true;
  for (std::size_t p = 0; p < matrix.plans.size(); ++p) {
    const PlanFigures& figures = matrix.plans[p].figures;
    same_batch &= figures.batch == fastest.figures.batch;
    fitting += figures.fits ? 1 : 0;
    if (p != best && figures.fits == fastest.figures.fits) others.push_back(p);
    if (!figures.fits)
      too_large += fmt::format(" {} does not fit into memory: {}.", figures.label, figures.why_not);
  }
  std::ranges::stable_sort(others, {}, [&](std::size_t p) { return matrix.above_best(p); });
  const bool none_fits = fitting == 0;
  std::string text = named_fastest(fastest.figures, matrix.plans.size(), fitting);
  text += fmt::format(": {} a step", time_text(fastest.figures.step_time));
  text += same_batch ? std::string(".") : fmt::format(" of {} samples.", fastest.figures.batch);
  for (std::size_t i = 0; i < others.size(); ++i)
    text += fmt::format("{} {}{} {}",
                        i > 0        ? ","
                        : same_batch ? ""
                                     : " By the sample,",
                        matrix.plans[others[i]].figures.label, i == 0 ? " takes" : "",
                        percent_more(matrix.above_best(others[i])));
  if (!others.empty()) text += ".";
  return text + (none_fits ? " None of them fits into memory." : too_large);
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

}  // namespace strato
