// Buffers of a rank that replays: what one value gives back the next of its size gets, so that
// memory is asked for in the first step only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "core/base/units.h"

namespace strato::replay {

// Buffers come from these functions, which any thread may call.
struct Memory {
  std::byte* (*allocate)(std::size_t bytes);  // filled with zeros; nullptr: there is no more
  void (*free)(std::byte* data);
};
extern const Memory kHostMemory;

using Buffer = std::unique_ptr<std::byte, void (*)(std::byte*)>;
inline Buffer no_buffer() { return {nullptr, nullptr}; }

// Thread safe.
class BufferPool {
 public:
  explicit BufferPool(Memory memory) : memory_(memory) {}
  // Throws std::bad_alloc when the memory does not suffice, even without what lies unused here.
  Buffer take(std::size_t bytes);
  void give_back(Buffer buffer, std::size_t bytes);
  Bytes peak() const;  // the most that was taken at once

 private:
  Buffer unused(std::size_t bytes);
  Buffer make(std::size_t bytes);

  Memory memory_;
  mutable std::mutex mutex_;
  std::map<std::size_t, std::vector<Buffer>> free_;  // by size
  std::int64_t taken_ = 0, peak_ = 0;
};

}  // namespace strato::replay
