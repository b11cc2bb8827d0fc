#include "app/cli/diff_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/cli/output.h"
#include "core/base/quantity_text.h"
#include "core/compare/plan_matrix.h"

namespace strato::cli {
namespace {

constexpr std::size_t kCauses = 10;
constexpr std::size_t kRows = 20;  // of groups and of variables

// --- text ---

std::string plans_text(const PlanComparison& comparison) {
  Table table({"plan", "step time", "samples/s", "memory", "model", "cluster"});
  for (const PlanFigures* plan : {&comparison.plans.from, &comparison.plans.to})
    table.add({plan->label, time_text(plan->step_time),
               significant_text(plan->samples_per_second()),
               plan->fits ? "fits" : "does not fit: " + plan->why_not, plan->model, plan->cluster});
  return table.text();
}

std::string causes_text(const PlanComparison& comparison, bool all) {
  Table table({"from step to step", "change", "first", "second"});
  const PlanFigures &from = comparison.plans.from, &to = comparison.plans.to;
  Cause alike;  // what changes nothing still is a part of both steps
  alike.text = "the same in both";
  for (const Cause& cause : comparison.causes)
    if (!all && cause.change() == Nanos(0)) alike.from = alike.to += cause.to;
  std::vector<Cause> shown = all ? comparison.causes : folded(comparison.causes, kCauses);
  if (shown.empty()) return {};
  if (alike.to > Nanos(0)) shown.push_back(alike);
  for (const Cause& cause : shown)
    table.add(
        {cause.text, signed_time_text(cause.change()), time_text(cause.from), time_text(cause.to)});
  table.add({"step time", signed_time_text(comparison.change()), time_text(from.step_time),
             time_text(to.step_time)});
  table.align_left(0);
  return "\n" + table.text();
}

// One row, unless there are too many: then what is left out is counted.
template <class Row, class Add>
std::string rows_text(const std::vector<Row>& rows, bool all, Table& table, Add&& add) {
  std::size_t differ = 0, shown = 0;
  for (const Row& row : rows) {
    if (!row.differs && !all) continue;
    ++differ;
    if (shown == kRows && !all) continue;
    ++shown;
    add(row);
  }
  if (table.empty()) return {};
  const std::string more =
      differ > shown ? fmt::format("  and {} more: --all\n", differ - shown) : std::string();
  return "\n" + table.text() + more;
}

std::string groups_text(const PlanComparison& comparison, bool all) {
  Table table({"op group", "ops", "first", "second", "on the path", "busy"});
  for (const std::size_t column : {0, 2, 3}) table.align_left(column);
  return rows_text(comparison.groups, all, table, [&](const GroupChange& row) {
    table.add({row.name, std::to_string(row.ops), row.decision.from, row.decision.to,
               signed_time_text(row.change()), signed_time_text(row.busy.to - row.busy.from)});
  });
}

std::string variables_text(const PlanComparison& comparison, bool all) {
  Table table({"variable", "size", "first", "second", "communication"});
  for (const std::size_t column : {0, 2, 3}) table.align_left(column);
  return rows_text(comparison.variables, all, table, [&](const VariableChange& row) {
    table.add({row.name, bytes_text(row.bytes), row.synchronised.from, row.synchronised.to,
               signed_time_text(row.communication.to - row.communication.from)});
  });
}

std::string peak_text(const std::optional<DeviceUse>& use) {
  if (!use) return "-";
  return bytes_text(use->peak) + (use->fits() ? "" : " (too much)");
}

std::string share_text(const std::optional<DeviceUse>& use, Nanos time, Nanos step) {
  return use && step > Nanos(0) ? percent_text(time / step) : "-";
}

std::string devices_text(const PlanComparison& comparison) {
  Table table({"device", "memory", "then", "busy", "then", "communicates", "then"});
  const PlanFigures &from = comparison.plans.from, &to = comparison.plans.to;
  for (const DeviceChange& row : comparison.devices) {
    const auto cell = [](const std::optional<DeviceUse>& use, Nanos DeviceUse::*time, Nanos step) {
      return share_text(use, use ? (*use).*time : Nanos(0), step);
    };
    table.add({row.name, peak_text(row.use.from), peak_text(row.use.to),
               cell(row.use.from, &DeviceUse::compute_busy, from.step_time),
               cell(row.use.to, &DeviceUse::compute_busy, to.step_time),
               cell(row.use.from, &DeviceUse::communication_busy, from.step_time),
               cell(row.use.to, &DeviceUse::communication_busy, to.step_time)});
  }
  table.align_left(0);
  return "\n" + table.text();
}

std::string traffic_text(const PlanComparison& comparison) {
  Table table({"sent", "where", "bytes", "then", "messages", "then"});
  for (const TrafficChange& row : comparison.traffic)
    table.add({row.what, row.where, bytes_text(row.bytes.from), bytes_text(row.bytes.to),
               std::to_string(row.messages.from), std::to_string(row.messages.to)});
  std::string text = table.empty() ? std::string() : "\n" + table.text();
  for (const LinksChange& row : comparison.links) {
    const auto busiest = [](double busy, const std::string& which) {
      return which.empty() ? std::string("unused")
                           : fmt::format("{} {} busy", which, percent_text(busy));
    };
    text += fmt::format("  busiest link {}: {}, then {}\n", row.kind,
                        busiest(row.busiest.from, row.which.from),
                        busiest(row.busiest.to, row.which.to));
  }
  return text;
}

std::string price_rows_text(const PlanComparison& comparison) {
  Table table({"price", "an hour", "of machines used", "a step", "a million samples"});
  const auto add = [&](const PlanFigures& plan, const std::optional<PlanPrice>& price) {
    if (price)
      table.add({plan.label, price_text(price->per_hour), price_text(price->used_per_hour),
                 price_text(price->per_step), price_text(price->per_million_samples)});
  };
  add(comparison.plans.from, comparison.price.from);
  add(comparison.plans.to, comparison.price.to);
  return table.empty() ? std::string() : "\n" + table.text();
}

// --- JSON ---

Json figures_json(const PlanFigures& plan, const std::optional<PlanPrice>& price) {
  Json json = {{"label", plan.label},     {"model", plan.model},
               {"cluster", plan.cluster}, {"step_time_s", to_seconds(plan.step_time)},
               {"batch", plan.batch},     {"samples_per_s", plan.samples_per_second()},
               {"feasible", plan.fits}};
  if (!plan.fits) json["infeasible"] = plan.why_not;
  if (price)
    json["price_usd"] = {{"per_hour", price->per_hour},
                         {"used_per_hour", price->used_per_hour},
                         {"per_step", price->per_step},
                         {"per_million_samples", price->per_million_samples}};
  return json;
}

Json seconds_json(const Pair<Nanos>& times) {
  return {{"from", to_seconds(times.from)}, {"to", to_seconds(times.to)}};
}

Json match_json(const PlanComparison& comparison) {
  const OpMatch& match = comparison.match;
  return {{"same", match.same},
          {"changed", match.changed},
          {"renamed", match.renamed},
          {"only_from", match.only_from.size()},
          {"only_to", match.only_to.size()}};
}

Json causes_json(const PlanComparison& comparison) {
  Json causes = Json::array();
  for (const Cause& cause : comparison.causes)
    causes.push_back({{"reason", name_of(*cause.reason)},
                      {"what", cause.text},
                      {"from_ns", cause.from.value},
                      {"to_ns", cause.to.value},
                      {"change_ns", cause.change().value}});
  return causes;
}

Json groups_json(const PlanComparison& comparison) {
  Json groups = Json::array();
  for (const GroupChange& row : comparison.groups) {
    if (!row.differs) continue;
    groups.push_back({{"group", row.name},
                      {"ops", row.ops},
                      {"unmatched_ops", row.unmatched},
                      {"from", row.decision.from},
                      {"to", row.decision.to},
                      {"on_path_s", seconds_json(row.on_path)},
                      {"busy_s", seconds_json(row.busy)}});
  }
  return groups;
}

Json variables_json(const PlanComparison& comparison) {
  Json variables = Json::array();
  for (const VariableChange& row : comparison.variables) {
    if (!row.differs) continue;
    variables.push_back({{"variable", row.name},
                         {"bytes", row.bytes.value},
                         {"from", row.synchronised.from},
                         {"to", row.synchronised.to},
                         {"communication_s", seconds_json(row.communication)}});
  }
  return variables;
}

Json use_json(const std::optional<DeviceUse>& use, Nanos idle) {
  if (!use) return nullptr;
  return {{"peak_bytes", use->peak.value},
          {"capacity_bytes", use->capacity.value},
          {"compute_s", to_seconds(use->compute_busy)},
          {"communication_s", to_seconds(use->communication_busy)},
          {"idle_s", to_seconds(idle)}};
}

Json devices_json(const PlanComparison& comparison) {
  Json devices = Json::array();
  for (const DeviceChange& row : comparison.devices)
    devices.push_back({{"device", row.name},
                       {"from", use_json(row.use.from, row.idle.from)},
                       {"to", use_json(row.use.to, row.idle.to)}});
  return devices;
}

Json traffic_json(const PlanComparison& comparison) {
  Json traffic = Json::array();
  for (const TrafficChange& row : comparison.traffic)
    traffic.push_back({{"what", row.what},
                       {"where", row.where},
                       {"bytes", {{"from", row.bytes.from.value}, {"to", row.bytes.to.value}}},
                       {"messages", {{"from", row.messages.from}, {"to", row.messages.to}}},
                       {"time_s", seconds_json(row.time)}});
  return traffic;
}

// --- more than two plans ---

// "1", "2", ...: columns of plans, whose names may be long.
std::vector<std::string> plan_columns(std::vector<std::string> before, const PlanMatrix& matrix) {
  for (std::size_t p = 0; p < matrix.plans.size(); ++p) before.push_back(std::to_string(p + 1));
  return before;
}

std::string matrix_plans_text(const PlanMatrix& matrix) {
  Table table({"", "plan", "step time", "a sample", "samples/s", "fullest device",
               "between machines", "price", "model", "cluster"});
  table.align_left(1);
  for (std::size_t p = 0; p < matrix.plans.size(); ++p) {
    const MatrixPlan& plan = matrix.plans[p];
    const PlanFigures& figures = plan.figures;
    table.add({std::to_string(p + 1), figures.label, time_text(figures.step_time),
               p == matrix.best() ? "best" : fmt::format("{:+.1f} %", 100 * matrix.above_best(p)),
               significant_text(figures.samples_per_second()),
               fmt::format("{} of {}{}", bytes_text(plan.peak), bytes_text(plan.capacity),
                           figures.fits ? "" : " (too much)"),
               bytes_text(plan.sent_between),
               plan.price ? price_text(plan.price->per_million_samples) + " a million" : "-",
               figures.model, figures.cluster});
  }
  return table.text();
}

std::vector<std::string> time_cells(const std::string& name, const std::vector<Nanos>& times) {
  std::vector<std::string> cells = {name};
  for (const Nanos time : times) cells.push_back(time_text(time));
  return cells;
}

std::string matrix_causes_text(const PlanMatrix& matrix, bool all) {
  Table table(plan_columns({"of the step"}, matrix));
  std::size_t shown = 0;
  std::vector<Nanos> others(matrix.plans.size());
  for (const MatrixCause& cause : matrix.causes) {
    if (all || shown++ < kCauses) {
      table.add(time_cells(cause.text, cause.times));
    } else {
      for (std::size_t p = 0; p < others.size(); ++p) others[p] += cause.times[p];
    }
  }
  if (!all && matrix.causes.size() > kCauses)
    table.add(time_cells(fmt::format("{} other causes", matrix.causes.size() - kCauses), others));
  std::vector<Nanos> steps;
  for (const MatrixPlan& plan : matrix.plans) steps.push_back(plan.figures.step_time);
  table.add(time_cells("step time", steps));
  table.align_left(0);
  return "\n" + table.text();
}

// Words where the plans differ, and how long it takes in each.
std::string matrix_rows_text(const std::vector<MatrixRow>& rows, const PlanMatrix& matrix,
                             const char* name, bool all) {
  Table table(plan_columns({name}, matrix));
  for (std::size_t column = 0; column <= matrix.plans.size(); ++column) table.align_left(column);
  return rows_text(rows, all, table, [&](const MatrixRow& row) {
    std::vector<std::string> cells = {row.name};
    for (std::size_t p = 0; p < row.decisions.size(); ++p)
      cells.push_back(fmt::format("{}, {}", row.decisions[p], time_text(row.times[p])));
    table.add(std::move(cells));
  });
}

Json matrix_causes_json(const PlanMatrix& matrix) {
  Json json = Json::array();
  for (const MatrixCause& cause : matrix.causes) {
    Json times = Json::array();
    for (const Nanos time : cause.times) times.push_back(time.value);
    json.push_back({{"what", cause.text}, {"time_ns", std::move(times)}});
  }
  return json;
}

Json matrix_rows_json(const std::vector<MatrixRow>& rows) {
  Json json = Json::array();
  for (const MatrixRow& row : rows) {
    if (!row.differs) continue;
    Json times = Json::array();
    for (const Nanos time : row.times) times.push_back(to_seconds(time));
    json.push_back({{"name", row.name}, {"plans", row.decisions}, {"time_s", std::move(times)}});
  }
  return json;
}

}  // namespace

std::string matrix_text(const PlanMatrix& matrix, bool all) {
  std::string text = sentence_of(matrix) + "\n\n" + matrix_plans_text(matrix);
  for (const MatrixPlan& plan : matrix.plans)
    if (plan.unmatched_ops > 0)
      text += fmt::format("  {}: {} ops are not in the model of the last plan\n",
                          plan.figures.label, plan.unmatched_ops);
  return text + matrix_causes_text(matrix, all) +
         matrix_rows_text(matrix.groups, matrix, "op group, on the path", all) +
         matrix_rows_text(matrix.variables, matrix, "variable, travels", all);
}

Json matrix_json(const PlanMatrix& matrix) {
  Json plans = Json::array();
  for (const MatrixPlan& plan : matrix.plans) {
    Json json = figures_json(plan.figures, plan.price);
    json["fullest_device"] = plan.fullest;
    json["peak_bytes"] = plan.peak.value;
    json["capacity_bytes"] = plan.capacity.value;
    json["sent_between_machines_bytes"] = plan.sent_between.value;
    json["sent_in_machines_bytes"] = plan.sent_inside.value;
    json["unmatched_ops"] = plan.unmatched_ops;
    plans.push_back(std::move(json));
  }
  return {{"summary", sentence_of(matrix)},
          {"plans", std::move(plans)},
          {"best", matrix.best()},
          {"causes", matrix_causes_json(matrix)},
          {"same_model", matrix.same_model},
          {"same_cluster", matrix.same_cluster},
          {"groups", matrix_rows_json(matrix.groups)},
          {"variables", matrix_rows_json(matrix.variables)}};
}

Json comparison_json(const PlanComparison& comparison) {
  return {{"summary", comparison.sentence},
          {"change_s", to_seconds(comparison.change())},
          {"from", figures_json(comparison.plans.from, comparison.price.from)},
          {"to", figures_json(comparison.plans.to, comparison.price.to)},
          {"same_cluster", comparison.same_cluster},
          {"ops", match_json(comparison)},
          {"causes", causes_json(comparison)},
          {"groups", groups_json(comparison)},
          {"variables", variables_json(comparison)},
          {"others", comparison.others},
          {"devices", devices_json(comparison)},
          {"traffic", traffic_json(comparison)}};
}

std::string comparison_text(const PlanComparison& comparison, bool all) {
  std::string text = comparison.sentence + "\n\n" + plans_text(comparison);
  if (!comparison.match.same_graph)
    text += "\nThe models differ: " + text_of(comparison.match) + ".\n";
  text +=
      causes_text(comparison, all) + groups_text(comparison, all) + variables_text(comparison, all);
  for (const std::string& line : comparison.others) text += "  " + line + "\n";
  return text + devices_text(comparison) + traffic_text(comparison) + price_rows_text(comparison);
}

}  // namespace strato::cli
