// Executes the rank program of one device, step by step.
//
// The caller's thread runs the compute stream, a thread of the runner issues all communication, and
// one thread a lane (see Communicator) waits for what was issued: so a transfer that takes long
// holds up nothing but what needs its value, the communication streams go on side by side, and the
// moment at which each instruction ends is known whether or not anyone waits for it. Computing and
// communication start in the program's order, so what check_termination() proved for blocking ones
// holds all the more here.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "app/worker/communicator.h"
#include "app/worker/progress.h"
#include "core/plugin/api/rank_engine.h"
#include "core/program/rank/rank_program.h"

namespace strato::worker {

// When an instruction was executed; nanoseconds of clock.h. Of communication: from when it was
// issued to when it was done.
struct Span {
  std::int64_t start = 0, end = 0;
};

// The step was stopped from outside.
class Stopped : public std::runtime_error {
 public:
  Stopped() : std::runtime_error("stopped") {}
};

class StepRunner {
 public:
  // All arguments outlive the runner.
  StepRunner(const Graph& graph, const RankProgram& program,
             std::span<const DeviceId> device_of_rank, RankExecution& execution,
             Transport& transport);
  // Waits for operations under way: after a failure until the transport gives up on them.
  ~StepRunner();
  StepRunner(const StepRunner&) = delete;
  StepRunner& operator=(const StepRunner&) = delete;

  // One step, from first to last instruction. Throws PeerFailure, Stopped, or what the engine
  // threw; the runner is of no use afterwards.
  void run();
  // From any thread: run() throws Stopped as soon as the instruction under way lets it.
  void stop();

  std::span<const Span> spans() const { return spans_; }  // of the last step, by instruction
  Span step() const;                                      // from the first start to the last end
  // From any thread: instructions that have ended so far, and the one that the engine is at, or -1.
  std::uint64_t ended() const { return ended_.load(std::memory_order_relaxed); }
  int running() const { return running_.load(std::memory_order_relaxed); }

 private:
  struct Lane {
    std::mutex mutex;
    std::deque<std::pair<std::uint32_t, std::unique_ptr<Operation>>> queue;  // by instruction
    std::condition_variable pushed;
    std::thread thread;
    std::int64_t ended = 0;  // its last operation; its thread's
  };
  // What an instruction waits for: how much of what is computed, and which communication.
  struct Needs {
    std::uint32_t compute = 0;                 // instructions of the compute stream
    std::vector<std::uint32_t> communication;  // places in done_
  };

  void plan_streams();
  void start_threads();
  void compute();
  void communicate();
  void issue_step();
  void drain(Lane& lane);
  void finish(std::uint32_t instruction, Operation& operation);
  bool await(const Needs& needs) const;
  void release(std::size_t instruction);
  void fail(std::exception_ptr failure);
  void fail_at(std::uint32_t instruction);  // with what is being caught
  void rethrow();

  const Graph& graph_;
  const RankProgram& program_;
  RankExecution& execution_;
  Communicator communicator_;

  std::vector<std::uint32_t> compute_, communication_;  // instructions in their order
  std::vector<Needs> needs_;                            // by instruction
  std::vector<std::uint32_t> place_;                    // by instruction, in its stream
  std::vector<Span> spans_;

  std::uint32_t step_ = 0;            // counts from 1
  Progress started_;                  // steps
  Progress computed_;                 // instructions of this step
  std::unique_ptr<Progress[]> done_;  // by place in communication_: steps
  std::atomic<std::uint64_t> ended_{0};
  std::atomic<int> running_{-1};
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::thread communication_thread_;

  std::atomic<bool> stopped_{false};
  std::mutex failure_mutex_;
  std::exception_ptr failure_;  // the first one
};

}  // namespace strato::worker
