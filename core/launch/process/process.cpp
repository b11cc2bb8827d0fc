#include "core/launch/process/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <thread>

#include "core/base/at.h"
#include "core/base/error.h"

namespace strato {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr const char* kCannotStart = "cannot start a process";

void check(int error, const std::string& what) {
  if (error == 0) return;
  if (error == ENOENT) throw InputError("", "", what + ": it is not in PATH", "install it");
  throw InputError("", "", fmt::format("{}: {}", what, ::strerror(error)),
                   "end other programs, or raise the limits of processes and open files");
}

// What posix_spawn() is told of the new process: its open files, a process group of its own, and no
// signal blocked or ignored.
class SpawnSettings {
 public:
  explicit SpawnSettings(const ChildProcess::Streams& streams) {
    check(::posix_spawn_file_actions_init(&files_), kCannotStart);
    check(::posix_spawnattr_init(&attributes_), kCannotStart);
    const std::array<int, 3> from{streams.input, streams.output, streams.error};
    for (int to = STDIN_FILENO; to <= STDERR_FILENO; ++to)
      check(::posix_spawn_file_actions_adddup2(&files_, from[at(to)], to), kCannotStart);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setsigdefault(&attributes_, &all);
    ::posix_spawnattr_setpgroup(&attributes_, 0);
    ::posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnSettings() {
    ::posix_spawn_file_actions_destroy(&files_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  pid_t spawn(const std::vector<std::string>& arguments) const {
    std::vector<char*> vector;
    for (const std::string& argument : arguments)
      vector.push_back(const_cast<char*>(argument.c_str()));
    vector.push_back(nullptr);
    pid_t pid = -1;
    check(::posix_spawnp(&pid, vector[0], &files_, &attributes_, vector.data(), environ),
          "cannot start " + arguments[0]);
    return pid;
  }

 private:
  posix_spawn_file_actions_t files_;
  posix_spawnattr_t attributes_;
};

// Reads until both have ended; false: the time is over.
bool read_all(Handle& output, Handle& error, ProgramResult& result, Clock::time_point until) {
  while (output.open() || error.open()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    // poll() passes over what is closed: -1.
    std::array<pollfd, 2> inputs{pollfd{output.get(), POLLIN, 0}, pollfd{error.get(), POLLIN, 0}};
    if (left <= 0) return false;
    if (::poll(inputs.data(), inputs.size(), static_cast<int>(left)) <= 0) continue;
    if (inputs[0].revents != 0) output.read_some(result.output);
    if (inputs[1].revents != 0) error.read_some(result.error);
  }
  return true;
}

const sigset_t kSignals = [] {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  return signals;
}();

}  // namespace

void Handle::close() {
  if (value_ >= 0) ::close(value_);
  value_ = -1;
}

void Handle::read_some(std::string& into) {
  std::array<char, 4096> bytes;
  const ssize_t size = ::read(value_, bytes.data(), bytes.size());
  if (size > 0)
    into.append(bytes.data(), static_cast<std::size_t>(size));
  else if (size == 0 || errno != EINTR)
    close();
}

Pipe Pipe::make() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    throw InputError("", "", fmt::format("cannot make a pipe: {}", ::strerror(errno)),
                     "raise the limit of open files");
  return {Handle(ends[0]), Handle(ends[1])};
}

Handle open_log(const std::filesystem::path& file) {
  Handle log(
      ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!log.open())
    throw InputError(file.string(), "", fmt::format("cannot be written: {}", ::strerror(errno)),
                     "choose a job folder that you may write to");
  return log;
}

std::optional<std::string> take_line(std::string& pending) {
  const std::size_t end = pending.find('\n');
  if (end == std::string::npos) return std::nullopt;
  std::string line = pending.substr(0, end);
  pending.erase(0, end + 1);
  return line;
}

void LineReader::read_more(std::chrono::milliseconds wait) {
  if (!open()) return;
  pollfd input{input_.get(), POLLIN, 0};
  if (::poll(&input, 1, static_cast<int>(wait.count())) > 0) input_.read_some(pending_);
}

ChildProcess::ChildProcess(const std::vector<std::string>& arguments, const Streams& streams)
    : pid_(SpawnSettings(streams).spawn(arguments)) {}

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
  const auto until = Clock::now() + time;
  while (running() && Clock::now() < until) std::this_thread::sleep_for(2ms);
  return !running();
}

ProgramResult run_program(const std::vector<std::string>& arguments, std::chrono::seconds most) {
  const auto until = Clock::now() + most;
  const Handle nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  Pipe output = Pipe::make(), error = Pipe::make();
  ChildProcess process(arguments, {nothing.get(), output.write.get(), error.write.get()});
  output.write.close();
  error.write.close();
  ProgramResult result;
  const bool ended =
      read_all(output.read, error.read, result, until) &&
      process.wait(std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()));
  if (ended) {
    result.problem = process.problem();
  } else {
    process.signal(SIGKILL);
    result.problem = fmt::format("has not ended after {} s", most.count());
  }
  return result;
}

EndSignals::EndSignals() { ::pthread_sigmask(SIG_BLOCK, &kSignals, nullptr); }

EndSignals::~EndSignals() { ::pthread_sigmask(SIG_UNBLOCK, &kSignals, nullptr); }

int EndSignals::wait(std::chrono::milliseconds time) {
  const auto milliseconds = time.count();
  const timespec wait{milliseconds / 1000, milliseconds % 1000 * 1'000'000};
  return std::max(0, ::sigtimedwait(&kSignals, nullptr, &wait));
}

}  // namespace strato
