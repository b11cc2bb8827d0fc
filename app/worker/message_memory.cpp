#include "app/worker/message_memory.h"

#include <algorithm>
#include <exception>
#include <fstream>
#include <limits>
#include <string>

namespace strato::worker {
namespace {

constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();

std::int64_t number_in(const char* path) {
  std::ifstream file(path);
  std::int64_t number = kUnlimited;
  if (!(file >> number)) return kUnlimited;  // not there, or "max"
  return number;
}

std::int64_t available() {
  std::ifstream file("/proc/meminfo");
  for (std::string key; file >> key;) {
    std::int64_t kilobytes = 0;
    if (key == "MemAvailable:" && file >> kilobytes) return kilobytes * 1024;
  }
  return kUnlimited;
}

}  // namespace

Bytes memory_at_hand() {
  const std::int64_t limit = number_in("/sys/fs/cgroup/memory.max");
  const std::int64_t used = number_in("/sys/fs/cgroup/memory.current");
  const std::int64_t group = limit == kUnlimited || used == kUnlimited ? kUnlimited : limit - used;
  return Bytes(std::max<std::int64_t>(0, std::min(available(), group)));
}

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
