// Copies between values, wherever the engine keeps them, and memory beside them.
#pragma once

#include <cstring>
#include <memory>

#include "core/plugin/api/rank_engine.h"

namespace strato::worker {

inline void copy_on_host(const RowCopy& rows) {
  if (rows.width == 0) return;
  for (std::size_t i = 0; i < rows.rows; ++i)
    std::memcpy(rows.to + i * rows.to_pitch, rows.from + i * rows.from_pitch, rows.width);
}

class ValueMemory {
 public:
  explicit ValueMemory(RankExecution& execution)
      : device_(dynamic_cast<DeviceMemory*>(&execution)) {}

  bool on_device() const { return device_ != nullptr; }
  void copy(const RowCopy& rows) const {
    device_ == nullptr ? copy_on_host(rows) : device_->copy(rows);
  }
  std::shared_ptr<std::byte> scratch(std::size_t bytes) const {
    if (device_ != nullptr) return device_->scratch(bytes);
    return {new std::byte[bytes](), std::default_delete<std::byte[]>()};
  }

 private:
  DeviceMemory* device_;  // nullptr: the values are the host's
};

}  // namespace strato::worker
