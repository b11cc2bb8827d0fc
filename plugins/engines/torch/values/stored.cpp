#include "plugins/engines/torch/values/stored.h"

#include <c10/core/impl/alloc_cpu.h>
#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "core/base/error.h"

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

at::ScalarType scalar_type(DataType type) {
  static constexpr at::ScalarType kTypes[] = {at::kDouble, at::kFloat, at::kHalf,  at::kBFloat16,
                                              at::kLong,   at::kInt,   at::kShort, at::kChar,
                                              at::kByte,   at::kBool};  // in DataType's order
  return kTypes[static_cast<std::size_t>(type)];
}

Shard whole_batch(const Graph& graph, const EngineOptions& options) {
  const bool adam =
      std::ranges::any_of(graph.ops(), [](const Op& op) { return op.type == "ApplyAdam"; });
  Shard shard;
  shard.samples.end = static_cast<std::int32_t>(graph.batch());
  shard.seed = options.seed;
  shard.learning_rate = options.learning_rate.value_or(adam ? 0.001 : 0.01);
  return shard;
}

at::Tensor from_elements(const Tensor& tensor, const Shape& shape, const std::string& elements) {
  at::Tensor value = at::empty(shape, scalar_type(tensor.type));
  if (value.nbytes() != elements.size()) {
    throw InputError("", fmt::format("tensor \"{}\"", tensor.name),
                     fmt::format("has {} bytes instead of {}", elements.size(), value.nbytes()),
                     "give all its elements");
  }
  if (!elements.empty()) std::memcpy(value.data_ptr(), elements.data(), elements.size());
  return value;
}

std::string elements_of(const at::Tensor& value) {
  const at::Tensor host = value.cpu().contiguous();
  return {static_cast<const char*>(host.data_ptr()), host.nbytes()};
}

void check_device(const std::string& device) {
  if (device == "cpu") return;
  throw InputError("", "--device", fmt::format("there is no device \"{}\"", device), "use cpu");
}

std::string reason_of(const c10::Error& error) {
  const std::string message = error.what_without_backtrace();
  return message.substr(0, std::min(message.find('\n'), std::size_t{200}));
}

void refuse_model(const c10::Error& error) {
  throw InputError("", "", fmt::format("LibTorch refuses the model: {}", reason_of(error)),
                   "take a smaller batch");
}

void refuse(const Op& op, const std::string& reason) {
  const auto tells = [&](const char* of) { return reason.find(of) != std::string::npos; };
  refuse(fmt::format("op \"{}\" ({})", op.name, op.type), reason,
         tells("memory")   ? "take a smaller batch"
         : tells("'Half'") ? "compute in bfloat16 or float32"
                           : "export the model without it");
}

void refuse(const std::string& place, const std::string& reason, const std::string& remedy) {
  throw InputError("", place, fmt::format("LibTorch refuses it: {}", reason), remedy);
}

void check_output(const Op& op, const Tensor& tensor, const Shape& expected,
                  const at::Tensor& value) {
  if (!value.defined()) refuse(op, fmt::format("it does not make \"{}\"", tensor.name));
  if (value.sizes() != at::IntArrayRef(expected) || value.scalar_type() != scalar_type(tensor.type))
    refuse(op, fmt::format("\"{}\" gets another shape or type than in the graph", tensor.name));
}

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
