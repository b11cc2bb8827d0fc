#include "app/cli/study/file.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "app/cli/study/limits.h"
#include "core/io/file.h"
#include "core/io/json.h"

namespace strato::cli {
namespace {

// One of two words.
bool choice(const JsonView& json, std::string_view no, std::string_view yes) {
  const std::string text = json.string();
  if (text == yes) return true;
  if (text != no) {
    json.fail(fmt::format("is \"{}\"", text), fmt::format("write \"{}\" or \"{}\"", no, yes));
  }
  return false;
}

Exchange read_exchange(const JsonView& json) {
  const std::string text = json.string();
  if (text == "host") return Exchange::Host;
  if (text == "ps") return Exchange::Ps;
  if (text == "allreduce") return Exchange::AllReduce;
  json.fail(fmt::format("is \"{}\"", text), "write host, ps or allreduce");
}

StudyColumn read_column(const JsonView& json) {
  json.allow_only({"label", "cluster", "gpus_per_machine"});
  StudyColumn column;
  column.label = json.at("label").string();
  column.cluster = json.at("cluster").string();
  column.gpus_per_machine = static_cast<int>(json.at("gpus_per_machine").integer(1, 1024));
  return column;
}

StudyRow read_row(const JsonView& json) {
  json.allow_only(
      {"label", "model", "batch", "dimensions", "exchange", "items_per_sample", "values"});
  StudyRow row;
  row.label = json.at("label").string();
  row.model = json.at("model").string();
  row.batch = json.at("batch").integer(1, kMaxBatch);
  row.exchange = read_exchange(json.at("exchange"));
  if (const auto items = json.find("items_per_sample")) row.items = items->positive_number();
  if (const auto dimensions = json.find("dimensions")) {
    for (const auto& [name, value] : dimensions->members())
      row.dimensions[name] = value.integer(0, kMaxBatch);
  }
  return row;
}

// It would count twice in every summary.
void check_new(const JsonView& json, const std::vector<StudyRow>& rows, const StudyRow& row) {
  const auto same = [&](const StudyRow& other) {
    return std::tie(row.label, row.model, row.batch, row.dimensions, row.exchange) ==
           std::tie(other.label, other.model, other.batch, other.dimensions, other.exchange);
  };
  if (std::ranges::any_of(rows, same)) {
    json.fail(fmt::format("\"{}\" is there twice, with the same model and batch", row.label),
              "keep one of them, or give them labels of their own");
  }
}

constexpr double kLeastValue = 1e-9;  // seconds, or samples per second

void read_values(const JsonView& json, std::size_t row, Study& study) {
  const std::vector<JsonView> values = json.items();
  if (values.size() != study.columns.size()) {
    json.fail(fmt::format("has {} values", values.size()),
              fmt::format("give one for each of the {} columns, null where the paper has none",
                          study.columns.size()));
  }
  for (std::size_t column = 0; column < values.size(); ++column) {
    const JsonView& value = values[column];
    if (value.is_null()) continue;
    StudyCell cell{row, column, {}, (row + column) % 2 == 0};
    if (!value.is_string()) {
      cell.seconds_or_speed = value.number(kLeastValue, kMostValue);
    } else if (value.string() != "OOM") {
      value.fail(fmt::format("is \"{}\"", value.string()), "write a number, \"OOM\" or null");
    }
    study.cells.push_back(cell);
  }
}

}  // namespace

Study parse_study(std::string_view json, const std::string& file) {
  const JsonView root = JsonView::parse(json, file);
  root.expect_format("stratoscope-study", 1);
  root.allow_only({"format", "version", "kind", "name", "source", "note", "calibration", "unit",
                   "batch", "columns", "rows"});
  Study study;
  study.file = file;
  study.name = root.at("name").string();
  study.source = root.at("source").string();
  study.calibration = root.at("calibration").string();
  study.in_seconds = choice(root.at("unit"), "samples/s", "s");
  study.per_gpu_batch = choice(root.at("batch"), "global", "per-gpu");
  for (const JsonView& column : root.at("columns").items())
    study.columns.push_back(read_column(column));
  const std::vector<JsonView> rows = root.at("rows").items();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    StudyRow row = read_row(rows[i]);
    check_new(rows[i], study.rows, row);
    study.rows.push_back(std::move(row));
    read_values(rows[i].at("values"), i, study);
  }
  if (study.cells.empty()) root.at("rows").fail("have no values", "add what the paper reports");
  return study;
}

Study read_study(const std::filesystem::path& file) {
  return parse_study(read_file(file), file.string());
}

}  // namespace strato::cli
