#include "plugins/engines/replay_buffers/buffer_pool.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

namespace strato::replay {
namespace {

constexpr std::size_t kAlignment = 64;

std::byte* allocate_on_host(std::size_t bytes) {
  const std::size_t rounded =
      std::max((bytes + kAlignment - 1) / kAlignment, std::size_t{1}) * kAlignment;
  auto* data = static_cast<std::byte*>(std::aligned_alloc(kAlignment, rounded));
  if (data != nullptr) std::memset(data, 0, rounded);
  return data;
}

}  // namespace

const Memory kHostMemory{allocate_on_host, [](std::byte* data) { std::free(data); }};

Buffer BufferPool::take(std::size_t bytes) {
  Buffer buffer = unused(bytes);
  if (!buffer) buffer = make(bytes);
  const std::lock_guard lock(mutex_);
  taken_ += static_cast<std::int64_t>(bytes);
  peak_ = std::max(peak_, taken_);
  return buffer;
}

Buffer BufferPool::unused(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  std::vector<Buffer>& free = free_[bytes];
  if (free.empty()) return no_buffer();
  Buffer buffer = std::move(free.back());
  free.pop_back();
  return buffer;
}

// Buffers of other sizes that nobody uses make room for it.
Buffer BufferPool::make(std::size_t bytes) {
  Buffer buffer(memory_.allocate(bytes), memory_.free);
  if (buffer) return buffer;
  {
    const std::lock_guard lock(mutex_);
    free_.clear();
  }
  buffer.reset(memory_.allocate(bytes));
  if (!buffer) throw std::bad_alloc();
  return buffer;
}

void BufferPool::give_back(Buffer buffer, std::size_t bytes) {
  if (!buffer) return;
  const std::lock_guard lock(mutex_);
  taken_ -= static_cast<std::int64_t>(bytes);
  free_[bytes].push_back(std::move(buffer));
}

Bytes BufferPool::peak() const {
  const std::lock_guard lock(mutex_);
  return Bytes(peak_);
}

}  // namespace strato::replay
