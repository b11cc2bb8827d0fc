// Rank 0 of a measurement job: what is measured when and by whom, within the budget, and what
// becomes of it.
//
// Every graph is measured once for each GPU type, by ranks of different machines at the same time,
// never by two of one machine's processor. Probes run one after another, and together only where
// they have no machine in common.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "app/worker/events.h"
#include "app/worker/measure_rank.h"
#include "core/launch/measure/measure_job.h"

namespace strato::worker {

class MeasureCoordinator {
 public:
  // `greetings`: by rank.
  MeasureCoordinator(MeasureRank& own, Transport& transport, Events& events, const MeasureJob& job,
                     std::vector<MeasureGreeting> greetings);

  // Measures everything and tells the others to stop. Throws PeerFailure, and InputError when the
  // ops were to be measured and none could.
  MeasureResult run();

 private:
  using Clock = std::chrono::steady_clock;
  struct OpsTask {
    std::size_t graph = 0;
    std::string gpu;
  };
  struct OpsDone {
    OpsTask task;
    ProfiledGraph measured;
  };
  // What runs at the same time: command i to members[i], the first of whom replies.
  struct Round {
    std::vector<MeasureCommand> commands;
    std::vector<std::vector<int>> members;
  };

  void measure_ops();
  void add_ops_to(Profile& profile) const;
  void measure_probes();
  Round next_ops(std::vector<OpsTask>& pending, std::vector<OpsTask>& taken) const;
  Round next_probes(std::vector<std::size_t>& pending) const;
  std::vector<std::string> carry_out(Round& round, std::chrono::nanoseconds time);
  void take(const Probe& probe, std::vector<SizedMeasurement> points);
  void note_left_out(const std::vector<std::size_t>& pending);
  void tell(const std::string& what);
  std::string name_of_probe(const Probe& probe) const;
  std::string arena_of(int rank) const;  // where ops must not be measured twice at a time
  Bytes largest_message() const;
  std::chrono::nanoseconds left() const;

  MeasureRank& own_;
  Transport& transport_;
  Events& events_;
  const MeasureJob& job_;
  std::vector<MeasureGreeting> greetings_;
  Clock::time_point start_, ops_end_;
  std::int64_t done_ = 0, of_ = 0;
  std::vector<OpsDone> ops_;
  std::size_t cut_short_ = 0;  // probes that did not reach the largest message
  Bytes largest_;
  MeasureResult result_;
};

}  // namespace strato::worker
