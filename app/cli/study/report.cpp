#include "app/cli/study/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "app/cli/output.h"
#include "core/base/quantity_text.h"

namespace strato::cli {
namespace {

double ratio(const StudyCase& study_case, const Prediction& prediction) {
  return prediction.seconds / study_case.reported_seconds();
}

std::string_view use_of(const StudyCase& study_case) {
  return study_case.cell.calibrate ? "calibrate" : "check";
}

std::string_view name_of(Half half) {
  return half == Half::Calibrate ? "calibrate" : half == Half::Check ? "check" : "all";
}

bool is_in(Half half, const StudyCase& study_case) {
  return half == Half::Both || study_case.cell.calibrate == (half == Half::Calibrate);
}

double percentile(std::vector<double> values, double part) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const double at = part * static_cast<double>(values.size() - 1);
  const auto low = static_cast<std::size_t>(at);
  const std::size_t high = std::min(low + 1, values.size() - 1);
  return values[low] + (values[high] - values[low]) * (at - static_cast<double>(low));
}

// 1 for the smallest; equal values share the mean of their ranks.
std::vector<double> ranks(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> result(values.size());
  for (std::size_t i = 0; i < order.size();) {
    std::size_t end = i;
    while (end < order.size() && values[order[end]] == values[order[i]]) ++end;
    for (std::size_t k = i; k < end; ++k) result[order[k]] = 0.5 * static_cast<double>(i + 1 + end);
    i = end;
  }
  return result;
}

// What takes most of the step, for people.
std::string_view bound_of(const Prediction& prediction) {
  if (prediction.dispatch >= std::max(prediction.devices, prediction.input)) return "dispatch";
  return prediction.devices >= prediction.input ? "devices" : "input";
}

std::string summary_line(const StudySummary& summary, Half half) {
  std::string line = fmt::format("{:<10} {:>3} cells", name_of(half), summary.cells);
  if (summary.memory == 0) return line + "\n";
  if (summary.cells > 0)
    line += fmt::format(": median |error| {}, 90th percentile {}", percent_text(summary.median),
                        percent_text(summary.worst_tenth));
  if (summary.cells > 1) line += fmt::format("; rank correlation {:.3f}", summary.rank);
  if (summary.rows_ranked > 0)
    line += fmt::format(" (within {} models: {:.3f})", summary.rows_ranked, summary.rank_in_models);
  return line + fmt::format("; memory right in {} of {}\n", summary.memory_right, summary.memory);
}

Json summary_json(const StudySummary& summary) {
  return {{"cells", summary.cells},
          {"median_error", summary.cells > 0 ? Json(summary.median) : Json()},
          {"percentile_90_error", summary.cells > 0 ? Json(summary.worst_tenth) : Json()},
          {"rank_correlation", summary.cells > 1 ? Json(summary.rank) : Json()},
          {"rank_correlation_within_models", summary.rank_in_models},
          {"models_ranked", summary.rows_ranked},
          {"memory_cells", summary.memory},
          {"memory_right", summary.memory_right}};
}

}  // namespace

double rank_correlation(std::span<const double> a, std::span<const double> b) {
  if (a.size() < 2) return 1;
  const std::vector<double> x = ranks(a), y = ranks(b);
  const double mean = 0.5 * static_cast<double>(a.size() + 1);
  double xy = 0, xx = 0, yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mean) * (y[i] - mean);
    xx += (x[i] - mean) * (x[i] - mean);
    yy += (y[i] - mean) * (y[i] - mean);
  }
  return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : 0;
}

