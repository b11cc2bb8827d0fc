#include "app/cli/study/measured/measured_study.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>

#include "app/cli/context.h"
#include "app/cli/interrupt.h"
#include "app/cli/output.h"
#include "app/cli/study/measured/measured_fit.h"
#include "app/cli/study/measured/measured_prediction.h"
#include "app/cli/study/measured/measured_tables.h"
#include "app/cli/study/report.h"
#include "core/base/quantity_text.h"
#include "core/io/file.h"

namespace strato::cli {
namespace {

namespace fs = std::filesystem;

// How far what is predicted is from what was measured.
class Errors {
 public:
  void add(double predicted, double measured) {
    predicted_.push_back(predicted);
    measured_.push_back(measured);
    off_ += std::abs(predicted / measured - 1);
    ratio_ += std::log(predicted / measured);
  }
  std::size_t count() const { return predicted_.size(); }
  double mean() const { return off_ / static_cast<double>(count()); }  // of |ours / theirs - 1|
  double ratio() const { return std::exp(ratio_ / static_cast<double>(count())); }  // geometric
  double rank() const { return rank_correlation(predicted_, measured_); }
  // Is the one with the least measured time the first or second of the predicted ones?
  bool has_fastest_in_front() const {
    const auto fastest = std::ranges::min_element(measured_) - measured_.begin();
    const double its = predicted_[static_cast<std::size_t>(fastest)];
    return std::ranges::count_if(predicted_, [its](double other) { return other < its; }) < 2;
  }

 private:
  std::vector<double> predicted_, measured_;
  double off_ = 0, ratio_ = 0;
};

struct Summary {
  Errors times, bytes, others;           // others: predicted by somebody else, of the same rows
  std::size_t models = 0, in_front = 0;  // of three rows or more; with the fastest in front
  std::size_t refused = 0;

  std::string text() const;
  Json json() const;
};

Summary summary_of(const std::vector<MeasuredRow>& rows,
                   const std::vector<MeasuredPrediction>& predictions) {
  Summary summary;
  std::map<std::string, Errors> models;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const MeasuredRow& row = rows[i];
    const MeasuredPrediction& ours = predictions[i];
    summary.refused += ours.refused.empty() ? 0 : 1;
    if (!ours.refused.empty()) continue;
    if (row.bytes) summary.bytes.add(ours.bytes, *row.bytes);
    if (!row.seconds) continue;
    summary.times.add(ours.seconds, *row.seconds);
    models[row.model].add(ours.seconds, *row.seconds);
    if (row.others_seconds) summary.others.add(*row.others_seconds, *row.seconds);
  }
  for (const auto& [name, errors] : models) {
    if (errors.count() < 3) continue;
    ++summary.models;
    summary.in_front += errors.has_fastest_in_front() ? 1 : 0;
  }
  return summary;
}

std::string Summary::text() const {
  std::string text = fmt::format("{} step times", times.count());
  if (times.count() > 0)
    text += fmt::format(": mean error {}, ours {:.3f} of theirs", percent_text(times.mean()),
                        times.ratio());
  if (times.count() > 1) text += fmt::format(", rank correlation {:.3f}", times.rank());
  if (models > 0)
    text += fmt::format("; the fastest of a model is predicted first or second in {} of {}",
                        in_front, models);
  text += "\n";
  if (others.count() > 0)
    text += fmt::format("Another tool's predictions of {} of them: mean error {}\n", others.count(),
                        percent_text(others.mean()));
  if (bytes.count() > 0)
    text += fmt::format("{} memory peaks: mean error {}, ours {:.3f} of theirs\n", bytes.count(),
                        percent_text(bytes.mean()), bytes.ratio());
  if (refused > 0) text += fmt::format("{} rows were refused\n", refused);
  return text;
}

Json errors_json(const Errors& errors) {
  if (errors.count() == 0) return {};
  return {{"count", errors.count()},
          {"mean_error", errors.mean()},
          {"ratio", errors.ratio()},
          {"rank_correlation", errors.rank()}};
}

Json Summary::json() const {
  return {{"step_times", errors_json(times)}, {"memory", errors_json(bytes)},
          {"others", errors_json(others)},    {"models", models},
          {"fastest_in_front", in_front},     {"refused", refused}};
}

std::string seconds_text(double seconds) { return time_text(nanos_from_seconds(seconds)); }
std::string gib_text(double bytes) { return fmt::format("{:.1f} GiB", bytes / 1073741824); }
std::string error_text(double predicted, double measured) {
  return fmt::format("{:+.1f} %", 100 * (predicted / measured - 1));
}

// A table with its predictions.
struct Compared {
  MeasuredTable table;
  std::vector<MeasuredPrediction> predictions;
  std::vector<double> collectives;

