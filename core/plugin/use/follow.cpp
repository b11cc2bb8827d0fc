#include "core/plugin/use/follow.h"

#include "core/launch/job/job_event.h"

namespace strato {
namespace {

using namespace std::chrono_literals;

constexpr auto kTick = 50ms;

// "rank 1: its memory is exhausted"; empty: the line tells of no failure.
std::string failure_in(const std::string& line) {
  const auto event = parse_event(line);
  if (!event || event->kind != JobEvent::Kind::Failed) return "";
  return "rank " + std::to_string(event->rank) + ": " + event->text;
}

}  // namespace

JobEnd follow(LaunchedJob& job, const std::stop_token& stop,
              const std::function<void(const std::string&)>& line) {
  std::string told;
  const auto take = [&](const std::string& text) {
    if (told.empty()) told = failure_in(text);
    line(text);
  };
  JobState state = JobState::Waiting;
  while (!is_over(state)) {
    if (stop.stop_requested()) job.cancel();
    if (const auto text = job.next_line(kTick))
      take(*text);
    else
      state = job.state();
  }
  while (const auto text = job.next_line(0ms)) take(*text);
  std::string problem = job.problem();
  return {state, problem.empty() ? told : std::move(problem)};
}

}  // namespace strato
