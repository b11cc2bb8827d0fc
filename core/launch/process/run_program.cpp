#include "core/launch/process/run_program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "core/launch/process/child_process.h"
#include "core/launch/process/handle.h"

namespace strato {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

void read_some(Handle& from, std::string& into) {
  std::array<char, 4096> bytes;
  const ssize_t size = ::read(from.get(), bytes.data(), bytes.size());
  if (size > 0) {
    into.append(bytes.data(), static_cast<std::size_t>(size));
  } else if (size == 0 || errno != EINTR) {
    from.close();
  }
}

// Reads until both have ended; false: the time is over.
bool read_all(Handle& output, Handle& error, ProgramResult& result, Clock::time_point until) {
  while (output.open() || error.open()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    // poll() passes over what is closed: -1.
    std::array<pollfd, 2> inputs{pollfd{output.get(), POLLIN, 0}, pollfd{error.get(), POLLIN, 0}};
    if (left <= 0) return false;
    if (::poll(inputs.data(), inputs.size(), static_cast<int>(left)) <= 0) continue;
    if (inputs[0].revents != 0) read_some(output, result.output);
    if (inputs[1].revents != 0) read_some(error, result.error);
  }
  return true;
}

}  // namespace

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

}  // namespace strato
