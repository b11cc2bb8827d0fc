// Tables of papers, ours beside theirs; and the fit of a calibration to half of their cells.
#include <CLI/CLI.hpp>
#include <cmath>

#include "app/cli/command.h"
#include "app/cli/context.h"
#include "app/cli/output.h"
#include "app/cli/study_fit.h"
#include "app/cli/study_report.h"
#include "core/base/error.h"
#include "core/base/file.h"

namespace strato::cli {
namespace fs = std::filesystem;
namespace {

struct StudyOptions {
  std::vector<std::string> files;
  std::string calibration, calibrate;
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

int study(const StudyOptions& options, const Command& command) {
  std::vector<fs::path> paths;
  std::vector<Study> studies;
  for (const std::string& file : options.files) paths.push_back(study_path(file));
  check_writable(options.calibrate, paths);
  for (const fs::path& path : paths) studies.push_back(read_study(path));
  const std::vector<StudyCase> cases = prepare(studies);
  std::optional<Calibration> fit_of_all;
  if (!options.calibrate.empty()) fit_of_all = fitted(options, studies, cases);

  Json list = Json::array();
  std::vector<Prediction> everything;
  for (std::size_t begin = 0, s = 0; s < studies.size(); ++s) {
    const std::string& name =
        options.calibration.empty() ? studies[s].calibration : options.calibration;
    const Calibration calibration = fit_of_all ? *fit_of_all : named_calibration(name);
    studies[s].calibration = calibration.name;
    const auto of_study = std::span(cases).subspan(begin, studies[s].cells.size());
    const std::vector<Prediction> predictions = predict_all(of_study, calibration);
    everything.insert(everything.end(), predictions.begin(), predictions.end());
    if (command.json)
      list.push_back(study_json(of_study, predictions));
    else
      print(study_text(of_study, predictions) + "\n");
    begin += studies[s].cells.size();
  }
  if (command.json)
    print(Json{{"studies", list},
               {"summary", all_summaries_json(cases, everything)},
               {"wall_s", command.wall_seconds()}}
              .dump() +
          "\n");
  else if (studies.size() > 1)
    print("All tables together\n" + all_summaries_text(cases, everything));
  return Done;
}

}  // namespace

void add_study(CLI::App& app, Command& command) {
  CLI::App* sub = add_command(app, command, "study", "Tables of papers, ours beside theirs");
  const auto options = std::make_shared<StudyOptions>();
  sub->add_option("FILE", options->files, "Study files, or names of bundled ones")->required();
  auto* calibration =
      sub->add_option("--calibration", options->calibration,
                      "Use this calibration (a file or a bundled one) instead of the study's");
  sub->add_option("--calibrate", options->calibrate,
                  "Fit the constants to the cells that are meant for it; write them to this file")
      ->excludes(calibration);
  sub->callback(
      [options, &command] { command.action = [=, &command] { return study(*options, command); }; });
}

}  // namespace strato::cli
