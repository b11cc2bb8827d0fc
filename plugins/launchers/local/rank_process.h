// One worker process on this machine: started with an argument vector, in a process group of its
// own, on a leash: its standard input is a pipe that ends when this process does.
//
// Not thread safe.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace strato {

// A handle that is closed when it goes.
class Handle {
 public:
  Handle() = default;
  explicit Handle(int value) : value_(value) {}
  Handle(Handle&& other) noexcept : value_(other.release()) {}
  Handle& operator=(Handle&& other) noexcept;
  ~Handle() { close(); }
  int get() const { return value_; }
  bool open() const { return value_ >= 0; }
  void close();
  int release();

 private:
  int value_ = -1;
};

struct Pipe {
  Handle read, write;
  static Pipe make();  // closed in programs that are started; throws InputError
};

class RankProcess {
 public:
  // `output`: where its standard output goes; -1: into the log. Throws InputError.
  RankProcess(const std::vector<std::string>& arguments, const std::filesystem::path& log,
              int output);
  ~RankProcess();  // kills it when it still runs
  RankProcess(RankProcess&& other) noexcept;
  RankProcess& operator=(RankProcess&&) = delete;

  pid_t pid() const { return pid_; }
  bool running();
  // "ended with status 3", "was killed by signal 9 (Killed)"; empty when it still runs or all is
  // well.
  std::string problem();
  bool killed_by_signal();
  void signal(int number);
  // Waits at most so long for its end.
  bool wait(std::chrono::milliseconds time);

 private:
  void look(int options);

  pid_t pid_ = -1;
  std::optional<int> status_;  // of waitpid()
  Handle leash_;
};

}  // namespace strato
