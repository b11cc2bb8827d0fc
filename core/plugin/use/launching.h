// What launchers share: the checks that each makes of a request before it starts anything, and the
// wait for a line of rank 0; and the one loop that follows a launched job to its end.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/plugin/api/launcher.h"

namespace strato {

// Throws InputError: a setting that is not among `known` or has no proper value, no worker.
void check_request(const LaunchRequest& request, const std::string& launcher,
                   const std::vector<std::pair<std::string, std::string>>& known);

// Empty: not given.
std::string setting_of(const LaunchSettings& settings, const std::string& name);
// A count from 1 on; 0: it is not given. Throws InputError for anything else, which tells to write
// such a number as `example`.
int count_of(const LaunchSettings& settings, const std::string& name, int example = 1);

// Host names of the setting "hostfile", a host file of Open MPI ("node1 slots=4 # old"), each once,
// in its order, this machine by its own name. Empty: not given. Throws InputError when the file
// cannot be read or names no host.
std::vector<std::string> hosts_of(const LaunchSettings& settings);
std::string this_machine();  // its name

// Returns the node that each rank runs on, from 0 in the order in which machines first occur.
// Machines beyond `most` nodes share them again from the first; 0: as many as there are machines.
std::vector<int> nodes_of(const LaunchRequest& request, int most);

// Adds to a command line.
inline void append(std::vector<std::string>& arguments, const std::vector<std::string>& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
}

// Behind "rank 1 was killed by signal 9".
inline constexpr std::string_view kWhoKills =
    "; the system kills so when memory runs out (see dmesg), if nobody else did";

// A job that is looked at again and again for its next line.
class PolledJob : public LaunchedJob {
 public:
  std::optional<std::string> next_line(std::chrono::milliseconds wait) final;

 private:
  virtual std::optional<std::string> take_line() = 0;  // one that is there
  // Waits for more, at most so long. False: nothing will come any more.
  virtual bool wait_for_lines(std::chrono::milliseconds most) = 0;
};

struct JobEnd {
  JobState state = JobState::Failed;  // Finished, Failed or Cancelled
  // As the launcher knows it, else what rank 0 told of a failure: rank and cause.
  std::string problem;
};

// "rank 1: its memory is exhausted"; empty: the line tells of no failure.
std::string failure_in(const std::string& line);

// Blocks until the job is over. `line` gets everything that rank 0 writes, on this thread. A stop
// request cancels the job: no process is left. Throws what the job throws.
JobEnd follow(LaunchedJob& job, const std::stop_token& stop,
              const std::function<void(const std::string&)>& line);

}  // namespace strato
