#include "core/launch/process/handle.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include <array>
#include <cerrno>

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

std::optional<std::string> LineReader::take() {
  const std::size_t end = pending_.find('\n');
  if (end == std::string::npos) return std::nullopt;
  std::string line = pending_.substr(0, end);
  pending_.erase(0, end + 1);
  return line;
}

void LineReader::read_more(std::chrono::milliseconds wait) {
  if (!open()) return;
  pollfd input{input_.get(), POLLIN, 0};
  if (::poll(&input, 1, static_cast<int>(wait.count())) > 0) input_.read_some(pending_);
}

}  // namespace strato
