// Memory for messages that are measured: the host's, or the device's of an engine.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "app/worker/value_memory.h"
#include "core/base/units.h"

namespace strato::worker {

class MessageMemory {
 public:
  // `execution`: of the engine whose device holds the messages; null: the host does.
  explicit MessageMemory(RankExecution* execution) : execution_(execution) {}

  // So many bytes, the same as the last time as far as it was as large. Throws std::bad_alloc, or
  // what the engine throws.
  std::span<std::byte> at_least(std::size_t bytes);
  void release();

  // Of a device: the largest size up to `wanted` that it can give, found by trying. Of the host:
  // `wanted`.
  Bytes largest(Bytes wanted);

 private:
  std::shared_ptr<std::byte> made(std::size_t bytes) const;

  RankExecution* execution_;
  std::shared_ptr<std::byte> memory_;
  std::size_t size_ = 0;
};

}  // namespace strato::worker
