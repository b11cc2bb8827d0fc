// All that the traces of a run say of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/trace/analyse/alignment.h"
#include "core/trace/analyse/communication.h"
#include "core/trace/analyse/memory.h"
#include "core/trace/analyse/parallelism.h"
#include "core/trace/analyse/steps.h"
#include "core/trace/analyse/stragglers.h"
#include "core/trace/device/breakdown.h"
#include "core/trace/device/launches.h"

namespace strato::trace {

struct RankAnalysis {
  std::int64_t rank = 0;
  std::int64_t kernels = 0;
  Steps steps;
  Breakdown breakdown;
  std::vector<IdleCauses> idle;
  std::vector<CommunicationTime> communication;
  std::vector<KernelTime> longest;
  std::vector<LaunchBound> launch_bound;
  std::vector<MemoryPeak> memory;
};

// How often an operator of an execution trace is in it.
struct OperatorCount {
  std::string name;
  std::int64_t count = 0;
  Nanos time;  // 0: not recorded
};

struct Analysis {
  std::vector<RankAnalysis> ranks;    // as the traces
  std::int64_t world_size = 0;        // 0: not said
  std::vector<std::int64_t> missing;  // ranks of the world without a trace
  Alignment alignment;
  std::vector<Arrivals> arrivals;  // as the traces; empty: nothing matches
  std::vector<Straggler> stragglers;
  double matched_share = 0;  // of the time of all communication, that is in calls that match
  std::vector<GroupFamily> families;
  std::vector<OperatorCount> operators;  // most first; only of execution traces
};

struct AnalysisOptions {
  std::size_t most_kernels = 10;
  std::size_t most_stretches = 5;
};

// Pure; ranks are analysed in parallel.
Analysis analyse(const std::vector<Trace>& traces, const AnalysisOptions& options = {});

}  // namespace strato::trace
