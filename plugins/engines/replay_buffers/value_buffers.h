// The values of a rank that replays as buffers of their real sizes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "core/graph/value/graph.h"
#include "core/program/rank/rank_program.h"

namespace strato::replay {

// Buffers come from these functions, which any thread may call.
struct Memory {
  std::byte* (*allocate)(std::size_t bytes);  // filled with zeros; nullptr: there is no more
  void (*free)(std::byte* data);
};
extern const Memory kHostMemory;

using Buffer = std::unique_ptr<std::byte, void (*)(std::byte*)>;
inline Buffer no_buffer() { return {nullptr, nullptr}; }

// What one value gives back the next of its size gets, so that memory is asked for in the first
// step only. Thread safe.
class BufferPool {
 public:
  explicit BufferPool(Memory memory) : memory_(memory) {}
  // Throws std::bad_alloc when the memory does not suffice, even without what lies unused here.
  Buffer take(std::size_t bytes);
  void give_back(Buffer buffer, std::size_t bytes);
  Bytes peak() const;  // the most that was taken at once

 private:
  Buffer unused(std::size_t bytes);
  Buffer make(std::size_t bytes);

  Memory memory_;
  mutable std::mutex mutex_;
  std::map<std::size_t, std::vector<Buffer>> free_;  // by size
  std::int64_t taken_ = 0, peak_ = 0;
};

// Residents are there from the start; others from when they are first taken until they are
// released. Any thread; never two at the same time for one value.
class ValueBuffers {
 public:
  // `where`: whose memory it is, for errors: "the machine's".
  ValueBuffers(std::shared_ptr<const Graph> graph, std::shared_ptr<const RankProgram> program,
               Memory memory, std::string where);

  // Throws InputError naming the tensor when the memory does not suffice.
  std::span<std::byte> memory(ValueId id);
  void take_writes(std::size_t instruction);
  void release(ValueId id);
  // One that is there.
  std::span<const std::byte> present(ValueId id) const;
  // Returns the memory of a value that is to be filled with all of its elements. Throws InputError
  // when they are of another size.
  std::span<std::byte> to_fill(ValueId id, const std::string& elements);
  Bytes peak() const { return pool_.peak(); }

 private:
  void take(ValueId id);
  const Tensor& tensor_of(ValueId id) const;

  std::shared_ptr<const Graph> graph_;
  std::shared_ptr<const RankProgram> program_;
  std::string where_;
  BufferPool pool_;
  IdVector<ValueId, std::size_t> sizes_;
  IdVector<ValueId, Buffer> buffers_;
};

}  // namespace strato::replay
