#include "views/models/planning_replay.h"

#include <QCoreApplication>
#include <algorithm>
#include <functional>
#include <numeric>
#include <tuple>

#include "core/base/error.h"
#include "views/style/style.h"

namespace strato {
namespace {

struct ReplayWords {
  Q_DECLARE_TR_FUNCTIONS(PlanningReplay)
};

constexpr std::size_t kMostCandidates = 3'000'000;

void require(bool holds, const char* what) {
  if (!holds) {
    throw InputError("", "planning steps", what, "report it to the authors of the planner");
  }
}

bool ascends(const std::vector<std::int32_t>& numbers) {
  return std::ranges::adjacent_find(numbers, std::greater_equal()) == numbers.end();
}

}  // namespace

bool steps_fit_memory(std::size_t ops, std::size_t devices) {
  return ops == 0 || devices * devices <= kMostCandidates / ops;
}

PlanningReplay::PlanningReplay(std::shared_ptr<const PlanningSteps> steps)
    : steps_(std::move(steps)) {
  check();
  begin_ = {0, steps_->fusion.sequence.size(), steps_->ranking.value.empty() ? 0u : 1u,
            steps_->steps.size(), steps_->trials.size()};
  std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
  number_nodes();
  index_steps();
  find_ready();
}

void PlanningReplay::check() const {
  const auto is_node = [count = steps_->nodes.size()](NodeIndex node) {
    return node >= 0 && at(node) < count;
  };
  const PlanningSteps::Ranking& ranking = steps_->ranking;
  const PlanningSteps::Fusion& fusion = steps_->fusion;
  const std::size_t count = steps_->nodes.size(), places = fusion.sequence.size();
  require(steps_->names.size() == count, "not every node has a name");
  require(ranking.value.empty() || ranking.value.size() == count, "not every node has a rank");
  require(std::ranges::all_of(ranking.order, is_node) &&
              std::ranges::all_of(ranking.critical_path, is_node),
          "the ranking names a node that there is not");
  for (const PlanningSteps::Step& step : steps_->steps) {
    require(is_node(step.node), "a node is placed that there is not");
    require(step.device.valid() && step.start <= step.finish, "a node is placed nowhere");
    for (const auto& candidate : step.candidates)
      require(candidate.device.valid(), "a candidate is no device");
  }
  for (const DagLink& edge : steps_->edges)
    require(is_node(edge.from) && is_node(edge.to), "an edge leads to a node that there is not");
  if (places == 0) return;
  require(fusion.cost.size() == places + 1 && fusion.before.size() == places + 1,
          "not every place of the sequence has a cost and a breakpoint");
  for (std::size_t j = 1; j <= places; ++j)
    require(fusion.before[j] >= 0 && static_cast<std::size_t>(fusion.before[j]) < j,
            "a breakpoint does not come before its place");
  const auto& breaks = fusion.breaks;
  require(breaks.size() >= 2 && breaks.front() == 0 &&
              static_cast<std::size_t>(breaks.back()) == places && ascends(breaks),
          "the breakpoints do not lead from the start of the sequence to its end");
}

void PlanningReplay::number_nodes() {
  const std::size_t count = steps_->nodes.size();
  order_ = steps_->ranking.order;
  place_.assign(count, kNever);
  for (std::size_t i = 0; i < order_.size(); ++i) place_[at(order_[i])] = i;
  for (std::size_t i = 0; i < count; ++i) {
    if (place_[i] != kNever) continue;
    place_[i] = order_.size();
    order_.push_back(static_cast<NodeIndex>(i));
  }
  critical_.assign(count, false);
  for (const NodeIndex node : steps_->ranking.critical_path) critical_[at(node)] = true;
}

void PlanningReplay::index_steps() {
  step_of_.assign(steps_->nodes.size(), kNever);
  makespan_.assign(1, Nanos());
  const auto row_of = [this](DeviceId device) -> std::vector<Slot>& {
    if (slots_.size() <= device.index()) slots_.resize(device.index() + 1);
    return slots_[device.index()];
  };
  for (std::size_t i = 0; i < steps_->steps.size(); ++i) {
    const PlanningSteps::Step& step = steps_->steps[i];
    step_of_[at(step.node)] = std::min(step_of_[at(step.node)], i);
    row_of(step.device).push_back({step.start, step.finish, static_cast<std::int32_t>(i)});
    makespan_.push_back(std::max(makespan_.back(), step.finish));
    last_time_ = std::max(last_time_, step.finish);
    for (const auto& candidate : step.candidates) row_of(candidate.device);
  }
  for (std::vector<Slot>& row : slots_)
    std::ranges::sort(row, [](const Slot& a, const Slot& b) {
      return std::tie(a.start, a.finish, a.step) < std::tie(b.start, b.finish, b.step);
    });
}

// A node is ready from the step after the last of its predecessors.
void PlanningReplay::find_ready() {
  ready_from_.assign(steps_->nodes.size(), 0);
  for (const DagLink& edge : steps_->edges) {
    const std::size_t from = step_of_[at(edge.from)];
    std::size_t& ready = ready_from_[at(edge.to)];
    ready = std::max(ready, from == kNever ? kNever : from + 1);
  }
}

std::size_t PlanningReplay::begin(PlanningPhase phase) const {
  return phase == PlanningPhase::Start ? 0 : begin_[static_cast<std::size_t>(phase) - 1];
}

std::size_t PlanningReplay::end(PlanningPhase phase) const {
  return phase == PlanningPhase::Start ? 0 : begin_[static_cast<std::size_t>(phase)];
}

PlanningPhase PlanningReplay::phase(std::size_t position) const {
  if (position == 0) return PlanningPhase::Start;
  for (const auto phase : {PlanningPhase::Fuse, PlanningPhase::Rank, PlanningPhase::Place}) {
    if (position <= end(phase)) return phase;
  }
  return PlanningPhase::Split;
}

namespace {

std::size_t done(std::size_t position, std::size_t begin, std::size_t end) {
  return std::clamp(position, begin, end) - begin;
}

}  // namespace

std::size_t PlanningReplay::placed(std::size_t position) const {
  return done(position, begin(PlanningPhase::Place), end(PlanningPhase::Place));
}

std::size_t PlanningReplay::fused(std::size_t position) const {
  return done(position, begin(PlanningPhase::Fuse), end(PlanningPhase::Fuse));
}

std::size_t PlanningReplay::tried(std::size_t position) const {
  return done(position, begin(PlanningPhase::Split), end(PlanningPhase::Split));
}

const PlanningSteps::Step* PlanningReplay::step(std::size_t position) const {
  if (phase(position) != PlanningPhase::Place) return nullptr;
  return &steps_->steps[placed(position) - 1];
}

std::optional<NodeIndex> PlanningReplay::node(std::size_t position) const {
  const PlanningSteps::Step* now = step(position);
  return now == nullptr ? std::nullopt : std::optional(now->node);
}

Nanos PlanningReplay::makespan(std::size_t position) const { return makespan_[placed(position)]; }

const std::vector<PlanningReplay::Slot>& PlanningReplay::placed_on(DeviceId device) const {
  static const std::vector<Slot> none;
  return device.valid() && device.index() < slots_.size() ? slots_[device.index()] : none;
}

PlanningReplay::Ready PlanningReplay::ready(std::size_t position, std::size_t most) const {
  Ready result;
  std::size_t before = placed(position);
  if (step(position) != nullptr) --before;
  for (const NodeIndex node : order_) {
    if (ready_from_[at(node)] > before || step_of_[at(node)] < before) continue;
    if (result.count++ < most) result.first.push_back(node);
  }
  return result;
}

QString PlanningReplay::note(const PlanningSteps::Step& step,
                             const PlanningSteps::Candidate& candidate) const {
  if (candidate.device == step.device) return QString::fromStdString(sentence(step.why));
  if (step.why == PlanningSteps::Why::Colocated) return ReplayWords::tr("is not allowed");
  if (!candidate.fits) return ReplayWords::tr("has no room in memory");
  const Nanos later = candidate.finish - step.finish;
  if (later.value > 0) return ReplayWords::tr("%1 later").arg(style::time(later));
  if (later.value < 0) {
    return ReplayWords::tr("%1 sooner").arg(style::time(Nanos(-later.value)));
  }
  return ReplayWords::tr("at the same time");
}

std::vector<std::int32_t> PlanningReplay::breaks(std::size_t place) const {
  const PlanningSteps::Fusion& fusion = steps_->fusion;
  if (fusion.sequence.empty()) return {};
  if (place >= fusion.sequence.size()) return fusion.breaks;
  std::vector<std::int32_t> result;
  for (std::size_t j = place; j > 0; j = static_cast<std::size_t>(fusion.before[j]))
    result.push_back(static_cast<std::int32_t>(j));
  result.push_back(0);
  std::ranges::reverse(result);
  return result;
}

std::vector<OpId> PlanningReplay::ops(std::size_t position) const {
  switch (phase(position)) {
    case PlanningPhase::Fuse:
      return {steps_->fusion.sequence[fused(position) - 1]};
    case PlanningPhase::Place:
      return steps_->nodes[at(step(position)->node)];
    case PlanningPhase::Split:
      return {steps_->trials[tried(position) - 1].op};
    default:
      return {};
  }
}

}  // namespace strato
