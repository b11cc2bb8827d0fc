#include "views/lessons/placeholders.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "core/search/api/problem.h"
#include "views/lessons/group_choice.h"
#include "views/models/vital_signs.h"
#include "views/style/style.h"
#include "views/style/text.h"

namespace strato {
namespace {

using ValueNow = std::function<QString(const LessonMoment&)>;

const QString kUnknown = QStringLiteral("…");

template <class Function>
ValueNow of_problem(Function function) {
  return [function](const LessonMoment& moment) {
    const auto& problem = moment.session->snapshot().problem;
    return problem ? QString(function(*problem)) : kUnknown;
  };
}

template <class Function>
ValueNow of_signs(Function function) {
  return [function](const LessonMoment& moment) {
    const auto signs = vital_signs(moment.session->snapshot());
    return signs ? QString(function(*signs, moment)) : kUnknown;
  };
}

Bytes parameter_bytes(const Problem& problem) {
  Bytes sum;
  for (const OpGroup& group : problem.grouping->groups()) sum += group.parameter_bytes;
  return sum;
}

// Of compute streams, by the whole step.
double busy_part(const Timeline& timeline, DeviceId device) {
  return timeline.step_time.value == 0
             ? 0
             : static_cast<double>(timeline.devices[device].compute_busy.value) /
                   static_cast<double>(timeline.step_time.value);
}

QString busiest(const LessonMoment& moment, bool most, bool name) {
  const Snapshot& snapshot = moment.session->snapshot();
  if (!snapshot.outcome) return kUnknown;
  const Timeline& timeline = *snapshot.outcome->timeline;
  DeviceId found(0);
  for (std::size_t d = 1; d < timeline.devices.size(); ++d) {
    const double here = busy_part(timeline, DeviceId(d)), best = busy_part(timeline, found);
    if (most ? here > best : here < best) found = DeviceId(d);
  }
  return name ? text(snapshot.problem->cluster->device(found).name)
              : style::percent(busy_part(timeline, found));
}

QString idle_share(const LessonMoment& moment) {
  const Snapshot& snapshot = moment.session->snapshot();
  if (!snapshot.outcome) return kUnknown;
  const Timeline& timeline = *snapshot.outcome->timeline;
  double busy = 0;
  for (std::size_t d = 0; d < timeline.devices.size(); ++d)
    busy += busy_part(timeline, DeviceId(d));
  return style::percent(
      1 - busy / static_cast<double>(std::max<std::size_t>(1, timeline.devices.size())));
}

QString change_text(double now, double before) {
  if (before <= 0) return kUnknown;
  return style::signed_percent(now / before - 1);
}

QString group_name(const LessonMoment& moment, GroupChoice::Which which) {
  const auto& problem = moment.session->snapshot().problem;
  if (!problem || problem->grouping->size() == 0) return kUnknown;
  return text(
      problem->grouping->group(chosen_groups({which, {}}, *problem->grouping).front()).name);
}

QString group_parameters(const LessonMoment& moment) {
  const auto& problem = moment.session->snapshot().problem;
  if (!problem || problem->grouping->size() == 0) return kUnknown;
  const auto groups = chosen_groups({GroupChoice::Which::MostParameters, {}}, *problem->grouping);
  return style::bytes(problem->grouping->group(groups.front()).parameter_bytes);
}

QString selected_group(const LessonMoment& moment) {
  const auto& problem = moment.session->snapshot().problem;
  const auto& groups = moment.session->selection().groups();
  if (!problem || groups.empty() || groups.front().index() >= problem->grouping->size()) {
    return kUnknown;
  }
  return text(problem->grouping->group(groups.front()).name);
}

QString tasks_of(const LessonMoment& moment, bool communication) {
  const auto& outcome = moment.session->snapshot().outcome;
  if (!outcome) return kUnknown;
  std::size_t count = 0;
  for (const Task& task : outcome->program->tasks) {
    count += is_communication(task.kind) == communication;
  }
  return QString::number(count);
}

std::vector<std::pair<QString, ValueNow>> make_values() {
  const auto name = [](const char* text) { return QString::fromLatin1(text); };
  std::vector<std::pair<QString, ValueNow>> values;
  const auto add = [&](const char* key, ValueNow value) {
    values.emplace_back(name(key), std::move(value));
  };
  add("model", [](const LessonMoment& m) { return m.session->model_name(); });
  add("cluster", [](const LessonMoment& m) { return m.session->cluster_name(); });
  add("batch", of_problem([](const Problem& p) { return QString::number(p.graph->batch()); }));
  add("ops", of_problem([](const Problem& p) { return QString::number(p.graph->ops().size()); }));
  add("groups", of_problem([](const Problem& p) { return QString::number(p.grouping->size()); }));
  add("devices",
      of_problem([](const Problem& p) { return QString::number(p.cluster->device_count()); }));
  add("parameters", of_problem([](const Problem& p) { return style::bytes(parameter_bytes(p)); }));
  add("bound", [](const LessonMoment& m) {
    return m.session->snapshot().problem ? style::time(m.session->snapshot().lower_bound)
                                         : kUnknown;
  });
  add("step_time",
      of_signs([](const VitalSigns& s, const LessonMoment&) { return style::time(s.step_time); }));
  add("before",
      [](const LessonMoment& m) { return m.before.value > 0 ? style::time(m.before) : kUnknown; });
  add("change", of_signs([](const VitalSigns& s, const LessonMoment& m) {
        return change_text(static_cast<double>(s.step_time.value),
                           static_cast<double>(m.before.value));
      }));
  add("speedup", of_signs([](const VitalSigns& s, const LessonMoment&) {
        return s.speedup ? style::factor(*s.speedup) : kUnknown;
      }));
  add("over_bound", of_signs([](const VitalSigns& s, const LessonMoment&) {
        return s.over_bound ? style::factor(*s.over_bound) : kUnknown;
      }));
  add("data_parallel", [](const LessonMoment& m) {
    const auto& baseline = m.session->snapshot().baseline;
    return baseline ? style::time(baseline->timeline->step_time) : kUnknown;
  });
  add("memory", of_signs([](const VitalSigns& s, const LessonMoment&) {
        return style::bytes(s.worst.peak);
      }));
  add("memory_capacity", of_signs([](const VitalSigns& s, const LessonMoment&) {
        return style::bytes(s.worst.capacity);
      }));
  add("memory_device", of_signs([](const VitalSigns& s, const LessonMoment& m) {
        return text(m.session->snapshot().problem->cluster->device(s.worst.device).name);
      }));
  add("memory_before", [](const LessonMoment& m) {
    return m.memory_before.value > 0 ? style::bytes(m.memory_before) : kUnknown;
  });
  add("memory_change", of_signs([](const VitalSigns& s, const LessonMoment& m) {
        return change_text(static_cast<double>(s.worst.peak.value),
                           static_cast<double>(m.memory_before.value));
      }));
  add("busiest_device", [](const LessonMoment& m) { return busiest(m, true, true); });
  add("busiest_part", [](const LessonMoment& m) { return busiest(m, true, false); });
  add("idlest_device", [](const LessonMoment& m) { return busiest(m, false, true); });
  add("idlest_busy_part", [](const LessonMoment& m) { return busiest(m, false, false); });
  add("idle", idle_share);
  add("compute_tasks", [](const LessonMoment& m) { return tasks_of(m, false); });
  add("communication_tasks", [](const LessonMoment& m) { return tasks_of(m, true); });
  add("slowest_group",
      [](const LessonMoment& m) { return group_name(m, GroupChoice::Which::Slowest); });
  add("largest_group",
      [](const LessonMoment& m) { return group_name(m, GroupChoice::Which::MostParameters); });
  add("largest_group_parameters", group_parameters);
  add("selected_group", selected_group);
  add("search_run", [](const LessonMoment& m) {
    return m.session->search().run.isEmpty() ? kUnknown : m.session->search().run;
  });
  add("search_iterations", [](const LessonMoment& m) {
    return QString::number(m.session->search().progress.iterations);
  });
  add("search_evaluations", [](const LessonMoment& m) {
    return QString::number(m.session->search().progress.evaluations);
  });
  add("tree_vertices", [](const LessonMoment& m) {
    return m.session->tree() ? QString::number(m.session->tree()->vertices.size()) : kUnknown;
  });
  return values;
}

const std::vector<std::pair<QString, ValueNow>>& values() {
  static const std::vector<std::pair<QString, ValueNow>> all = make_values();
  return all;
}

const ValueNow* find_value(const QString& name) {
  for (const auto& [key, value] : values()) {
    if (key == name) return &value;
  }
  return nullptr;
}

// Calls put(text) and fill(name) in order.
template <class Put, class Fill>
void parse(const QString& text, Put put, Fill fill) {
  const QLatin1Char open('{'), close('}');
  for (qsizetype at = 0; at < text.size();) {
    const qsizetype brace = text.indexOf(open, at);
    if (brace < 0) return put(text.mid(at));
    put(text.mid(at, brace - at));
    if (brace + 1 < text.size() && text[brace + 1] == open) {
      put(QString(open));
      at = brace + 2;
      continue;
    }
    const qsizetype end = text.indexOf(close, brace);
    fill(text.mid(brace + 1, end < 0 ? -1 : end - brace - 1));
    if (end < 0) return;
    at = end + 1;
  }
}

}  // namespace

QStringList placeholder_names() {
  QStringList names;
  for (const auto& [key, value] : values()) names << key;
  return names;
}

QString unknown_placeholder(const QString& text) {
  QString unknown;
  parse(
      text, [](const QString&) {},
      [&](const QString& name) {
        if (unknown.isEmpty() && !find_value(name)) unknown = QLatin1Char('{') + name;
      });
  return unknown;
}

QString filled(const QString& text, const LessonMoment& moment) {
  QString result;
  parse(
      text, [&](const QString& part) { result += part; },
      [&](const QString& name) {
        const ValueNow* value = find_value(name);
        result += value ? (*value)(moment) : kUnknown;
      });
  return result;
}

}  // namespace strato
