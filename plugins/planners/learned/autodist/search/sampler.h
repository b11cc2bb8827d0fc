// The guided strategy sampler of AutoDist (2.4): random node configs, directed by three
// constraints. (1) Small variables are never divided, large ones always. (2) What servers hold is
// placed after everything else is known, so that every node has about the same load. (3)
// All-reduced parts are grouped at random so that every group is of about the same size.
//
// A sample first draws how it is inclined (how much goes through servers, how much is divided, into
// how many messages), then every variable's config; so that samples differ as a whole, too. Only
// exact encodings, no staleness: the results of training are the same for all of them.
#pragma once

#include "core/base/random.h"
#include "plugins/planners/learned/autodist/plan/sync_task.h"

namespace strato::autodist {

struct SamplerOptions {
  Bytes small{64 << 10};                // below: never divided
  Bytes large{std::int64_t{32} << 20};  // from here on: always divided, where an axis allows it
  // Part of the samples whose messages are adjacent parts, not any: what is ready at about the same
  // time is sent together (beyond the paper; 0: never).
  double adjacent = 0.5;
  // Part of the samples in which the replicas keep a run of adjacent variables in parts: so that
  // values are gathered while nothing else is sent yet (beyond the paper; 0: never).
  double sharded = 0.5;
};

SyncPlan sample_plan(const SyncTask& task, const SamplerOptions& options, Random& random);

// Its steps, for moves (moves.h).
bool may_divide(const Variable& variable, const SamplerOptions& options);
bool must_divide(const Variable& variable, const SamplerOptions& options);
bool may_shard(const Variable& variable, const SamplerOptions& options);
// The variables of a run: from `begin` to the one before `end`.
struct VariableRun {
  std::size_t begin = 0, end = 0;
};
VariableRun random_run(std::size_t variables, std::size_t most, Random& random);
// Between `small` and `large`, with equal chances for equal ratios.
Bytes random_size(const SamplerOptions& options, Random& random);
// A random config of a variable; `servers`: the chance of parameter servers. Servers are not chosen
// yet.
NodeConfig random_sync(const SyncTask& task, const Variable& variable,
                       const SamplerOptions& options, double servers, double divided,
                       double stations, Random& random);
// Messages of random all-reduced parts, of similar size, `count` of them.
void merge_randomly(const SyncTask& task, SyncPlan& plan, std::int64_t count, Random& random);

}  // namespace strato::autodist
