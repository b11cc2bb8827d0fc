// what-if: a plan on a changed problem, beside one that is planned anew; curves over one parameter,
// and scaling tables.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cctype>
#include <cmath>

#include "app/cli/command.h"
#include "app/cli/context.h"
#include "app/cli/interrupt.h"
#include "app/cli/output.h"
#include "app/cli/recorder.h"
#include "app/cli/simulation_options.h"
#include "core/base/error.h"
#include "core/base/number_from.h"
#include "core/base/quantity_text.h"
#include "core/cluster/spec/gpu_catalogue.h"
#include "core/graph/build/copy_graph.h"
#include "core/io/file.h"
#include "core/search/evaluate/baselines.h"
#include "core/search/evaluate/outcome.h"
#include "core/search/run/run_planner.h"
#include "core/search/run/what_if_curve.h"

namespace strato::cli {
namespace {

struct WhatIfCommand {
  PlanSource source;
  std::vector<std::string> changes;
  std::string curve, scaling, replan, save_cluster;
  std::int64_t iterations = 200;
  std::uint64_t seed = 1;
  SimulationOptions simulation;

  Simulate simulate() const {
    return [options = simulation.options()](const Problem& problem, const Strategy& strategy) {
      return simulate_outline(problem, strategy, false, options);
    };
  }
};

double number_in(std::string_view text, const std::string& option) {
  if (const auto value = number_from<double>(text)) return *value;
  throw InputError("", option, fmt::format("\"{}\" is not a number", text), "give a number");
}

std::int64_t whole_in(std::string_view text, const std::string& option) {
  const double value = number_in(text, option);
  if (value != std::floor(value) || std::abs(value) > 1e12)
    throw InputError("", option, fmt::format("\"{}\" is not a whole number", text),
                     "give a whole number");
  return static_cast<std::int64_t>(value);
}

std::string axis_names() {
  std::string names;
  for (int axis = 0; axis < kWhatIfAxes; ++axis)
    names += (axis > 0 ? ", " : "") + std::string(name_of(static_cast<WhatIfAxis>(axis)));
  return names;
}

// "network=2", "batch=64", "v100=3".
ProblemChange parse_changes(const std::vector<std::string>& texts, const Problem& problem) {
  ProblemChange change;
  const std::vector<MachineKind> kinds = machine_kinds(*problem.cluster);
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : text.substr(equals + 1);
    if (const auto axis = what_if_axis_from(name)) {
      change =
          with_value(change, *axis,
                     *axis == WhatIfAxis::Batch
                         ? static_cast<double>(std::max<std::int64_t>(0, whole_in(value, text)))
                         : number_in(value, text));
      if (*axis == WhatIfAxis::Batch) change.batch = whole_in(value, text);
    } else if (name == "bandwidth") {
      change.cluster.network_bandwidth = change.cluster.machine_bandwidth = number_in(value, text);
    } else if (name == "precision") {
      change.precision = precision_from(value);
    } else if (std::ranges::find(kinds, name, &MachineKind::name) != kinds.end()) {
      // Names of GPUs are looked up where the cluster is changed: it may have its own.
      const bool is_name = !value.empty() && std::isalpha(static_cast<unsigned char>(value[0]));
      if (is_name || GpuCatalogue::bundled().find(value) != nullptr) {
        change.cluster.gpus[name] = value;
      } else {
        change.cluster.machines[name] = whole_in(value, text);
      }
    } else {
      std::string known = axis_names() + ", bandwidth, precision";
      for (const MachineKind& kind : kinds) known += ", " + kind.name;
      throw InputError("", text, "is no change of the problem",
                       fmt::format("write NAME=VALUE with one of {}", known));
    }
  }
  return change;
}

Json json_of(const StepFigures& figures, const Cluster& cluster) {
  Json json = {{"step_time_s", to_seconds(figures.step_time)},
               {"samples_per_s", figures.samples_per_second},
               {"efficiency", figures.efficiency},
               {"feasible", figures.feasible},
               {"fullest_device", cluster.device(figures.fullest).name},
               {"peak_bytes", figures.peak.value},
               {"capacity_bytes", figures.capacity.value}};
  if (figures.per_million_samples) json["usd_per_million_samples"] = *figures.per_million_samples;
  return json;
}

Json json_of(const WhatIfPoint& point) {
  if (!point.problem.empty()) return {{"problem", point.problem}};
  const auto figures = [](const StepFigures& each) -> Json {
    Json json = {{"step_time_s", to_seconds(each.step_time)},
                 {"samples_per_s", each.samples_per_second},
                 {"efficiency", each.efficiency},
                 {"feasible", each.feasible}};
    if (each.per_million_samples) json["usd_per_million_samples"] = *each.per_million_samples;
    return json;
  };
  return {{"strategy", figures(point.strategy)}, {"data_parallel", figures(point.data_parallel)}};
}

const std::vector<std::string> kColumns = {"step time", "samples/s",    "efficiency",
                                           "dp step",   "dp samples/s", "dp efficiency"};

// What is wrong stands in the first of as many cells as rows without a problem have.
std::vector<std::string> problem_cells(const WhatIfPoint& point, std::size_t count) {
  std::vector<std::string> cells(count, "-");
  cells.front() = point.problem;
  return cells;
}

std::vector<std::string> cells_of(const WhatIfPoint& point) {
  if (!point.problem.empty()) return problem_cells(point, kColumns.size());
  std::vector<std::string> cells;
  for (const StepFigures* each : {&point.strategy, &point.data_parallel}) {
    cells.push_back(time_text(each->step_time) + (each->feasible ? "" : " (does not fit)"));
    cells.push_back(fmt::format("{:.4g}", each->samples_per_second));
    cells.push_back(percent_text(each->efficiency));
  }
  return cells;
}

std::vector<std::string> joined(std::vector<std::string> left,
                                const std::vector<std::string>& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

// A run of what-ifs on one plan.
class Report {
 public:
  // `interrupt` ends planning anew, with the best so far.
  Report(const WhatIfCommand& options, LoadedPlan plan, Interrupt& interrupt)
      : options_(options),
        interrupt_(interrupt),
        plan_(std::move(plan)),
        changer_(plan_.problem, options.source.costs.sources()),
        simulate_(options.simulate()) {}

  void change() {
    change_ = parse_changes(options_.changes, plan_.problem);
    const ChangedProblem changed = changer_.apply(change_);
    for (const std::string& line : changed.remarks) remark(line);
    const auto figures = [&](const Problem& problem, const Strategy& strategy) {
      return figures_of(problem, simulate_(problem, strategy));
    };
    const StepFigures before = figures(plan_.problem, plan_.strategy);
    const StepFigures now = figures(changed.problem, carry_over(plan_.strategy, changed));
    const StepFigures dp = figures(changed.problem, data_parallel(changed.problem));
    feasible_ = now.feasible;
    json_ = {{"change", describe(change_)},
             {"before", json_of(before, *plan_.problem.cluster)},
             {"strategy", json_of(now, *changed.problem.cluster)},
             {"data_parallel", json_of(dp, *changed.problem.cluster)},
             {"remarks", changed.remarks}};
    Table table(
        {describe(change_), "step time", "samples/s", "efficiency", "price", "fullest device"});
    table.align_left(5);
    const auto add = [&](const std::string& name, const StepFigures& each, const Cluster& cluster) {
      table.add(
          {name, time_text(each.step_time), fmt::format("{:.4g}", each.samples_per_second),
           percent_text(each.efficiency),
           each.per_million_samples
               ? fmt::format("${} a million", significant_text(*each.per_million_samples))
               : "-",
           fmt::format("{}: {} of {}{}", cluster.device(each.fullest).name, bytes_text(each.peak),
                       bytes_text(each.capacity), each.feasible ? "" : ", does not fit")});
    };
    add("the plan today", before, *plan_.problem.cluster);
    add("the plan then", now, *changed.problem.cluster);
    if (!options_.replan.empty()) {
      const PlanResult anew = planned_anew(changed);
      const Problem in_groups = problem_for(changed.problem, anew.strategy);
      const StepFigures found = figures(in_groups, anew.strategy);
      json_["replanned"] = json_of(found, *changed.problem.cluster);
      json_["replanned"]["planner"] = options_.replan;
      json_["replanned"]["evaluations"] = anew.evaluations;
      json_["replanned"]["note"] = anew.note;
      add("planned anew by " + options_.replan, found, *changed.problem.cluster);
    }
    add("data parallel then", dp, *changed.problem.cluster);
    if (!options_.save_cluster.empty())
      write_file(options_.save_cluster, cluster_to_keep(plan_.problem.cluster, change_)->json());
    text_ += table.text();
  }

  void curve() {
    const std::string& given = options_.curve;
    const std::string name = given.substr(0, given.find('='));
    if (name == "devices") return device_curve();
    const auto axis = what_if_axis_from(name);
    if (!axis)
      throw InputError("", "--curve", fmt::format("\"{}\" is no parameter", name),
                       "one of " + axis_names() + ", devices");
    Table table(joined({std::string(name_of(*axis))}, kColumns));
    Json points = Json::array();
    for (const double value : values_of(*axis)) {
      const WhatIfPoint point =
          what_if_point(changer_, plan_.strategy, with_value(change_, *axis, value), simulate_);
      table.add(joined({fmt::format("{:.4g}", value)}, cells_of(point)));
      Json entry = json_of(point);
      entry["value"] = value;
      points.push_back(std::move(entry));
    }
    json_["curve"] = {{"over", name_of(*axis)}, {"points", std::move(points)}};
    text_ += "\n" + table.text();
  }

  void scaling() {
    const std::string& given = options_.scaling;
    const std::size_t equals = given.find('=');
    const std::string name = given.substr(0, equals);
    const MachineKind kind = kind_called(name, "--scaling");
    const std::int64_t most =
        equals == std::string::npos ? 16 : whole_in(given.substr(equals + 1), "--scaling");
    Table table(joined({name, "devices", "scaling", "batch"}, kColumns));
    table.align_left(2);
    Json points = Json::array();
    for (const ScalingPoint& at : scaling_points(plan_.problem, change_, kind, most)) {
      Json entry = {{"machines", at.machines}, {"devices", at.devices}};
      for (const bool weak : {false, true}) {
        const ProblemChange& change = weak ? at.weak : at.strong;
        const WhatIfPoint point = what_if_point(changer_, plan_.strategy, change, simulate_);
        const std::int64_t batch = change.batch.value_or(plan_.problem.graph->batch());
        table.add(joined({std::to_string(at.machines), std::to_string(at.devices),
                          weak ? "weak" : "strong", std::to_string(batch)},
                         cells_of(point)));
        Json& part = entry[weak ? "weak" : "strong"] = json_of(point);
        part["batch"] = batch;
      }
      points.push_back(std::move(entry));
    }
    json_["scaling"] = {{"kind", name}, {"points", std::move(points)}};
    text_ += "\n" + table.text();
  }

  // Step time, efficiency and price over the number of a kind of machines, strong and weak; with a
  // planner each is planned anew, too.
  void device_curve() {
    const auto [kind, most] = machines_of_curve();
    std::vector<std::string> heads = {kind.name, "devices", "scaling", "batch"};
    std::vector<std::string> lines = {"", "dp "};
    if (!options_.replan.empty()) lines.emplace_back("anew ");
    for (const std::string& line : lines)
      for (const char* head : {"step time", "efficiency", "$ a million"})
        heads.push_back(line + head);
    Table table(heads);
    table.align_left(2);
    Json points = Json::array();
    for (const bool weak : {false, true}) {
      for (const ScalingPoint& at : scaling_points(plan_.problem, change_, kind, most)) {
        const ProblemChange& change = weak ? at.weak : at.strong;
        const WhatIfPoint point = what_if_point(changer_, plan_.strategy, change, simulate_);
        const std::int64_t batch = change.batch.value_or(plan_.problem.graph->batch());
        std::vector<std::string> cells = {std::to_string(at.machines), std::to_string(at.devices),
                                          weak ? "weak" : "strong", std::to_string(batch)};
        Json entry = json_of(point);
        entry["machines"] = at.machines;
        entry["devices"] = at.devices;
        entry["scaling"] = weak ? "weak" : "strong";
        entry["batch"] = batch;
        if (point.problem.empty()) {
          add_curve_cells(point.strategy, cells);
          add_curve_cells(point.data_parallel, cells);
          if (!options_.replan.empty()) add_anew(change, cells, entry);
        } else {
          cells = joined(cells, problem_cells(point, heads.size() - cells.size()));
        }
        table.add(std::move(cells));
        points.push_back(std::move(entry));
      }
    }
    json_["curve"] = {{"over", "devices"}, {"kind", kind.name}, {"points", std::move(points)}};
    text_ += "\n" + table.text();
  }

  int finish(const Command& command) {
    json_["wall_s"] = command.wall_seconds();
    print(command.json ? json_text(json_) + "\n" : text_);
    return feasible_ ? Done : Infeasible;
  }

 private:
  MachineKind kind_called(const std::string& name, const char* option) const {
    const std::vector<MachineKind> kinds = machine_kinds(*plan_.problem.cluster);
    const auto kind = std::ranges::find(kinds, name, &MachineKind::name);
    if (kind != kinds.end()) return *kind;
    std::vector<std::string> names;
    for (const MachineKind& each : kinds) names.push_back(each.name);
    throw InputError("", option, fmt::format("\"{}\" is no kind of machine", name),
                     fmt::format("one of {}", fmt::join(names, ", ")));
  }

  // "devices", "devices=v100" or "devices=v100:8": the kind, and the most machines of it.
  std::pair<MachineKind, std::int64_t> machines_of_curve() const {
    const std::string& given = options_.curve;
    const std::size_t equals = given.find('='), colon = given.rfind(':');
    if (equals == std::string::npos) return {machine_kinds(*plan_.problem.cluster).front(), 16};
    const bool limited = colon != std::string::npos && colon > equals;
    const std::string name =
        given.substr(equals + 1, limited ? colon - equals - 1 : std::string::npos);
    return {kind_called(name, "--curve"),
            limited ? whole_in(given.substr(colon + 1), "--curve") : 16};
  }

  static void add_curve_cells(const StepFigures& figures, std::vector<std::string>& cells) {
    cells.push_back(time_text(figures.step_time) + (figures.feasible ? "" : " (does not fit)"));
    cells.push_back(percent_text(figures.efficiency));
    cells.push_back(figures.per_million_samples ? significant_text(*figures.per_million_samples)
                                                : "-");
  }

  // Nothing once it was interrupted.
  void add_anew(const ProblemChange& change, std::vector<std::string>& cells, Json& entry) {
    if (interrupt_.requested()) return cells.push_back("-");
    const ChangedProblem changed = changer_.apply(change);
    const Strategy anew = planned_anew(changed).strategy;
    const Problem in_groups = problem_for(changed.problem, anew);
    const StepFigures figures = figures_of(in_groups, simulate_(in_groups, anew));
    add_curve_cells(figures, cells);
    entry["replanned"] = json_of(figures, *changed.problem.cluster);
  }

  // Searches start from the plan as it is.
  PlanResult planned_anew(const ChangedProblem& changed) {
    PlannerOptions options;
    options.iterations = options_.iterations;
    options.seed = options_.seed;
    const Strategy carried = carry_over(plan_.strategy, changed);
    if (!carried.grouping) options.seeds = {carried};
    Recorder progress(changed.problem, options_.replan, options);
    interrupt_.arm();
    PlanResult result = run_planner(*plugins().planner(options_.replan), changed.problem, options,
                                    progress, interrupt_.token());
    progress.finish(&result, interrupt_.requested() ? RunState::Stopped : RunState::Finished);
    if (interrupt_.requested()) remark("stopped: planned anew is the best so far");
    return result;
  }

  // "network", or "network=0.25:8" or "network=0.25:8:12".
  std::vector<double> values_of(WhatIfAxis axis) const {
    const std::string& given = options_.curve;
    const std::size_t equals = given.find('=');
    if (equals == std::string::npos) return usual_values(axis, plan_.problem);
    std::vector<std::string> parts;
    for (std::size_t at = equals + 1; at <= given.size();) {
      const std::size_t end = std::min(given.find(':', at), given.size());
      parts.push_back(given.substr(at, end - at));
      at = end + 1;
    }
    if (parts.size() < 2 || parts.size() > 3)
      throw InputError("", "--curve", fmt::format("\"{}\" is no range", given.substr(equals + 1)),
                       "write NAME=LOW:HIGH or NAME=LOW:HIGH:POINTS");
    const std::int64_t points = parts.size() == 3 ? whole_in(parts[2], "--curve") : 11;
    return what_if_values(axis, number_in(parts[0], "--curve"), number_in(parts[1], "--curve"),
                          static_cast<int>(std::clamp<std::int64_t>(points, 0, 100000)));
  }

  const WhatIfCommand& options_;
  Interrupt& interrupt_;
  LoadedPlan plan_;
  ProblemChanger changer_;
  Simulate simulate_;
  ProblemChange change_;
  bool feasible_ = true;
  Json json_;
  std::string text_;
};

int what_if(const WhatIfCommand& options, const Command& command) {
  if (!options.replan.empty()) plugins().planner(options.replan);  // refuses an unknown one
  check_writable(options.save_cluster, options.source.files());
  Interrupt interrupt;
  LoadedPlan plan = load_plan(options.source);
  for (const std::string& line : plan.unmatched) remark(line);
  Report report(options, std::move(plan), interrupt);
  report.change();
  if (!options.curve.empty()) report.curve();
  if (!options.scaling.empty()) report.scaling();
  return report.finish(command);
}

}  // namespace

void add_what_if(CLI::App& app, Command& command) {
  CLI::App* sub =
      add_command(app, command, "what-if",
                  "Simulate a plan on a changed problem, beside one that is planned anew");
  const auto options = std::make_shared<WhatIfCommand>();
  options->source.declare(*sub);
  sub->add_option("CHANGE", options->changes,
                  "NAME=VALUE, any number. batch=N; factors: network (bandwidth between machines), "
                  "links (bandwidth inside machines), bandwidth (both), latency, speed (of "
                  "devices), memory; precision=float16; or a kind of machines and how many "
                  "(v100=3), or which GPUs they have (v100=A100-SXM4-40GB)");
  sub->add_option(
      "--curve", options->curve,
      "Also a table over one parameter: NAME, NAME=LOW:HIGH or NAME=LOW:HIGH:POINTS; or "
      "over the number of devices, strong and weak: devices, devices=KIND or "
      "devices=KIND:MOST machines. The plan is carried over to the devices that there "
      "are; with --replan it is also planned anew for each number");
  sub->add_option("--scaling", options->scaling,
                  "Also strong and weak scaling over the number of a kind of machines: KIND or "
                  "KIND=MOST");
  sub->add_option("--replan", options->replan,
                  "Also plan the changed problem anew, with this planner: see list planners");
  sub->add_option("--iterations", options->iterations, "Of the planner")
      ->capture_default_str()
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000'000}));
  sub->add_option("--seed", options->seed, "Of the planner")->capture_default_str();
  sub->add_option("--save-cluster", options->save_cluster,
                  "Also write the changed cluster, as a file to plan for");
  options->simulation.declare(*sub, "fifo; priority: the plan's own");
  sub->callback([options, &command] {
    command.action = [=, &command] { return what_if(*options, command); };
  });
}

}  // namespace strato::cli
