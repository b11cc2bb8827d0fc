#include "views/lessons/condition.h"

#include <algorithm>

#include "core/base/error.h"
#include "views/lessons/group_choice.h"
#include "views/models/strategy_edits.h"
#include "views/models/vital_signs.h"
#include "views/style/text.h"

namespace strato {
namespace {

bool is_uneven(const Decision& decision) {
  return std::any_of(decision.devices.begin(), decision.devices.end(), [&](const DeviceShare& s) {
    return s.weight != decision.devices.front().weight;
  });
}

bool is_decided(const Condition& condition, const Decision& decision, const Cluster& cluster) {
  if (condition.mode && decision.mode != *condition.mode) return false;
  if (condition.uneven && is_uneven(decision) != *condition.uneven) return false;
  if (condition.devices.isEmpty()) return true;
  try {
    return device_groups_of(decision, cluster) == chosen_devices(condition.devices, cluster);
  } catch (const InputError&) {
    return false;  // another cluster than the lesson's is open
  }
}

bool groups_decided(const Condition& condition, const Snapshot& snapshot) {
  const auto groups = chosen_groups(condition.groups, *snapshot.problem->grouping);
  if (groups.empty() || snapshot.strategy.groups.size() != snapshot.problem->grouping->size())
    return false;
  const auto decided = [&](GroupId group) {
    const auto& decision = snapshot.strategy.groups[group];
    return decision && is_decided(condition, *decision, *snapshot.problem->cluster);
  };
  return condition.groups.which == GroupChoice::Which::Any
             ? std::any_of(groups.begin(), groups.end(), decided)
             : std::all_of(groups.begin(), groups.end(), decided);
}

bool is_selected(const Condition& condition, Session& session) {
  const Selection& selection = session.selection();
  const Problem& problem = *session.snapshot().problem;
  const auto named = [&](const std::string& name) {
    return condition.name.isEmpty() || condition.name == text(name);
  };
  switch (condition.kind) {
    case Condition::Kind::GroupSelected:
      return std::any_of(selection.groups().begin(), selection.groups().end(), [&](GroupId group) {
        return group.index() < problem.grouping->size() &&
               named(problem.grouping->group(group).name);
      });
    case Condition::Kind::DeviceSelected:
      return selection.device() && named(problem.cluster->device(*selection.device()).name);
    case Condition::Kind::LinkSelected:
      return selection.link() && named(problem.cluster->links()[*selection.link()].name);
    case Condition::Kind::TaskSelected:
      return selection.task().has_value();
    default:
      return selection.range().has_value();
  }
}

// `now` is at least this part below, or with `more` above, `before`.
bool changed_by(double now, double before, double part, bool more) {
  if (before <= 0) return false;
  return more ? now >= before * (1 + part) : now <= before * (1 - part);
}

bool has_numbers(const Condition& condition, const VitalSigns& signs, const LessonMoment& moment) {
  const auto now = static_cast<double>(signs.step_time.value);
  const auto before = static_cast<double>(moment.before.value);
  switch (condition.kind) {
    case Condition::Kind::StepTimeBelow:
      return signs.feasible && to_seconds(signs.step_time) < condition.number;
    case Condition::Kind::FasterBy:
      return signs.feasible && changed_by(now, before, condition.number, false);
    case Condition::Kind::SlowerBy:
      return changed_by(now, before, condition.number, true);
    case Condition::Kind::SpeedupAbove:
      return signs.feasible && signs.speedup && *signs.speedup > condition.number;
    case Condition::Kind::LessMemoryBy:
      return changed_by(static_cast<double>(signs.worst.peak.value),
                        static_cast<double>(moment.memory_before.value), condition.number, false);
    default:
      return signs.feasible == condition.flag;
  }
}

bool replay_holds(const Condition& condition, const LessonStage& stage) {
  const auto replay = stage.replayed();
  if (condition.kind == Condition::Kind::ReplayOpen) return replay.has_value() == condition.flag;
  return replay && static_cast<double>(replay->step) < condition.number;
}

// Since the step began.
bool search_finished(const SearchStatus& search, const LessonMoment& moment) {
  const bool another =
      search.run != moment.run_before || search.progress.iterations != moment.iterations_before;
  return search.state == SearchPhase::Idle && !search.run.isEmpty() && another;
}

}  // namespace

bool holds(const Condition& condition, const LessonMoment& moment, const LessonStage& stage) {
  Session& session = *moment.session;
  const Snapshot& snapshot = session.snapshot();
  switch (condition.kind) {
    case Condition::Kind::ViewShown:
      return stage.shows(condition.name);
    case Condition::Kind::ReplayOpen:
    case Condition::Kind::ReplayBefore:
      return replay_holds(condition, stage);
    default:
      break;
  }
  if (session.busy() || !snapshot.problem || !snapshot.outcome) return false;
  switch (condition.kind) {
    case Condition::Kind::GroupSelected:
    case Condition::Kind::DeviceSelected:
    case Condition::Kind::LinkSelected:
    case Condition::Kind::TaskSelected:
    case Condition::Kind::RangeSelected:
      return is_selected(condition, session);
    case Condition::Kind::GroupsDecided:
      return groups_decided(condition, snapshot);
    case Condition::Kind::SearchFinished:
      return search_finished(session.search(), moment);
    case Condition::Kind::Batch:
      return snapshot.problem->graph->batch() == static_cast<std::int64_t>(condition.number);
    case Condition::Kind::SufficientFactors:
      return snapshot.strategy.duplicated.empty() != condition.flag;
    default: {
      const auto signs = vital_signs(snapshot);
      return signs && has_numbers(condition, *signs, moment);
    }
  }
}

bool all_hold(const std::vector<Condition>& conditions, const LessonMoment& moment,
              const LessonStage& stage) {
  return std::all_of(conditions.begin(), conditions.end(),
                     [&](const Condition& c) { return holds(c, moment, stage); });
}

}  // namespace strato
