#include "app/worker/message_memory.h"

#include <exception>

namespace strato::worker {

std::shared_ptr<std::byte> MessageMemory::made(std::size_t bytes) const {
  if (execution_ != nullptr) return ValueMemory(*execution_).scratch(bytes);
  return {new std::byte[bytes](), std::default_delete<std::byte[]>()};
}

std::span<std::byte> MessageMemory::at_least(std::size_t bytes) {
  if (size_ < bytes) {
    release();
    memory_ = made(bytes);
    size_ = bytes;
  }
  return {memory_.get(), bytes};
}

void MessageMemory::release() {
  memory_.reset();
  size_ = 0;
}

Bytes MessageMemory::largest(Bytes wanted) {
  if (execution_ == nullptr) return wanted;
  for (Bytes size = wanted; size.value > 1; size = size / 2) {
    try {
      at_least(static_cast<std::size_t>(size.value));
      return size;
    } catch (const std::exception&) {  // too much for the device
      release();
    }
  }
  return Bytes(1);
}

}  // namespace strato::worker
