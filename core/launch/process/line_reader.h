// Lines that another process writes into a pipe.
//
// Objects are not thread safe.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "core/launch/process/handle.h"

namespace strato {

class LineReader {
 public:
  LineReader() = default;
  explicit LineReader(Handle input) : input_(std::move(input)) {}

  bool open() const { return input_.open(); }  // false: everything has been read
  // A line that has been read, without its end. Nothing: there is none.
  std::optional<std::string> take();
  // Waits at most so long for more, and reads it.
  void read_more(std::chrono::milliseconds wait);

 private:
  Handle input_;
  std::string pending_;
};

}  // namespace strato
