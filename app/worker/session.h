// One rank of a job from its first step to its last: agrees with the other ranks on what is run,
// reads the clocks, runs the steps, writes checkpoints, and gathers what was measured at rank 0.
//
// Knows neither processes nor files of its own: engine and transport are handed in.
#pragma once

#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "app/worker/alignment.h"
#include "app/worker/checkpoint.h"
#include "app/worker/events.h"
#include "app/worker/guard.h"
#include "app/worker/inputs.h"
#include "app/worker/measurement.h"
#include "app/worker/step_runner.h"
#include "core/launch/job/job.h"
#include "core/plugin/api/rank_engine.h"

namespace strato::worker {

// What went wrong is another rank's doing, and which one's is known.
class OtherRankFailure : public std::runtime_error {
 public:
  OtherRankFailure(int rank, const std::string& text) : std::runtime_error(text), rank_(rank) {}
  int rank() const { return rank_; }

 private:
  int rank_;
};

class RankSession {
 public:
  struct Parts {
    const RankJob& job;
    std::filesystem::path folder;
    RankExecution& execution;
    Transport& transport;
    Events& events;
    Guard* guard = nullptr;
    std::string software;  // of the engine: for the log
  };
  explicit RankSession(const Parts& parts);

  // Throws OtherRankFailure, PeerFailure, or what the engine threw; nothing but the end of the
  // process helps then.
  void run();

 private:
  void agree();
  void load_parameters();
  void resume();
  void run_step(std::int64_t step);
  void report_step(std::int64_t step);
  void checkpoint(std::int64_t step);
  void align(std::vector<ClockReading>& readings);
  void collect();
  std::size_t choose_step();
  void barrier();
  std::vector<std::string> gather(const std::string& text);
  CheckpointRank checkpoint_rank() const;
  std::vector<ClockLine> clock_lines() const;

  Parts parts_;
  const RankJob& job_;
  StepRunner runner_;
  std::optional<RankInputs> inputs_;  // nothing: synthetic ones, of the engine
  SpanHistory history_;
  std::int64_t first_step_ = 1;
  bool same_clock_ = false;                       // all ranks are on one machine
  std::vector<ClockReading> first_, last_;        // at rank 0, by rank
  std::vector<std::vector<StepReport>> reports_;  // at rank 0, by step and rank
  std::vector<double> losses_;
};

}  // namespace strato::worker
