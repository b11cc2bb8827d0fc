#include "plugins/engines/torch/values/memory.h"

#include <c10/core/impl/alloc_cpu.h>
#include <malloc.h>

#include <atomic>
#include <cstring>

#include "plugins/engines/torch/values/aten.h"

namespace strato::torch_engine {
namespace {

std::atomic<std::int64_t> allocated = 0, peak = 0;

void give_back(void* data) {
  if (data != nullptr) {
    allocated.fetch_sub(static_cast<std::int64_t>(::malloc_usable_size(data)),
                        std::memory_order_relaxed);
  }
  c10::free_cpu(data);
}

// The library's own allocation with a count. Its interface changed between versions 1 and 2 (what
// is const, what there is to copy data): each of these overrides what there is to override.
class CountingAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) const { return allocated_data(bytes); }
  c10::DataPtr allocate(std::size_t bytes) { return allocated_data(bytes); }
  c10::DeleterFnPtr raw_deleter() const override { return &give_back; }
  void copy_data(void* to, const void* from, std::size_t count) const {
    std::memcpy(to, from, count);
  }

 private:
  static c10::DataPtr allocated_data(std::size_t bytes) {
    void* data = bytes == 0 ? nullptr : c10::alloc_cpu(bytes);
    if (data != nullptr) {
      const auto size = static_cast<std::int64_t>(::malloc_usable_size(data));
      const std::int64_t now = allocated.fetch_add(size, std::memory_order_relaxed) + size;
      std::int64_t before = peak.load(std::memory_order_relaxed);
      while (now > before && !peak.compare_exchange_weak(before, now, std::memory_order_relaxed)) {
      }
    }
    return {data, data, &give_back, c10::Device(c10::DeviceType::CPU)};
  }
};

}  // namespace

void count_allocations() {
  static CountingAllocator allocator;  // lives as long as the library, which is never unloaded
  static const bool installed = [] {
    c10::SetCPUAllocator(&allocator, 1);
    return true;
  }();
  (void)installed;
}

std::int64_t allocated_bytes() { return allocated; }
std::int64_t peak_bytes() { return peak; }
void reset_peak() { peak = allocated.load(); }

}  // namespace strato::torch_engine
