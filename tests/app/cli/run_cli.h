// Runs the real binary and catches what it says.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/io/json.h"

namespace strato {

struct CliResult {
  int status = -1;  // 128 + signal when a signal ended it
  std::string out, err;
};

CliResult run_cli(const std::vector<std::string>& arguments);

// The one JSON object in one line that it printed, with no errors or warnings beside it.
Json json_of(const CliResult& result, int status = 0);
// Refused as wrong input: nothing printed, and one line of error that has all `parts`.
void expect_refused(const std::vector<std::string>& arguments,
                    const std::vector<std::string>& parts);

// Starts it with its output going to /dev/null.
pid_t start_cli(const std::vector<std::string>& arguments);
int wait_for(pid_t child);
// Asks every millisecond, for at most a minute, until it is so; false when it never was.
bool wait_until(const std::function<bool()>& condition);

// Starts it on a terminal of its own, where it shows progress.
class OnTerminal {
 public:
  explicit OnTerminal(const std::vector<std::string>& arguments);
  ~OnTerminal();
  // Waits until it has written `text` this many times more; false when it ended before.
  bool wait_for_text(const std::string& text, int times);
  int interrupt();  // Ctrl-C; its exit status

 private:
  pid_t child_ = -1;
  int screen_ = -1;
};

// Text whose times (wall_s, "took") are masked: what has to be the same in every run.
std::string without_times(const std::string& text);

std::filesystem::path sample_model(const std::string& name);
std::filesystem::path sample_cluster(const std::string& name);

}  // namespace strato
