#include "core/launch/process/child_process.h"

#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <thread>
#include <utility>

#include "core/base/error.h"

namespace strato {
namespace {

using namespace std::chrono_literals;

void check(int error, const std::string& what) {
  if (error == 0) return;
  if (error == ENOENT) throw InputError("", "", what + ": it is not in PATH", "install it");
  throw InputError("", "", fmt::format("{}: {}", what, ::strerror(error)),
                   "end other programs, or raise the limits of processes and open files");
}

class FileActions {
 public:
  FileActions() { check(::posix_spawn_file_actions_init(&actions_), "cannot start a process"); }
  ~FileActions() { ::posix_spawn_file_actions_destroy(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  void move(int from, int to) {
    check(::posix_spawn_file_actions_adddup2(&actions_, from, to), "cannot start a process");
  }
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

// A process group of its own, and no signal blocked or ignored.
class Attributes {
 public:
  Attributes() {
    check(::posix_spawnattr_init(&attributes_), "cannot start a process");
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setsigdefault(&attributes_, &all);
    ::posix_spawnattr_setpgroup(&attributes_, 0);
    ::posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~Attributes() { ::posix_spawnattr_destroy(&attributes_); }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_;
};

pid_t spawn(const std::vector<std::string>& arguments, const FileActions& files) {
  std::vector<char*> vector;
  for (const std::string& argument : arguments)
    vector.push_back(const_cast<char*>(argument.c_str()));
  vector.push_back(nullptr);
  const Attributes attributes;
  pid_t pid = -1;
  const int error =
      ::posix_spawnp(&pid, vector[0], files.get(), attributes.get(), vector.data(), environ);
  check(error, "cannot start " + arguments[0]);
  return pid;
}

}  // namespace

ChildProcess::ChildProcess(const std::vector<std::string>& arguments, const Streams& streams) {
  FileActions files;
  files.move(streams.input, STDIN_FILENO);
  files.move(streams.output, STDOUT_FILENO);
  files.move(streams.error, STDERR_FILENO);
  pid_ = spawn(arguments, files);
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      status_(std::exchange(other.status_, std::nullopt)),
      stopped_(other.stopped_) {}

ChildProcess::~ChildProcess() {
  if (pid_ < 0) return;
  signal(SIGKILL);
  while (!status_) look(0);
}

void ChildProcess::look(int options) {
  if (status_ || pid_ < 0) return;
  int status = 0;
  const pid_t found = ::waitpid(pid_, &status, options | WUNTRACED | WCONTINUED);
  if (found < 0 && errno != EINTR) status_ = 0;  // another one has waited for it
  if (found != pid_) return;
  stopped_ = WIFSTOPPED(status);
  if (!WIFSTOPPED(status) && !WIFCONTINUED(status)) status_ = status;
}

bool ChildProcess::running() {
  look(WNOHANG);
  return !status_;
}

bool ChildProcess::stopped() { return running() && stopped_; }

bool ChildProcess::killed_by_signal() { return !running() && WIFSIGNALED(*status_); }

std::string ChildProcess::problem() {
  if (running() || *status_ == 0) return "";
  if (!WIFSIGNALED(*status_)) return fmt::format("ended with status {}", WEXITSTATUS(*status_));
  const int number = WTERMSIG(*status_);
  return fmt::format("was killed by signal {} ({})", number, ::strsignal(number));
}

void ChildProcess::signal(int number) {
  if (running()) ::kill(-pid_, number);
}

bool ChildProcess::wait(std::chrono::milliseconds time) {
  const auto until = std::chrono::steady_clock::now() + time;
  while (running() && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(2ms);
  return !running();
}

}  // namespace strato
