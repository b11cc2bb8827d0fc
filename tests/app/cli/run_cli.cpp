#include "tests/app/cli/run_cli.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <regex>
#include <utility>

#include "tests/paths.h"

namespace strato {
namespace {

[[noreturn]] void become_cli(const std::vector<std::string>& arguments, int out, int err) {
  ::dup2(out, STDOUT_FILENO);
  ::dup2(err, STDERR_FILENO);
  std::vector<char*> argv = {const_cast<char*>(STRATO_CLI)};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  ::execv(STRATO_CLI, argv.data());
  ::_exit(127);
}

// Both at once: a full pipe must not stop the program.
void drain(int out, int err, CliResult& result) {
  pollfd ends[] = {{out, POLLIN, 0}, {err, POLLIN, 0}};
  std::string* texts[] = {&result.out, &result.err};
  int open_ends = 2;
  while (open_ends > 0) {
    ::poll(ends, 2, -1);
    for (int i = 0; i < 2; ++i) {
      if (ends[i].fd < 0 || ends[i].revents == 0) continue;
      char buffer[65536];
      const ssize_t size = ::read(ends[i].fd, buffer, sizeof buffer);
      if (size > 0) {
        texts[i]->append(buffer, static_cast<std::size_t>(size));
      } else {
        ::close(ends[i].fd);
        ends[i].fd = -1;
        --open_ends;
      }
    }
  }
}

}  // namespace

CliResult run_cli(const std::vector<std::string>& arguments) {
  int out[2], err[2];
  if (::pipe2(out, O_CLOEXEC) != 0 || ::pipe2(err, O_CLOEXEC) != 0) return {};
  const pid_t child = ::fork();
  if (child == 0) become_cli(arguments, out[1], err[1]);
  ::close(out[1]);
  ::close(err[1]);
  CliResult result;
  drain(out[0], err[0], result);
  result.status = wait_for(child);
  return result;
}

pid_t start_cli(const std::vector<std::string>& arguments) {
  const pid_t child = ::fork();
  if (child == 0) {
    const int nowhere = ::open("/dev/null", O_WRONLY);
    become_cli(arguments, nowhere, nowhere);
  }
  return child;
}

int wait_for(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool wait_until(const std::function<bool()>& condition) {
  using Clock = std::chrono::steady_clock;
  for (const auto end = Clock::now() + std::chrono::minutes(1); Clock::now() < end;) {
    if (condition()) return true;
    ::poll(nullptr, 0, 1);
  }
  return false;
}

OnTerminal::OnTerminal(const std::vector<std::string>& arguments) {
  child_ = ::forkpty(&screen_, nullptr, nullptr, nullptr);
  if (child_ == 0) become_cli(arguments, STDOUT_FILENO, STDERR_FILENO);
}

OnTerminal::~OnTerminal() {
  if (child_ > 0) {
    ::kill(child_, SIGKILL);
    wait_for(child_);
  }
  ::close(screen_);
}

bool OnTerminal::wait_for_text(const std::string& text, int times) {
  std::string rest;  // not searched yet, or the beginning of a match
  char buffer[4096];
  while (times > 0) {
    const ssize_t size = ::read(screen_, buffer, sizeof buffer);
    if (size <= 0) return false;
    rest.append(buffer, static_cast<std::size_t>(size));
    for (std::size_t at; times > 0 && (at = rest.find(text)) != std::string::npos; --times)
      rest.erase(0, at + text.size());
  }
  return true;
}

int OnTerminal::interrupt() {
  ::write(screen_, "\x03", 1);
  char buffer[4096];
  while (::read(screen_, buffer, sizeof buffer) > 0) continue;  // until it closes the terminal
  return wait_for(std::exchange(child_, -1));
}

Json json_of(const CliResult& result, int status) {
  EXPECT_EQ(result.status, status);
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(std::count(result.out.begin(), result.out.end(), '\n'), 1);
  Json json = Json::parse(result.out, nullptr, false);
  EXPECT_TRUE(json.is_object()) << result.out;
  return json;
}

void expect_refused(const std::vector<std::string>& arguments,
                    const std::vector<std::string>& parts) {
  std::string command;
  for (const std::string& argument : arguments) command += " " + argument;
  const CliResult result = run_cli(arguments);
  EXPECT_EQ(result.status, 2) << command << "\n" << result.err;
  EXPECT_EQ(result.out, "") << command;
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << command << "\n"
                                                                       << result.err;
  for (const std::string& part : parts) {
    EXPECT_NE(result.err.find(part), std::string::npos) << part << " is not in: " << result.err;
  }
}

std::string without_times(const std::string& text) {
  static const std::regex json(R"re("wall_s": ?[-+.0-9e]+)re"), line("( took +)[^\n]*");
  return std::regex_replace(std::regex_replace(text, json, R"("wall_s":0)"), line, "$1-");
}

std::filesystem::path sample_model(const std::string& name) {
  return std::filesystem::path(kSourceFolder) / "sample_graphs" / "models" / (name + ".onnx");
}
std::filesystem::path sample_cluster(const std::string& name) {
  return std::filesystem::path(kSourceFolder) / "sample_graphs" / "clusters" / (name + ".json");
}

}  // namespace strato
