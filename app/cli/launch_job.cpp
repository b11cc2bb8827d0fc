#include "app/cli/launch_job.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "core/base/error.h"
#include "core/base/quantity_text.h"
#include "core/io/json.h"
#include "core/launch/job/job_result.h"

namespace strato::cli {
namespace {

namespace fs = std::filesystem;

fs::path temporary_folder(bool shared) {
  const fs::path parent = shared ? fs::current_path() : fs::temp_directory_path();
  std::string pattern = (parent / "stratoscope-job-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) {
    throw InputError(pattern, "", fmt::format("cannot be made: {}", std::strerror(errno)),
                     "name a folder with --job");
  }
  return pattern;
}

fs::path made_folder(const std::string& given) {
  std::error_code error;
  fs::path path = fs::absolute(given);
  fs::create_directories(path, error);
  if (error) {
    throw InputError(given, "", "cannot be made: " + error.message(),
                     "name a folder that you may write to");
  }
  return path;
}

std::string step_text(const JobEvent& event, int steps) {
  std::string text =
      fmt::format("step {} of {}: {}", event.step, steps, time_text(event.step_time));
  if (event.loss) text += ", loss " + significant_text(*event.loss, 6);
  return text;
}

}  // namespace

JobFolder::JobFolder(const std::string& given, bool shared)
    : path_(given.empty() ? temporary_folder(shared) : made_folder(given)),
      temporary_(given.empty()) {}

JobFolder::~JobFolder() {
  std::error_code ignored;
  if (temporary_) fs::remove_all(path_, ignored);
}

JobEnd follow(LaunchedJob& job, const JobOptions& options, const Interrupt& interrupt,
              JobFolder& folder) {
  ProgressLine shown;
  shown.show("starting the ranks");
  try {
    return strato::follow(job, interrupt.token(), [&](const std::string& line) {
      const auto event = parse_event(line);
      if (!event) return;
      if (event->kind == JobEvent::Kind::Started) shown.show("all ranks have met");
      if (event->kind == JobEvent::Kind::Step) shown.show(step_text(*event, options.steps));
    });
  } catch (const std::exception&) {
    folder.keep();
    shown.clear();
    remark("the job may still run; its files are in " + folder.path().string());
    throw;
  }
}

int report_unfinished(const JobEnd& end, const std::string& failed, JobFolder& folder,
                      const Command& command) {
  const bool cancelled = end.state == JobState::Cancelled;
  const std::string logs = cancelled ? "" : folder.path().string();
  if (!cancelled) folder.keep();
  if (command.json) {
    print(
        json_text(Json{
            {"state", std::string(name_of(end.state))}, {"problem", end.problem}, {"logs", logs}}) +
        "\n");
  }
  remark(cancelled ? "cancelled; no process is left"
                   : failed + ": " + end.problem + "; logs are in " + logs);
  return ExternalFailure;
}

}  // namespace strato::cli
