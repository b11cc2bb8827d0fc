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

// Its steps, for moves.
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

// Local changes of a plan, beyond the paper: one variable's config, or that of neighbours, changes
// while the others stay. Like samples they keep to the sampler's constraints and are exact.

// The plan with one to a few changes, each of them:
// - a variable, or a run of adjacent ones, gets another random config, servers where loads are
//   least;
// - the message of a variable is cut in two there, or joined with the one before or after it;
// - a variable leaves its message, or goes to the one of the variable before or after it;
// - all messages are made anew, of another size;
// - a variable is divided in another way, or not; its servers move; its stations come or go;
// - replicas keep a run of adjacent variables in parts, or whole again.
// Variables with many bytes are changed more often. Differs from `plan` where it can.
SyncPlan changed_plan(const SyncTask& task, const SyncPlan& plan, const SamplerOptions& options,
                      Random& random);

// Takes a run of adjacent variables from `other`, the rest from `plan`. Messages of the two stay
// apart.
SyncPlan crossed_plan(const SyncTask& task, const SyncPlan& plan, const SyncPlan& other,
                      Random& random);

}  // namespace strato::autodist
