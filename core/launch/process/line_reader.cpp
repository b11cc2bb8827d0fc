#include "core/launch/process/line_reader.h"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace strato {

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
  if (::poll(&input, 1, static_cast<int>(wait.count())) <= 0) return;
  std::array<char, 4096> bytes;
  const ssize_t size = ::read(input_.get(), bytes.data(), bytes.size());
  if (size > 0) {
    pending_.append(bytes.data(), static_cast<std::size_t>(size));
  } else if (size == 0 || errno != EINTR) {
    input_.close();
  }
}

}  // namespace strato
