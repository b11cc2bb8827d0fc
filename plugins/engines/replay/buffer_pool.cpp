#include "plugins/engines/replay/buffer_pool.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace strato::replay {
namespace {

constexpr std::size_t kAlignment = 64;

Buffer make_buffer(std::size_t bytes) {
  const std::size_t rounded = std::max((bytes + kAlignment - 1) / kAlignment, std::size_t{1}) *
                              kAlignment;
  Buffer data(static_cast<std::byte*>(std::aligned_alloc(kAlignment, rounded)));
  if (!data) throw std::bad_alloc();
  std::memset(data.get(), 0, rounded);
  return data;
}

}  // namespace

Buffer BufferPool::take(std::size_t bytes) {
  Buffer buffer;
  {
    const std::lock_guard lock(mutex_);
    taken_ += static_cast<std::int64_t>(bytes);
    peak_ = std::max(peak_, taken_);
    std::vector<Buffer>& free = free_[bytes];
    if (!free.empty()) {
      buffer = std::move(free.back());
      free.pop_back();
    }
  }
  return buffer ? std::move(buffer) : make_buffer(bytes);
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
