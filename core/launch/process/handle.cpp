#include "core/launch/process/handle.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "core/base/error.h"

namespace strato {

Handle& Handle::operator=(Handle&& other) noexcept {
  if (this != &other) {
    close();
    value_ = other.release();
  }
  return *this;
}

void Handle::close() {
  if (value_ >= 0) ::close(value_);
  value_ = -1;
}

int Handle::release() { return std::exchange(value_, -1); }

Pipe Pipe::make() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw InputError("", "", fmt::format("cannot make a pipe: {}", ::strerror(errno)),
                     "raise the limit of open files");
  }
  return {Handle(ends[0]), Handle(ends[1])};
}

Handle open_log(const std::filesystem::path& file) {
  Handle log(
      ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!log.open()) {
    throw InputError(file.string(), "", fmt::format("cannot be written: {}", ::strerror(errno)),
                     "choose a job folder that you may write to");
  }
  return log;
}

}  // namespace strato
