// A RankExecution is also a DeviceMemory when the host cannot touch what its memory() spans:
// whoever would copy there asks it to. A transport for such memory (NCCL) is told nothing; it reads
// pointers as the device does.
//
// Any thread; a copy is done when the call returns.
#pragma once

#include <cstddef>
#include <memory>

namespace strato {

// `rows` times `width` bytes, each row so far after the one before.
struct RowCopy {
  std::byte* to = nullptr;
  std::size_t to_pitch = 0;
  const std::byte* from = nullptr;
  std::size_t from_pitch = 0;
  std::size_t width = 0, rows = 1;
};

class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;
  // Both ends are of this device, or of the host.
  virtual void copy(const RowCopy& rows) = 0;
  // Returns memory for a transport's pieces. Throws std::bad_alloc.
  virtual std::shared_ptr<std::byte> scratch(std::size_t bytes) = 0;
};

}  // namespace strato
