// A process that this one starts with an argument vector, in a process group of its own: no shell,
// no signal blocked or ignored.
//
// Objects are not thread safe.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace strato {

class ChildProcess {
 public:
  // Open files that become its standard input, output and error output.
  struct Streams {
    int input, output, error;
  };
  // The program is looked for in PATH. Throws InputError when it cannot be started.
  ChildProcess(const std::vector<std::string>& arguments, const Streams& streams);
  ~ChildProcess();  // kills its group when it still runs
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;

  pid_t pid() const { return pid_; }
  bool running();
  // "ended with status 3", "was killed by signal 9 (Killed)"; empty when it runs or all is well.
  std::string problem();
  bool killed_by_signal();
  bool stopped();                             // by SIGSTOP or the like, and has not gone on
  void signal(int number);                    // to its group
  bool wait(std::chrono::milliseconds time);  // at most so long for its end

 private:
  void look(int options);

  pid_t pid_ = -1;
  std::optional<int> status_;  // of waitpid()
  bool stopped_ = false;
};

struct ProgramResult {
  std::string problem;  // "ended with status 1"; empty: it ended well
  std::string output, error;
};

// Runs a program of this machine to its end and catches what it says. It is looked for in PATH; its
// standard input is empty. One that takes longer is killed,
// which is its problem then. Throws InputError when it cannot be started. Safe from any thread.
ProgramResult run_program(const std::vector<std::string>& arguments, std::chrono::seconds most);

}  // namespace strato
