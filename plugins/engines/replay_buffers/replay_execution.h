// What engines that replay have in common: instructions take as long as they were simulated to, on
// buffers of the real sizes; transfers and collectives are the transport's and take what they take.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/graph/value/graph.h"
#include "core/plugin/api/rank_engine.h"
#include "core/program/rank/rank_program.h"

namespace strato::replay {

// Buffers come from these functions, which any thread may call.
struct Memory {
  std::byte* (*allocate)(std::size_t bytes);  // filled with zeros; nullptr: there is no more
  void (*free)(std::byte* data);
};
extern const Memory kHostMemory;

struct FreeBuffer {
  void (*free)(std::byte* data) = nullptr;
  void operator()(std::byte* data) const { free(data); }
};
using Buffer = std::unique_ptr<std::byte, FreeBuffer>;

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

// The values of a rank: residents are there from the start; others from when they are first taken
// until they are released. Any thread; never two at the same time for one value.
class ValueBuffers {
 public:
  // `where`: whose memory it is, for errors: "the machine's". What a rank keeps on its host has
  // memory there.
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
  Bytes peak() const { return pool_.peak(); }  // without what is on the host

 private:
  void take(ValueId id);
  BufferPool& pool_of(ValueId id) { return program_->values[id].on_host ? host_ : pool_; }
  const Tensor& tensor_of(ValueId id) const;

  std::shared_ptr<const Graph> graph_;
  std::shared_ptr<const RankProgram> program_;
  std::string where_;
  BufferPool pool_, host_{kHostMemory};
  IdVector<ValueId, std::size_t> sizes_;
  IdVector<ValueId, Buffer> buffers_;
};

// Nanoseconds of the monotonic clock.
inline Nanos now() {
  return Nanos(std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1));
}

// The clock of the compute stream does not slip: an instruction that starts right after another one
// starts when that one should have ended, so that lateness does not add up over a step.
class ReplayExecution : public RankExecution {
 public:
  // `slack`: a start within so much of the last end follows it directly. `where`: see ValueBuffers.
  ReplayExecution(std::shared_ptr<const Graph> graph, std::shared_ptr<const RankProgram> program,
                  Nanos slack, Memory memory, std::string where)
      : buffers_(std::move(graph), program, memory, std::move(where)),
        program_(std::move(program)),
        slack_(slack) {}

  void begin_step(std::int64_t) override { last_end_ = Nanos(); }
  void run(std::size_t i) override {
    const Nanos start = now();
    const Nanos from = start - last_end_ < slack_ ? last_end_ : start;
    buffers_.take_writes(i);
    last_end_ = from + program_->instructions[i].duration;
    be_busy_until(last_end_);
  }
  std::span<std::byte> memory(ValueId id) override { return buffers_.memory(id); }
  void release(ValueId id) override { buffers_.release(id); }
  std::optional<double> loss() const override { return std::nullopt; }
  Bytes peak_memory() const override { return buffers_.peak(); }

 protected:
  virtual void be_busy_until(Nanos end) = 0;

  ValueBuffers buffers_;

 private:
  std::shared_ptr<const RankProgram> program_;
  Nanos slack_, last_end_;
};

// An engine that replays has no device to measure ops on: a profile of it would be what it was
// given.
class MeasuresNothing final : public Engine {
 public:
  explicit MeasuresNothing(std::string name) : name_(std::move(name)) {}
  std::vector<EngineDevice> devices() const override { return {}; }
  std::string software() const override { return name_; }
  bool supports(const Graph&, OpId) const override { return false; }
  std::unique_ptr<Execution> prepare(std::shared_ptr<const Graph>,
                                     const EngineOptions& options) const override {
    throw InputError("", "--device", "there is no device \"" + options.device + "\"",
                     "take another engine: this one computes nothing");
  }

 private:
  std::string name_;
};

}  // namespace strato::replay
