// Copies between values, wherever the engine keeps them, and memory beside them.
#pragma once

#include <cstring>
#include <memory>

#include "core/base/error.h"
#include "core/plugin/api/rank_engine.h"

namespace strato::worker {

inline void copy_on_host(const RowCopy& rows) {
  if (rows.width == 0) return;
  for (std::size_t i = 0; i < rows.rows; ++i)
    std::memcpy(rows.to + i * rows.to_pitch, rows.from + i * rows.from_pitch, rows.width);
}

// Throws InputError when the engine's values are where the transport cannot touch them.
inline void expect_reach(const RankExecution& execution, const Transport& transport) {
  if (dynamic_cast<const DeviceMemory*>(&execution) == nullptr || transport.reaches_devices())
    return;
  throw InputError("", "--transport",
                   "this one moves only what is in the host's memory, and the engine's values are "
                   "on a GPU",
                   "give nccl");
}

class ValueMemory {
 public:
  explicit ValueMemory(RankExecution& execution)
      : device_(dynamic_cast<DeviceMemory*>(&execution)) {}

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
