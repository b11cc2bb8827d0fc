// The launcher "slurm": one batch job, whose ranks srun starts. The job does not need the process
// that submitted it: another one may attach to it.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <thread>

#include "core/base/error.h"
#include "core/io/file.h"
#include "core/launch/job/run_files.h"
#include "core/launch/process/child_process.h"
#include "core/plugin/api/plugin.h"
#include "core/plugin/use/launch_request.h"
#include "plugins/launchers/slurm/file_lines.h"
#include "plugins/launchers/slurm/job_record.h"
#include "plugins/launchers/slurm/submission.h"

namespace strato::slurm {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
namespace fs = std::filesystem;

constexpr const char* kPrefix = "slurm:";
constexpr auto kTick = 20ms;
constexpr auto kAsk = 1s;    // controllers serve many: no more often than this
constexpr auto kGone = 60s;  // Slurm waits up to 30 s (KillWait) before it kills
constexpr auto kLag = 10s;   // until files that another node wrote are seen here

class SlurmJob final : public LaunchedJob {
 public:
  SlurmJob(std::string number, fs::path folder)
      : number_(std::move(number)), folder_(std::move(folder)), lines_(folder_ / kEvents) {}

  std::string id() const override { return kPrefix + number_; }

  std::optional<std::string> next_line(std::chrono::milliseconds wait) override {
    const auto until = Clock::now() + wait;
    for (;;) {
      if (auto line = lines_.take()) return line;
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now());
      if (left <= 0ms || is_over(state())) return std::nullopt;
      std::this_thread::sleep_for(std::min<std::chrono::milliseconds>(left, kTick));
    }
  }

  JobState state() override {
    if (!is_over(record_.state) && Clock::now() >= ask_at_) ask();
    return record_.state;
  }

  std::string problem() override {
    return state() == JobState::Failed ? cause_of(folder_, record_) : "";
  }

  void cancel() override {
    if (is_over(state())) return;
    const ProgramResult said = run_program({"scancel", number_}, kGone);
    const auto until = Clock::now() + kGone;
    do {
      ask();
      if (is_over(record_.state)) return;
      std::this_thread::sleep_for(kTick * 5);
    } while (Clock::now() < until);
    throw InputError("", "", fmt::format("job {} is not cancelled: {}", number_, said.error),
                     "try scancel " + number_);
  }

 private:
  void ask() {
    const Asked asked = ask_slurm(number_);
    ask_at_ = Clock::now() + kAsk;
    if (asked.answer == Answer::Known) record_ = asked.record;
    if (asked.answer == Answer::Unknown) record_ = {JobState::Finished, "forgotten", ""};
    if (record_.state == JobState::Finished) await_result();
  }

  // A job that ended well, or that Slurm has forgotten, has left its result.
  void await_result() {
    std::error_code ignored;
    if (fs::exists(folder_ / "result.json", ignored)) return;
    if (!ended_at_) ended_at_ = Clock::now();
    const bool late = Clock::now() > *ended_at_ + kLag || find_failure(folder_);
    record_.state = late ? JobState::Failed : JobState::Running;
  }

  std::string number_;
  fs::path folder_;
  FileLines lines_;
  JobRecord record_;
  Clock::time_point ask_at_;
  std::optional<Clock::time_point> ended_at_;
};

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

std::string first_line(const fs::path& file) {
  std::ifstream input(file);
  std::string line;
  std::getline(input, line);
  return line;
}

class SlurmLauncher final : public Launcher {
 public:
  std::vector<std::pair<std::string, std::string>> settings() const override {
    return slurm::settings();
  }

  std::unique_ptr<LaunchedJob> launch(const LaunchRequest& request) override {
    check_request(request, "slurm", slurm::settings());
    return std::make_unique<SlurmJob>(submit(request), request.folder);
  }

  std::unique_ptr<LaunchedJob> attach(const std::string& id, const fs::path& folder) override {
    const std::string number =
        id.starts_with(kPrefix) ? id.substr(std::string(kPrefix).size()) : "";
    if (!is_number(number))
      throw InputError("", "", "\"" + id + "\" is no job of Slurm", "write slurm:NUMBER");
    if (first_line(folder / kId) != number) {
      throw InputError(folder.string(), "", "is not the folder of " + id,
                       "name the folder that the job was launched with");
    }
    return std::make_unique<SlurmJob>(number, folder);
  }
};

}  // namespace
}  // namespace strato::slurm

STRATOSCOPE_LAUNCHER([](std::string_view) -> std::unique_ptr<strato::Launcher> {
  return std::make_unique<strato::slurm::SlurmLauncher>();
})
