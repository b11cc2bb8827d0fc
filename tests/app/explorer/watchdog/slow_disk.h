// While it lives, every SQLite file of this program lies on a disk that takes its time: each read,
// write and flush of any connection that is opened meanwhile sleeps first. Tells who waited.
#pragma once

#include <chrono>
#include <cstddef>

namespace strato {

class SlowDisk {
 public:
  // The thread that makes it is the one that must not wait.
  explicit SlowDisk(std::chrono::milliseconds each);
  ~SlowDisk();
  SlowDisk(const SlowDisk&) = delete;
  SlowDisk& operator=(const SlowDisk&) = delete;

  std::size_t waits() const;           // of all threads
  std::size_t waits_of_maker() const;  // of the thread that made it
};

}  // namespace strato
