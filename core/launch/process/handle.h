// Open files and pipes that are closed when their owner goes.
#pragma once

#include <filesystem>

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

 private:
  int value_ = -1;
};

struct Pipe {
  Handle read, write;
  static Pipe make();  // closed in programs that are started; throws InputError
};

// Emptied, for writing at its end; never what a link of this name leads to. Throws InputError.
Handle open_log(const std::filesystem::path& file);

}  // namespace strato
