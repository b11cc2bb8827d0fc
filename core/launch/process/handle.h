// Open files and pipes that are closed when their owner goes.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

namespace strato {

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

// Lines that another process writes into a pipe. Objects are not thread safe.
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
