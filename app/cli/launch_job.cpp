#include "app/cli/launch_job.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <system_error>

#include "core/base/error.h"
#include "core/base/quantity_text.h"

namespace strato::cli {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

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
  const fs::path path = fs::absolute(given);
  fs::create_directories(path, error);
  if (error) {
    throw InputError(given, "", "cannot be made: " + error.message(),
                     "name a folder that you may write to");
  }
  return path;
}

class Follower {
 public:
  explicit Follower(const JobOptions& options) : options_(options) {
    line_.show("starting the ranks");
  }
  void take(const std::string& line) {
    const auto event = parse_event(line);
    if (!event) return;
    if (event->kind == JobEvent::Kind::Failed)
      problem_ = fmt::format("rank {}: {}", event->rank, event->text);
    if (event->kind == JobEvent::Kind::Started) line_.show("all ranks have met");
    if (event->kind == JobEvent::Kind::Step) line_.show(step_text(*event));
  }
  const std::string& problem() const { return problem_; }

 private:
  std::string step_text(const JobEvent& event) const {
    std::string text =
        fmt::format("step {} of {}: {}", event.step, options_.steps, time_text(event.step_time));
    if (event.loss) text += ", loss " + significant_text(*event.loss, 6);
    return text;
  }

  const JobOptions& options_;
  ProgressLine line_;
  std::string problem_;
};

}  // namespace

JobFolder::JobFolder(const std::string& given, bool shared)
    : path_(given.empty() ? temporary_folder(shared) : made_folder(given)),
      temporary_(given.empty()) {}

JobFolder::~JobFolder() {
  std::error_code ignored;
  if (temporary_) fs::remove_all(path_, ignored);
}

JobEnd follow(LaunchedJob& job, const JobOptions& options, Interrupt& interrupt) {
  Follower follower(options);
  JobState state = JobState::Waiting;
  do {
    if (interrupt.requested()) job.cancel();
    if (const auto line = job.next_line(100ms)) {
      follower.take(*line);
      continue;
    }
    state = job.state();
  } while (state == JobState::Waiting || state == JobState::Running);
  while (const auto line = job.next_line(0ms)) follower.take(*line);
  const std::string problem = job.problem();
  return {state, problem.empty() ? follower.problem() : problem};
}

}  // namespace strato::cli
