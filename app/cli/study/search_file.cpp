#include "app/cli/study/search_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "app/cli/study/limits.h"
#include "core/io/file.h"
#include "core/io/json.h"

namespace strato::cli {
namespace {

constexpr std::string_view kStepTimes = "step-times";
constexpr int kMostGpus = 1024;
constexpr std::array<std::string_view, 7> kKinds = {
    "speedup", "sfb", "iterations", "strategy", "duplicated", "placements", "splits"};
constexpr std::array<std::string_view, 7> kMeasures = {
    "step-time", "planning-time", "curve", "nodes", "fused-nodes", "ccr", "fused-ccr"};

Measure measure_from(const JsonView& json) {
  const std::string text = json.string();
  const auto found = std::find(kMeasures.begin(), kMeasures.end(), text);
  if (found == kMeasures.end())
    json.fail(fmt::format("is \"{}\"", text), fmt::format("write {}", fmt::join(kMeasures, ", ")));
  return static_cast<Measure>(found - kMeasures.begin());
}

SearchStudyKind kind_from(const JsonView& json) {
  const std::string text = json.string();
  const auto found = std::find(kKinds.begin(), kKinds.end(), text);
  if (found == kKinds.end()) {
    json.fail(fmt::format("is \"{}\"", text),
              fmt::format("write {} or {}", kStepTimes, fmt::join(kKinds, ", ")));
  }
  return static_cast<SearchStudyKind>(found - kKinds.begin());
}

SearchColumn read_column(const JsonView& json, const SearchColumn& common, SearchStudyKind kind) {
  json.allow_only({"label", "planner", "cluster", "gpus", "over", "set", "range", "gpu", "exchange",
                   "measure", "curve", "iterations"});
  SearchColumn column = common;
  column.label = json.at("label").string();
  if (const auto planner = json.find("planner")) column.planner = planner->string();
  if (const auto cluster = json.find("cluster")) column.cluster = cluster->string();
  if (const auto gpus = json.find("gpus"))
    column.gpus = static_cast<int>(gpus->integer(1, kMostGpus));
  if (const auto measure = json.find("measure")) column.measure = measure_from(*measure);
  if (const auto curve = json.find("curve")) column.curve = curve->string();
  if (column.curve.empty() == (column.measure == Measure::Curve))
    json.fail("has one of a measure \"curve\" and the curve's name",
              "give both, or neither: {\"measure\": \"curve\", \"curve\": \"Hit rate\"}");
  if (const auto count = json.find("iterations")) column.iterations = count->integer(1, 1'000'000);
  if (const auto over = json.find("over")) column.over = over->string();
  if (const auto gpu = json.find("gpu")) column.gpu = gpu->string();
  if (const auto exchange = json.find("exchange")) column.exchange = exchange->string();
  if (const auto set = json.find("set")) {
    for (const auto& [key, value] : set->members()) column.set[key] = value.string();
  }
  if (const auto range = json.find("range")) {
    const auto ends = range->items();
    if (ends.size() != 2) range->fail("is not two numbers", "write [lowest, highest]");
    column.range = {ends[0].number(-kMostValue, kMostValue),
                    ends[1].number(-kMostValue, kMostValue)};
  }
  if (column.planner.empty() && !is_of_fusion(column.measure))
    json.fail("names no planner", "add \"planner\"");
  if (column.cluster.empty() && kind != SearchStudyKind::Iterations)
    json.fail("names no cluster", "add \"cluster\", here or for the whole study");
  if (kind == SearchStudyKind::Speedup && column.over.empty())
    json.fail("does not say what it is faster than", "add \"over\": a planner");
  if (kind == SearchStudyKind::Strategy && column.gpu.empty() == column.exchange.empty())
    json.fail("does not say what is counted", "add \"gpu\": a type, or \"exchange\"");
  if (!column.exchange.empty() && column.exchange != "ps" && column.exchange != "allreduce")
    json.at("exchange").fail(fmt::format("is \"{}\"", column.exchange), "write ps or allreduce");
  return column;
}

Reported read_reported(const JsonView& json) {
  if (json.is_null()) return {};
  if (!json.is_string()) return json.number(-kMostValue, kMostValue);
  if (json.string() != "OOM") {
    json.fail(fmt::format("is \"{}\"", json.string()), "write a number, \"OOM\" or null");
  }
  return OutOfMemory{};
}

SearchRow read_row(const JsonView& json, std::size_t columns) {
  json.allow_only({"label", "model", "batch", "dimensions", "cluster", "gpus", "over", "values"});
  SearchRow row;
  row.label = json.at("label").string();
  row.model = json.at("model").string();
  row.batch = json.at("batch").integer(1, kMaxBatch);
  if (const auto dimensions = json.find("dimensions")) {
    for (const auto& [name, value] : dimensions->members())
      row.dimensions[name] = value.integer(1, kMaxBatch);
  }
  if (const auto cluster = json.find("cluster")) row.cluster = cluster->string();
  if (const auto gpus = json.find("gpus")) row.gpus = static_cast<int>(gpus->integer(1, kMostGpus));
  if (const auto over = json.find("over")) row.over = over->string();
  row.values.resize(columns);
  const auto values = json.find("values");
  if (!values) return row;
  const std::vector<JsonView> items = values->items();
  if (items.size() != columns) {
    values->fail(
        fmt::format("has {} values", items.size()),
        fmt::format("give one for each of the {} columns, null where the paper has none", columns));
  }
  for (std::size_t i = 0; i < columns; ++i) row.values[i] = read_reported(items[i]);
  return row;
}

OpTypeRow read_op_type(const JsonView& json) {
  json.allow_only({"label", "types", "value"});
  OpTypeRow row;
  row.label = json.at("label").string();
  for (const JsonView& type : json.at("types").items()) row.types.push_back(type.string());
  row.reported = json.at("value").number(0, kMostValue);
  return row;
}

OpRow read_op(const JsonView& json) {
  json.allow_only({"label", "op", "milliseconds", "thousand_parameters", "split"});
  OpRow row;
  row.label = json.at("label").string();
  row.op = json.at("op").string();
  if (const auto time = json.find("milliseconds")) row.milliseconds = time->number(0, kMostValue);
  if (const auto size = json.find("thousand_parameters"))
    row.thousand_parameters = size->number(0, kMostValue);
  row.is_split = json.at("split").boolean();
  return row;
}

bool per_gpu(const JsonView& json) {
  const std::string text = json.string();
  if (text != "global" && text != "per-gpu")
    json.fail(fmt::format("is \"{}\"", text), "write global or per-gpu");
  return text == "per-gpu";
}

SearchStudy read_searches(const JsonView& root, SearchStudyKind kind, const std::string& file) {
  root.allow_only({"format",      "version",    "kind",     "name",    "source",  "note",
                   "calibration", "iterations", "groups",   "floor",   "batch",   "topologies",
                   "first_seed",  "cluster",    "gpus",     "planner", "columns", "rows",
                   "op_types",    "ops",        "framework"});
  SearchStudy study;
  study.kind = kind;
  study.file = file;
  study.name = root.at("name").string();
  study.source = root.at("source").string();
  if (const auto name = root.find("calibration")) study.calibration = name->string();
  if (const auto count = root.find("iterations")) study.iterations = count->integer(1, 1'000'000);
  if (const auto count = root.find("groups"))
    study.groups = static_cast<int>(count->integer(1, 1'000'000));
  study.floor = kind != SearchStudyKind::Placements && kind != SearchStudyKind::Splits;
  if (const auto floor = root.find("floor")) study.floor = floor->boolean();
  if (const auto batch = root.find("batch")) study.per_gpu_batch = per_gpu(*batch);
  if (const auto framework = root.find("framework")) study.framework = framework->boolean();
  if (const auto count = root.find("topologies"))
    study.topologies = static_cast<int>(count->integer(1, 1'000'000));
  if (const auto seed = root.find("first_seed"))
    study.first_seed = static_cast<std::uint64_t>(seed->integer(0));
  SearchColumn common;
  if (const auto cluster = root.find("cluster")) common.cluster = cluster->string();
  if (const auto gpus = root.find("gpus"))
    common.gpus = static_cast<int>(gpus->integer(1, kMostGpus));
  if (const auto planner = root.find("planner")) common.planner = planner->string();
  const std::vector<JsonView> columns = root.at("columns").items();
  for (const JsonView& column : columns) study.columns.push_back(read_column(column, common, kind));
  if (columns.empty()) root.at("columns").fail("is empty", "add what is compared");
  const bool has_one = kind == SearchStudyKind::Duplicated || kind == SearchStudyKind::Splits;
  if (has_one && columns.size() != 1)
    root.at("columns").fail("has more than one column", "keep one");
  for (const JsonView& row : root.at("rows").items())
    study.rows.push_back(read_row(row, columns.size()));
  if (study.rows.empty()) root.at("rows").fail("is empty", "add models");
  if (kind == SearchStudyKind::Duplicated) {
    for (const JsonView& row : root.at("op_types").items())
      study.op_types.push_back(read_op_type(row));
  }
  if (kind == SearchStudyKind::Splits) {
    for (const JsonView& row : root.at("ops").items()) study.ops.push_back(read_op(row));
  }
  return study;
}

// The column of plain data parallelism as step times.
std::optional<Study> step_times_of(const SearchStudy& searches) {
  if (searches.kind != SearchStudyKind::Sfb) return std::nullopt;
  const auto column = std::find_if(searches.columns.begin(), searches.columns.end(),
                                   [](const auto& c) { return c.planner == "dp-allreduce"; });
  if (column == searches.columns.end()) return std::nullopt;
  const auto at = static_cast<std::size_t>(column - searches.columns.begin());
  Study study;
  study.file = searches.file;
  study.name = searches.name;
  study.source = searches.source;
  study.calibration = searches.calibration;
  study.in_seconds = true;
  study.columns = {{column->label, column->cluster, 0}};
  for (const SearchRow& row : searches.rows) {
    StudyCell cell{study.rows.size(), 0, {}, study.rows.size() % 2 == 0};
    study.rows.push_back({row.label, row.model, row.batch, row.dimensions, Exchange::AllReduce, 1});
    if (std::holds_alternative<std::monostate>(row.values[at])) continue;
    if (const double* seconds = std::get_if<double>(&row.values[at]))
      cell.seconds_or_speed = *seconds;
    study.cells.push_back(cell);
  }
  return study.cells.empty() ? std::nullopt : std::optional(study);
}

}  // namespace

std::string_view name_of(SearchStudyKind kind) { return kKinds[static_cast<std::size_t>(kind)]; }

StudyFile parse_study_file(std::string_view json, const std::string& file) {
  const JsonView root = JsonView::parse(json, file);
  root.expect_format("stratoscope-study", 1);
  const auto kind = root.find("kind");
  StudyFile result;
  if (!kind || (kind->is_string() && kind->string() == kStepTimes)) {
    result.steps = parse_study(json, file);
    return result;
  }
  result.searches = read_searches(root, kind_from(*kind), file);
  result.steps = step_times_of(*result.searches);
  return result;
}

StudyFile read_study_file(const std::filesystem::path& file) {
  return parse_study_file(read_file(file), file.string());
}

}  // namespace strato::cli
