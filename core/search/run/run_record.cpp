#include "core/search/run/run_record.h"

#include <fmt/format.h>

#include <cmath>

#include "core/base/error.h"
#include "core/io/json.h"
#include "core/search/constraints/constraints.h"
#include "core/strategy/file/schedule_json.h"

namespace strato {
namespace {

Json costs_json(const RunCosts& costs) {
  Json json = {{"are", costs.are}};
  if (!costs.files.profiles.empty()) json["profiles"] = costs.files.profiles;
  if (!costs.files.calibration.empty()) json["calibration"] = costs.files.calibration;
  return json;
}

RunCosts read_run_costs(const JsonView& view) {
  RunCosts costs;
  costs.are = view.at("are").string();
  if (const auto profiles = view.find("profiles"))
    for (const JsonView& file : profiles->items()) costs.files.profiles.push_back(file.string());
  if (const auto calibration = view.find("calibration"))
    costs.files.calibration = calibration->string();
  return costs;
}

PlanResult::Curve read_curve(const JsonView& view) {
  PlanResult::Curve curve{view.at("title").string(),
                          view.at("name").string(),
                          view.at("x").string(),
                          view.at("y").string(),
                          {}};
  for (const JsonView& point : view.at("points").items()) {
    const std::vector<JsonView> pair = point.items();
    if (pair.size() != 2) point.fail("is no point", "give two numbers");
    curve.points.emplace_back(pair[0].number(), pair[1].number());
  }
  return curve;
}

}  // namespace

std::optional<RunCosts> run_costs(const CostFiles& files, const CostSources& sources) {
  std::string are = describe(sources);
  if (are.empty()) return std::nullopt;
  return RunCosts{absolute(files), std::move(are)};
}

std::string run_options_text(const RunOptions& options) {
  Json json = {{"iterations", options.planner.iterations},
               {"budget", options.planner.budget_seconds},
               {"seed", options.planner.seed},
               {"set", options.planner.set}};
  if (options.planner.constraints && !options.planner.constraints->empty())
    json["constraints"] = Json::parse(constraints_json(*options.planner.constraints));
  if (const MicroBatches& micro_batches = options.planner.micro_batches; micro_batches.count > 1)
    json["micro_batches"] = {{"count", micro_batches.count},
                             {"schedule", schedule_to_json(micro_batches)}};
  if (options.planner.tensor > 1) json["tensor"] = options.planner.tensor;
  if (options.planner.recompute != Recompute::None)
    json["recompute"] = name_of(options.planner.recompute);
  if (options.planner.offload != Offload::None) json["offload"] = name_of(options.planner.offload);
  if (options.costs) json["costs"] = costs_json(*options.costs);
  return json_text(json);
}

RunOptions parse_run_options(const std::string& text, const std::string& name) {
  RunOptions options;
  if (text.empty()) return options;
  const JsonView view = JsonView::parse(text, name);
  PlannerOptions& planner = options.planner;
  if (const auto count = view.find("iterations")) planner.iterations = count->integer(1);
  if (const auto budget = view.find("budget")) planner.budget_seconds = budget->number(0);
  if (const auto seed = view.find("seed")) planner.seed = seed->json().get<std::uint64_t>();
  if (const auto set = view.find("set"); set && set->is_object())
    for (const auto& [key, value] : set->members()) planner.set[key] = value.string();
  if (const auto constraints = view.find("constraints"))
    planner.constraints = std::make_shared<const Constraints>(
        parse_constraints(json_text(constraints->json()), name));
  if (const auto micro_batches = view.find("micro_batches")) {
    planner.micro_batches.count =
        static_cast<std::int32_t>(micro_batches->at("count").integer(1, 1 << 20));
    read_schedule(micro_batches->at("schedule"), planner.micro_batches);
  }
  if (const auto tensor = view.find("tensor"))
    planner.tensor = static_cast<std::int32_t>(tensor->integer(1, 1 << 20));
  if (const auto recompute = view.find("recompute")) {
    const auto known = recompute_from(recompute->string());
    if (!known) recompute->fail("names no ops to compute again", "start a new search");
    planner.recompute = *known;
  }
  if (const auto offload = view.find("offload")) {
    const auto known = offload_from(offload->string());
    if (!known) offload->fail("names nothing to keep on hosts", "start a new search");
    planner.offload = *known;
  }
  if (const auto costs = view.find("costs")) options.costs = read_run_costs(*costs);
  return options;
}

CostSources restore_costs(const RunCosts& costs, const std::string& file, const std::string& place,
                          std::vector<std::string>* warnings) {
  const char* remedy = "put the file back as it was, or plan again";
  CostSources sources;
  try {
    sources = read_costs(costs.files, warnings);
  } catch (const InputError& error) {
    throw InputError(file, place,
                     fmt::format("was made with the costs of {}, which cannot be read: {}: {}",
                                 costs.are, error.file(), error.problem()),
                     remedy);
  }
  if (const std::string now = describe(sources); now != costs.are) {
    throw InputError(file, place,
                     fmt::format("was made with the costs of {}, and its files hold {} now",
                                 costs.are, now.empty() ? "others" : now),
                     remedy);
  }
  return sources;
}

std::string note_with_facts(const PlanResult& result) {
  std::string note = result.note;
  for (const auto& [name, value] : result.facts)
    note += fmt::format("{}{}: {}", note.empty() ? "" : "; ", name, value);
  return note;
}

std::string curves_text(const std::vector<PlanResult::Curve>& curves) {
  Json list = Json::array();
  for (const PlanResult::Curve& curve : curves) {
    Json points = Json::array();
    for (const auto& [x, y] : curve.points)
      if (std::isfinite(x) && std::isfinite(y)) points.push_back(Json::array({x, y}));
    list.push_back({{"title", curve.title},
                    {"name", curve.name},
                    {"x", curve.x},
                    {"y", curve.y},
                    {"points", std::move(points)}});
  }
  return json_text(list);
}

std::vector<PlanResult::Curve> parse_curves(const std::string& text, const std::string& name) {
  std::vector<PlanResult::Curve> curves;
  for (const JsonView& curve : JsonView::parse(text, name).items())
    curves.push_back(read_curve(curve));
  return curves;
}

std::string curves_key(std::int64_t run) { return fmt::format("run/{}/curves", run); }

}  // namespace strato
