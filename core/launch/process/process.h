// Processes of this machine: open files and pipes that are closed when their owner goes, processes
// that this one starts, and the signals that end it. Objects are not thread safe.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace strato {

class Handle {
 public:
  Handle() = default;
  explicit Handle(int value) : value_(value) {}
  Handle(Handle&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
  Handle& operator=(Handle&& other) noexcept {
    const Handle old(std::exchange(value_, std::exchange(other.value_, -1)));
    return *this;
  }
  ~Handle() { close(); }
  int get() const { return value_; }
  bool open() const { return value_ >= 0; }
  void close();
  // Appends what a read gives to `into`; closes where nothing more will come.
  void read_some(std::string& into);

 private:
  int value_ = -1;
};

struct Pipe {
  Handle read, write;
  static Pipe make();  // closed in programs that are started; throws InputError
};

// Emptied, for writing at its end; never what a link of this name leads to. Throws InputError.
Handle open_log(const std::filesystem::path& file);

// Takes the first whole line, without its end, away from what was read. Nothing: there is none.
std::optional<std::string> take_line(std::string& pending);

// Lines that another process writes into a pipe.
class LineReader {
 public:
  LineReader() = default;
  explicit LineReader(Handle input) : input_(std::move(input)) {}

  bool open() const { return input_.open(); }  // false: everything has been read
  std::optional<std::string> take() { return take_line(pending_); }  // one that has been read
  // Waits at most so long for more, and reads it.
  void read_more(std::chrono::milliseconds wait);

 private:
  Handle input_;
  std::string pending_;
};

// A process that is started with an argument vector, in a process group of its own: no shell, no
// signal blocked or ignored.
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

// Runs a program to its end and catches what it says. It is looked for in PATH; its standard input
// is empty. One that takes longer is killed, which is its problem then. Throws InputError when it
// cannot be started. Safe from any thread.
ProgramResult run_program(const std::vector<std::string>& arguments, std::chrono::seconds most);

// SIGINT and SIGTERM for the one thread that acts on them: blocks them while it lives, in the
// thread that makes it and in the threads that start afterwards: so make it before any other
// thread.
class EndSignals {
 public:
  // + signal: what a shell reports for a program that it ended.
  static constexpr int kKilledBy = 128;

  EndSignals();
  ~EndSignals();
  EndSignals(const EndSignals&) = delete;
  EndSignals& operator=(const EndSignals&) = delete;

  // The next one that comes within this time; 0: none came. From any thread.
  static int wait(std::chrono::milliseconds time);
};

}  // namespace strato