StudySummary summarise(std::span<const StudyCase> cases, std::span<const Prediction> predictions,
                       Half half) {
  StudySummary summary;
  std::vector<double> errors, ours, theirs;
  struct Row {
    std::vector<double> ours, theirs;
  };
  std::map<std::pair<const Study*, std::size_t>, Row> rows;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (!is_in(half, cases[i])) continue;
    const bool number = cases[i].cell.seconds_or_speed.has_value();
    ++summary.memory;
    summary.memory_right += predictions[i].fits == number ? 1 : 0;
    if (!number) continue;
    errors.push_back(std::abs(ratio(cases[i], predictions[i]) - 1));
    ours.push_back(cases[i].speed(predictions[i].seconds));
    theirs.push_back(cases[i].speed(cases[i].reported_seconds()));
    Row& row = rows[{cases[i].study, cases[i].cell.row}];
    row.ours.push_back(ours.back());
    row.theirs.push_back(theirs.back());
  }
  summary.cells = errors.size();
  summary.median = percentile(errors, 0.5);
  summary.worst_tenth = percentile(errors, 0.9);
  summary.rank = rank_correlation(ours, theirs);
  for (const auto& [key, row] : rows) {
    if (row.ours.size() < 3) continue;
    ++summary.rows_ranked;
    summary.rank_in_models += rank_correlation(row.ours, row.theirs);
  }
  if (summary.rows_ranked > 0) summary.rank_in_models /= static_cast<double>(summary.rows_ranked);
  return summary;
}

std::string study_text(std::span<const StudyCase> cases, std::span<const Prediction> predictions) {
  const Study& study = *cases.front().study;
  Table table({"model", "batch", "cluster", "strategy", "theirs", "ours", "time ratio", "fits",
               "bound", "use"});
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const StudyCase& at = cases[i];
    const auto& value = at.cell.seconds_or_speed;
    table.add({at.row().label, std::to_string(at.graph->batch()), at.column().label, at.strategy(),
               value ? significant_text(*value, 4) : "OOM",
               significant_text(at.in_unit(predictions[i].seconds), 4),
               value ? fmt::format("{:.2f}", ratio(at, predictions[i])) : "-",
               predictions[i].fits ? "yes" : "no", std::string(bound_of(predictions[i])),
               std::string(use_of(at))});
  }
  std::string text =
      fmt::format("{} ({}), in {}, calibration {}\n\n", study.name, study.source,
                  study.in_seconds ? "seconds a step" : "samples/s", study.calibration);
  return text + table.text() + "\n" + all_summaries_text(cases, predictions);
}

std::string all_summaries_text(std::span<const StudyCase> cases,
                               std::span<const Prediction> predictions) {
  std::string text;
  for (const Half half : {Half::Calibrate, Half::Check})
    text += summary_line(summarise(cases, predictions, half), half);
  return text;
}

Json all_summaries_json(std::span<const StudyCase> cases, std::span<const Prediction> predictions) {
  Json summary;
  for (const Half half : {Half::Calibrate, Half::Check, Half::Both})
    summary[std::string(name_of(half))] = summary_json(summarise(cases, predictions, half));
  return summary;
}

Json study_json(std::span<const StudyCase> cases, std::span<const Prediction> predictions) {
  const Study& study = *cases.front().study;
  Json list = Json::array();
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const StudyCase& at = cases[i];
    const auto& value = at.cell.seconds_or_speed;
    list.push_back({{"model", at.row().label},
                    {"batch", at.graph->batch()},
                    {"cluster", at.column().label},
                    {"strategy", at.strategy()},
                    {"theirs", value ? Json(*value) : Json("OOM")},
                    {"ours", at.in_unit(predictions[i].seconds)},
                    {"time_ratio", value ? Json(ratio(at, predictions[i])) : Json()},
                    {"fits", predictions[i].fits},
                    {"devices_s", predictions[i].devices},
                    {"dispatch_s", predictions[i].dispatch},
                    {"input_s", predictions[i].input},
                    {"use", use_of(at)}});
  }
  return {{"name", study.name},
          {"source", study.source},
          {"unit", study.in_seconds ? "s" : "samples/s"},
          {"calibration", study.calibration},
          {"cells", list},
          {"summary", all_summaries_json(cases, predictions)}};
}

}  // namespace strato::cli
