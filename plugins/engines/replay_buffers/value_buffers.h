// The values of a rank as buffers of their real sizes. Residents are there from the start; others
// from when they are first taken until they are released.
//
// Any thread; never two at the same time for one value.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "core/graph/value/graph.h"
#include "core/program/rank/rank_program.h"
#include "plugins/engines/replay_buffers/buffer_pool.h"

namespace strato::replay {

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
