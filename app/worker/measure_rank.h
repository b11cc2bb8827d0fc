// What one rank of a measurement job does: it carries out what rank 0 commands, alone (the ops of a
// graph) or with others (a probe). One thread.
#pragma once

#include <atomic>
#include <string>

#include "app/worker/guard.h"
#include "app/worker/measure_messages.h"
#include "app/worker/message_memory.h"
#include "app/worker/probing.h"
#include "core/launch/measure/measure_job.h"
#include "core/plugin/api/engine.h"

namespace strato::worker {

class MeasureRank {
 public:
  struct Parts {
    const MeasureJob& job;
    int rank = 0;
    const Engine* engine = nullptr;  // null: the job measures no ops
    Transport& transport;
    MessageMemory& memory;
    Guard* guard = nullptr;
  };
  explicit MeasureRank(const Parts& parts)
      : parts_(parts), probing_(parts.transport, parts.memory, parts.rank, ended_) {}

  // The reply for rank 0; empty where another member leads. Throws PeerFailure.
  std::string carry_out(const MeasureCommand& command);
  void serve();  // as another rank than 0: until it is told to stop

 private:
  std::string measure_graph(const MeasureCommand& command);
  std::string take_part(const MeasureCommand& command);
  void watch(int running, std::chrono::milliseconds timeout);
  void watch_nothing();

  Parts parts_;
  std::atomic<std::uint64_t> ended_{0};
  Probing probing_;
};

// The engine's device of that name, or of that kind ("cuda": the first). Throws InputError naming
// those that there are.
EngineDevice device_of(const Engine& engine, const std::string& name);

}  // namespace strato::worker
