#include "core/trace/analyse/steps.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "core/base/number_from.h"
#include "core/trace/device/kernels.h"

namespace strato::trace {
namespace {

std::optional<std::int64_t> step_number(std::string_view name) {
  constexpr std::string_view word = "ProfilerStep";
  if (!name.starts_with(word)) return std::nullopt;
  const std::size_t first = name.find_first_of("0123456789");
  return first == std::string_view::npos ? std::nullopt
                                         : number_from<std::int64_t>(name.substr(first));
}

std::vector<Step> annotated_steps(const Trace& trace) {
  std::vector<Step> steps;
  std::set<std::int64_t> seen;
  for (const Event& event : trace.events) {
    if (event.kind == EventKind::Kernel || event.kind == EventKind::DeviceAnnotation) continue;
    const auto number = step_number(trace.name(event));
    if (number && seen.insert(*number).second)
      steps.push_back({*number, {event.start, event.end()}, true});
  }
  return steps;
}

constexpr std::size_t kMostAnchors = 64;

// Which places of the sequence each name has.
std::vector<std::vector<std::size_t>> places_by_name(const std::vector<NameId>& names) {
  std::map<NameId, std::vector<std::size_t>> places;
  for (std::size_t i = 0; i < names.size(); ++i) places[names[i]].push_back(i);
  std::vector<std::vector<std::size_t>> result;
  for (auto& [name, of_name] : places) result.push_back(std::move(of_name));
  return result;
}

// What share of kernels has the same name as the one a period before.
double likeness(const std::vector<NameId>& names, std::size_t period) {
  std::size_t same = 0;
  for (std::size_t i = period; i < names.size(); ++i) same += names[i] == names[i - period] ? 1 : 0;
  return static_cast<double>(same) / static_cast<double>(names.size() - period);
}

// Kernels whose name returns at even distances mark the beginnings of steps: the rarest names, for
// others return within a step, too.
std::vector<std::size_t> period_starts(const std::vector<NameId>& names) {
  auto anchors = places_by_name(names);
  std::erase_if(anchors, [](const auto& places) { return places.size() < 3; });
  std::ranges::stable_sort(anchors, [](const auto& a, const auto& b) {
    return std::pair(a.size(), a.front()) < std::pair(b.size(), b.front());
  });
  if (anchors.size() > kMostAnchors) anchors.resize(kMostAnchors);
  constexpr double alike = 0.9;
  for (const auto& places : anchors) {
    const std::size_t period = places[1] - places[0];
    const bool even = std::ranges::adjacent_find(places, [&](std::size_t a, std::size_t b) {
                        return b - a != period;
                      }) == places.end();
    if (even && period > 1 && likeness(names, period) >= alike) return places;
  }
  return {};
}

std::vector<Step> periodic_steps(const Trace& trace) {
  const std::vector<Kernel> kernels = kernels_of(trace);
  std::vector<NameId> names;
  for (const Kernel& kernel : kernels) names.push_back(kernel.event->name);
  const std::vector<std::size_t> starts = period_starts(names);
  std::vector<Step> steps;
  for (std::size_t i = 0; i + 1 < starts.size(); ++i) {
    steps.push_back({static_cast<std::int64_t>(i),
                     {kernels[starts[i]].event->start, kernels[starts[i + 1]].event->start},
                     true});
  }
  return steps;
}

Nanos median_length(const std::vector<Step>& steps, bool all) {
  std::vector<Nanos> lengths;
  for (const Step& step : steps)
    if (all || step.steady) lengths.push_back(step.time.length());
  if (lengths.empty()) return Nanos(0);
  const auto middle = lengths.begin() + std::ssize(lengths) / 2;
  std::ranges::nth_element(lengths, middle);
  return *middle;
}

void mark_unsteady(std::vector<Step>& steps) {
  if (steps.size() < 2) return;
  const double typical = static_cast<double>(median_length(steps, true).value);
  for (Step& step : steps) {
    const double length = static_cast<double>(step.time.length().value);
    step.steady = &step != &steps.front() && length <= 1.5 * typical && length >= typical / 1.5;
  }
}

}  // namespace

std::int64_t Steps::steady() const { return std::ranges::count_if(steps, &Step::steady); }

Steps find_steps(const Trace& trace) {
  Steps result;
  if (!trace.timed) return result;
  result.steps = annotated_steps(trace);
  result.source = StepSource::Annotation;
  if (result.steps.empty()) {
    result.steps = periodic_steps(trace);
    result.source = StepSource::Period;
  }
  if (result.steps.empty()) result.source = StepSource::None;
  mark_unsteady(result.steps);
  result.typical = median_length(result.steps, result.steady() == 0);
  return result;
}

}  // namespace strato::trace
