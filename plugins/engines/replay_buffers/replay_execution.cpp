#include "plugins/engines/replay_buffers/replay_execution.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

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
  if (free.empty()) return {};
  Buffer buffer = std::move(free.back());
  free.pop_back();
  return buffer;
}

// Buffers of other sizes that nobody uses make room for it.
Buffer BufferPool::make(std::size_t bytes) {
  Buffer buffer(memory_.allocate(bytes), FreeBuffer{memory_.free});
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

ValueBuffers::ValueBuffers(std::shared_ptr<const Graph> graph,
                           std::shared_ptr<const RankProgram> program, Memory memory,
                           std::string where)
    : graph_(std::move(graph)),
      program_(std::move(program)),
      where_(std::move(where)),
      pool_(memory) {
  for (const Value& value : program_->values) {
    sizes_.push_back(static_cast<std::size_t>(bytes_of(*graph_, value).value));
  }
  buffers_.resize(sizes_.size());
  for (std::size_t i = 0; i < sizes_.size(); ++i) {
    if (program_->values[ValueId(i)].resident) take(ValueId(i));
  }
}

std::span<std::byte> ValueBuffers::memory(ValueId id) {
  take(id);
  return {buffers_[id].get(), sizes_[id]};
}

void ValueBuffers::take_writes(std::size_t instruction) {
  for (const ValueId id : program_->writes[instruction]) {
    if (id.valid()) take(id);
  }
}

void ValueBuffers::release(ValueId id) {
  if (program_->values[id].resident) return;
  pool_of(id).give_back(std::exchange(buffers_[id], {}), sizes_[id]);
}

std::span<const std::byte> ValueBuffers::present(ValueId id) const {
  CHECK(buffers_[id] != nullptr, "a value that is not there");
  return {buffers_[id].get(), sizes_[id]};
}

std::span<std::byte> ValueBuffers::to_fill(ValueId id, const std::string& elements) {
  if (elements.size() != sizes_[id]) {
    throw InputError("", fmt::format("tensor \"{}\"", tensor_of(id).name),
                     fmt::format("has {} bytes instead of {}", elements.size(), sizes_[id]),
                     "give all its elements");
  }
  return memory(id);
}

void ValueBuffers::take(ValueId id) {
  if (buffers_[id]) return;
  try {
    buffers_[id] = pool_of(id).take(sizes_[id]);
  } catch (const std::bad_alloc&) {
    throw InputError("", fmt::format("tensor \"{}\"", tensor_of(id).name),
                     fmt::format("needs {} bytes, and {} memory does not suffice", sizes_[id],
                                 program_->values[id].on_host ? "the machine's" : where_),
                     "take a smaller batch or more devices");
  }
}

const Tensor& ValueBuffers::tensor_of(ValueId id) const {
  return graph_->tensor(program_->values[id].tensor);
}

}  // namespace strato::replay
