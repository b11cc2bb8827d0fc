// Tables of papers, ours beside theirs; and the fit of a calibration to half of their cells.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>

#include "app/cli/command.h"
#include "app/cli/context.h"
#include "app/cli/output.h"
#include "app/cli/study/fit.h"
#include "app/cli/study/measured/measured_study.h"
#include "app/cli/study/report.h"
#include "app/cli/study/table.h"
#include "core/base/error.h"
#include "core/io/file.h"

namespace strato::cli {
namespace fs = std::filesystem;
namespace {

struct StudyOptions {
  std::vector<std::string> files, held_out;
  std::string calibration, calibrate;
  SearchLimits limits;
  bool no_search = false;
};

// `given` as it is when there is such a file, else the bundled study of that name.
fs::path study_path(const std::string& given) {
  std::error_code error;
  if (fs::exists(given, error) || given.find('/') != std::string::npos) return given;
  const fs::path bundled = home_directory() / "resources" / "studies" / (given + ".json");
  return fs::is_regular_file(bundled, error) ? bundled : fs::path(given);
}

Calibration named_calibration(const std::string& given) {
  std::error_code error;
  return fs::is_regular_file(given, error) ? read_calibration(given) : bundled_calibration(given);
}

// The standard error of the cells that the fit has not seen.
double held_out_error(std::span<const StudyCase> cases, const Calibration& calibration) {
  const std::vector<Prediction> predictions = predict_all(cases, calibration);
  double sum = 0, count = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (cases[i].cell.calibrate || !cases[i].cell.seconds_or_speed) continue;
    const double error = std::log(predictions[i].seconds / cases[i].reported_seconds());
    sum += error * error;
    ++count;
  }
  return count > 0 ? std::sqrt(sum / count) : 0;
}

Calibration fitted(const StudyOptions& options, std::span<const Study> studies,
                   std::span<const StudyCase> cases) {
  Calibration calibration = fit(cases, fit_start(), remark);
  calibration.name = fs::path(options.calibrate).stem().string();
  calibration.source = "fitted on every other cell of:";
  for (const Study& study : studies)
    calibration.source += (&study == &studies.front() ? " " : "; ") + study.name;
  calibration.relative_error = held_out_error(cases, calibration);
  write_file(options.calibrate, calibration_json(calibration));
  return parse_calibration(calibration_json(calibration), options.calibrate);  // as written
}

// Step times of all studies: what is predicted, and the calibrations it is predicted with.
struct StepTimes {
  std::vector<Study> studies;  // `cases` point into it
  std::vector<StudyCase> cases;
  std::vector<Prediction> predictions;

  std::span<const StudyCase> cases_of(std::size_t study) const { return part(cases, study); }
  std::span<const Prediction> predictions_of(std::size_t study) const {
    return part(predictions, study);
  }

 private:
  template <class T>
  std::span<const T> part(const std::vector<T>& all, std::size_t study) const {
    std::size_t begin = 0;
    for (std::size_t s = 0; s < study; ++s) begin += studies[s].cells.size();
    return std::span(all).subspan(begin, studies[study].cells.size());
  }
};

StepTimes predict_steps(const StudyOptions& options, std::span<const StudyFile> files) {
  StepTimes steps;
  for (const StudyFile& file : files)
    if (file.steps) steps.studies.push_back(*file.steps);
  steps.cases = prepare(steps.studies);
  std::optional<Calibration> fit_of_all;
  if (!options.calibrate.empty()) fit_of_all = fitted(options, steps.studies, steps.cases);
  for (std::size_t s = 0; s < steps.studies.size(); ++s) {
    const std::string& name =
        options.calibration.empty() ? steps.studies[s].calibration : options.calibration;
    const Calibration calibration = fit_of_all ? *fit_of_all : named_calibration(name);
    steps.studies[s].calibration = calibration.name;
    const auto predictions = predict_all(steps.cases_of(s), calibration);
    steps.predictions.insert(steps.predictions.end(), predictions.begin(), predictions.end());
  }
  return steps;
}

std::vector<StudyFile> read_studies(const StudyOptions& options) {
  std::vector<fs::path> paths;
  std::vector<StudyFile> files;
  for (const std::string& file : options.files) paths.push_back(study_path(file));
  check_writable(options.calibrate, paths);
  for (const fs::path& path : paths) {
    files.push_back(read_study_file(path));
    if (files.back().searches && !options.calibration.empty())
      files.back().searches->calibration = options.calibration;
  }
  return files;
}

// Tables as they are made: a later one may take long.
class Output {
 public:
  explicit Output(const Command& command) : command_(command) {}
  void add(const Json& json, const std::string& text) {
    if (command_.json)
      list_.push_back(json);
    else
      print((printed_++ > 0 ? "\n" : "") + text);
    flush_output();
  }
  void finish(const StepTimes& steps) {
    if (command_.json)
      print(json_text(Json{{"studies", list_},
                           {"summary", all_summaries_json(steps.cases, steps.predictions)},
                           {"wall_s", command_.wall_seconds()}}) +
            "\n");
    else if (steps.studies.size() > 1)
      print("\nAll step times together\n" + all_summaries_text(steps.cases, steps.predictions));
  }

