#include "core/plugin/use/launching.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <ranges>
#include <sstream>

#include "core/base/error.h"
#include "core/base/number_from.h"
#include "core/io/file.h"
#include "core/launch/job/job_result.h"

namespace strato {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kFollowTick = 50ms, kLookTick = 20ms;

}  // namespace

void check_request(const LaunchRequest& request, const std::string& launcher,
                   const std::vector<std::pair<std::string, std::string>>& known) {
  const auto names = known | std::views::keys;
  for (const auto& [name, value] : request.settings) {
    if (std::ranges::find(names, name) == names.end())
      throw InputError("", "--set " + name, "is no setting of the launcher " + launcher,
                       fmt::format("give one of {}", fmt::join(names, ", ")));
    if (value.empty() || value.front() == '-' || value.find('\0') != std::string::npos)
      throw InputError("", "--set " + name, "has no value", "write " + name + "=value");
  }
  std::error_code ignored;
  if (!std::filesystem::exists(request.worker, ignored)) {
    throw InputError(request.worker.string(), "", "is not there",
                     "build or install stratoscope-worker beside this program");
  }
}

std::string setting_of(const LaunchSettings& settings, const std::string& name) {
  const auto found = settings.find(name);
  return found == settings.end() ? "" : found->second;
}

int count_of(const LaunchSettings& settings, const std::string& name, int example) {
  const auto found = settings.find(name);
  if (found == settings.end()) return 0;
  if (const auto value = number_from(found->second, 1)) return *value;
  throw InputError("", "--set " + name, "\"" + found->second + "\" is no positive number",
                   fmt::format("write {}={}", name, example));
}

std::string this_machine() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

std::vector<std::string> hosts_of(const LaunchSettings& settings) {
  const auto file = settings.find("hostfile");
  if (file == settings.end()) return {};
  std::vector<std::string> hosts;
  std::istringstream lines(read_file(file->second));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string host;
    if (!(words >> host)) continue;
    if (host == "localhost" || host == "127.0.0.1" || host == "::1") host = this_machine();
    if (std::ranges::find(hosts, host) == hosts.end()) hosts.push_back(host);
  }
  if (hosts.empty()) {
    throw InputError(file->second, "", "names no host", "write one a line: node1 slots=4");
  }
  return hosts;
}

std::vector<int> nodes_of(const LaunchRequest& request, int most) {
  std::map<int, int> seen;
  std::vector<int> nodes;
  for (int rank = 0; rank < request.ranks; ++rank) {
    const auto at = static_cast<std::size_t>(rank);
    const int machine = at < request.machines.size() ? request.machines[at] : 0;
    const int node = seen.emplace(machine, static_cast<int>(seen.size())).first->second;
    nodes.push_back(most > 0 ? node % most : node);
  }
  return nodes;
}

std::optional<std::string> PolledJob::next_line(std::chrono::milliseconds wait) {
  const auto until = Clock::now() + wait;
  for (;;) {
    if (auto line = take_line()) return line;
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now());
    const bool more = wait_for_lines(std::clamp<std::chrono::milliseconds>(left, 0ms, kLookTick));
    if (left <= 0ms || !more) return take_line();
  }
}

std::string failure_in(const std::string& line) {
  const auto event = parse_event(line);
  if (!event || event->kind != JobEvent::Kind::Failed) return "";
  return fmt::format("rank {}: {}", event->rank, event->text);
}

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
    if (const auto text = job.next_line(kFollowTick))
      take(*text);
    else
      state = job.state();
  }
  while (const auto text = job.next_line(0ms)) take(*text);
  std::string problem = job.problem();
  return {state, problem.empty() ? told : std::move(problem)};
}

}  // namespace strato