  std::string text() const;
  Json json() const;
};

std::string Compared::text() const {
  std::string text = table.name + "\n\n";
  Table lines({"row", "measured", "ours", "error", "memory", "ours", "error"});
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const MeasuredRow& row = table.rows[i];
    const MeasuredPrediction& ours = predictions[i];
    if (!ours.refused.empty()) {
      lines.add({row.label, ours.refused});
      continue;
    }
    lines.add({row.label, row.seconds ? seconds_text(*row.seconds) : "-",
               seconds_text(ours.seconds),
               row.seconds ? error_text(ours.seconds, *row.seconds) : "-",
               row.bytes ? gib_text(*row.bytes) : "-", row.bytes ? gib_text(ours.bytes) : "-",
               row.bytes ? error_text(ours.bytes, *row.bytes) : "-"});
  }
  if (!table.rows.empty()) text += lines.text();
  Table times({"AllReduce", "measured", "ours", "error"});
  Errors errors;
  for (std::size_t i = 0; i < table.collectives.size(); ++i) {
    const MeasuredCollective& one = table.collectives[i];
    errors.add(collectives[i], one.seconds);
    times.add({fmt::format("{}, {}", one.machine.name(), bytes_text(Bytes(one.bytes))),
               seconds_text(one.seconds), seconds_text(collectives[i]),
               error_text(collectives[i], one.seconds)});
  }
  if (errors.count() > 0)
    text += times.text() + fmt::format("\n{} collectives: mean error {}\n", errors.count(),
                                       percent_text(errors.mean()));
  if (!table.rows.empty()) text += "\n" + summary_of(table.rows, predictions).text();
  for (const std::string& sentence : table.left_out) text += "Left out: " + sentence + "\n";
  return text;
}

Json Compared::json() const {
  Json rows = Json::array();
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const MeasuredRow& row = table.rows[i];
    const MeasuredPrediction& ours = predictions[i];
    Json json = {{"row", row.label}, {"machines", row.machines.name()}};
    if (row.seconds) json["measured_s"] = *row.seconds;
    if (row.bytes) json["measured_bytes"] = *row.bytes;
    if (row.others_seconds) json["others_s"] = *row.others_seconds;
    if (ours.refused.empty()) {
      json["predicted_s"] = ours.seconds;
      if (row.bytes) json["predicted_bytes"] = ours.bytes;
    } else {
      json["refused"] = ours.refused;
    }
    rows.push_back(std::move(json));
  }
  for (std::size_t i = 0; i < table.collectives.size(); ++i) {
    const MeasuredCollective& one = table.collectives[i];
    rows.push_back({{"machine", one.machine.name()},
                    {"bytes", one.bytes},
                    {"measured_s", one.seconds},
                    {"predicted_s", collectives[i]}});
  }
  return {{"table", table.name},
          {"rows", rows},
          {"left_out", table.left_out},
          {"summary", summary_of(table.rows, predictions).json()}};
}

// Draws how far a table is, from several threads.
class Counter {
 public:
  Counter(std::string name, std::size_t rows) : name_(std::move(name)), rows_(rows) {}
  void show(std::size_t ready) {
    const std::scoped_lock lock(mutex_);
    line_.show(fmt::format("{}: {} of {} rows", name_, ready, rows_));
  }

 private:
  std::string name_;
  std::size_t rows_;
  std::mutex mutex_;
  ProgressLine line_;
};

}  // namespace

namespace {

int calibrate(const MeasuredOptions& options, std::span<const MeasuredTable> tables,
              const MeasuredCalibrations& calibrations, const std::stop_token& stop) {
  std::vector<MeasuredRow> rows;
  std::string source = "fitted on every other step of";
  for (const MeasuredTable& table : tables) {
    rows.insert(rows.end(), table.rows.begin(), table.rows.end());
    source += (table.name == tables.front().name ? " " : ", ") + table.name;
  }
  Calibration calibration = fit_measured(rows, calibrations, remark, stop);
  calibration.name = fs::path(options.calibrate).stem().string();
  calibration.source = stop.stop_requested() ? source + ", interrupted" : source;
  write_file(options.calibrate, calibration_json(calibration));
  return Done;
}

}  // namespace

int measured_study(const MeasuredOptions& options, const Command& command) {
  Interrupt interrupt;
  std::vector<fs::path> files(options.tables.begin(), options.tables.end());
  if (files.empty()) files = bundled_measured_tables();
  check_writable(options.calibrate, files);
  std::vector<MeasuredTable> tables;
  for (const fs::path& file : files) tables.push_back(read_measured_table(file));
  const MeasuredCalibrations calibrations(options.calibration);
  interrupt.arm();
  if (!options.calibrate.empty())
    return calibrate(options, tables, calibrations, interrupt.token());
  std::vector<MeasuredRow> all_rows;
  std::vector<MeasuredPrediction> all;
  Json list = Json::array();
  for (MeasuredTable& table : tables) {
    Compared compared{std::move(table), {}, {}};
    Counter counter(compared.table.name, compared.table.rows.size());
    compared.predictions = predict_measured(
        compared.table.rows, calibrations, [&](std::size_t ready) { counter.show(ready); },
        interrupt.token());
    compared.collectives = predict_collectives(compared.table.collectives, calibrations);
    if (command.json)
      list.push_back(compared.json());
    else
      print((all.empty() && list.empty() ? "" : "\n") + compared.text());
    flush_output();
    all_rows.insert(all_rows.end(), compared.table.rows.begin(), compared.table.rows.end());
    all.insert(all.end(), compared.predictions.begin(), compared.predictions.end());
  }
  const Summary summary = summary_of(all_rows, all);
  if (command.json)
    print(json_text(Json{
              {"tables", list}, {"summary", summary.json()}, {"wall_s", command.wall_seconds()}}) +
          "\n");
  else if (files.size() > 1)
    print("\nAll tables together\n" + summary.text());
  return Done;
}

}  // namespace strato::cli
