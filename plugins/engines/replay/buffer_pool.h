// Buffers of a rank that replays: what one value gives back the next of its size gets, so that pages
// are asked of the system in the first step only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "core/base/units.h"

namespace strato::replay {

struct FreeBuffer {
  void operator()(std::byte* data) const { std::free(data); }
};
using Buffer = std::unique_ptr<std::byte, FreeBuffer>;

// Thread safe.
class BufferPool {
 public:
  Buffer take(std::size_t bytes);  // zeros at first; throws std::bad_alloc
  void give_back(Buffer buffer, std::size_t bytes);
  Bytes peak() const;  // the most that was taken at once

 private:
  mutable std::mutex mutex_;
  std::map<std::size_t, std::vector<Buffer>> free_;  // by size
  std::int64_t taken_ = 0, peak_ = 0;
};

}  // namespace strato::replay