 private:
  const Command& command_;
  Json list_ = Json::array();
  int printed_ = 0;
};

// Published step times are no table of a paper's own kind, and come alone.
bool is_of_measured(const StudyOptions& options) {
  const bool named = std::ranges::find(options.files, kMeasuredStudy) != options.files.end();
  if (named && options.files.size() > 1)
    throw InputError("", kMeasuredStudy, "is asked for beside other studies", "ask for it alone");
  if (!named && !options.held_out.empty())
    throw InputError("", "--held-out", "is for measured training steps",
                     fmt::format("ask for the study {}", kMeasuredStudy));
  return named;
}

int study(const StudyOptions& options, const Command& command) {
  if (is_of_measured(options))
    return measured_study({options.held_out, options.calibration, options.calibrate}, command);
  Interrupt interrupt;
  const std::vector<StudyFile> files = read_studies(options);
  const StepTimes steps = predict_steps(options, files);
  const bool search = !options.no_search && options.calibrate.empty();
  StudySearches searches(interrupt);
  Output output(command);
  interrupt.arm();
  for (std::size_t f = 0, s = 0; f < files.size(); ++f) {
    if (files[f].searches && search) {
      const StudyMaker maker{*files[f].searches, options.limits, searches};
      const StudyTable table = make_table(maker);
      output.add(table_json(maker, table), table_text(maker, table));
    }
    if (!files[f].steps) continue;
    output.add(study_json(steps.cases_of(s), steps.predictions_of(s)),
               study_text(steps.cases_of(s), steps.predictions_of(s)));
    ++s;
  }
  output.finish(steps);
  return Done;
}

}  // namespace

void add_study(CLI::App& app, Command& command) {
  CLI::App* sub = add_command(app, command, "study", "Tables of papers, ours beside theirs");
  const auto options = std::make_shared<StudyOptions>();
  sub->add_option("FILE", options->files, "Study files, or names of bundled ones")->required();
  sub->add_option("--held-out", options->held_out,
                  "Of llm-measured: tables of measured steps, in place of the bundled ones");
  auto* calibration =
      sub->add_option("--calibration", options->calibration,
                      "Use this calibration (a file or a bundled one) instead of the study's");
  sub->add_option("--calibrate", options->calibrate,
                  "Fit the constants to the cells that are meant for it; write them to this file")
      ->excludes(calibration);
  sub->add_option("--iterations", options->limits.iterations,
                  "Evaluations of each search; default: what the study says")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 40));
  sub->add_option("--seeds", options->limits.seeds, "Searches with this many seeds: means of them")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  sub->add_option("--topologies", options->limits.topologies,
                  "Random clusters for each model; default: what the study says")
      ->check(CLI::Range(1, 1'000'000));
  sub->add_option("--threads", options->limits.threads,
                  "Of a search; 0: one for each core; does not change the result")
      ->check(CLI::Range(0, 4096));
  sub->add_flag("--no-search", options->no_search, "Predict step times only: run no planner");
  sub->callback(
      [options, &command] { command.action = [=, &command] { return study(*options, command); }; });
}

}  // namespace strato::cli
