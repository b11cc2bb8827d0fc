// Sufficient factor broadcasting (TAG 4.2.3): for every gradient of a replicated group, may it be
// cheaper to send around what it is computed from, and to compute it on every device?
//
// For each op that makes parameter gradients, the subgraph around it (sites.h) becomes an integer
// program (sfb_problem.h), which Cbc solves. An op that makes several parameters' gradients has one
// program for all of them: duplicating it saves the synchronisation of each.
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <vector>

#include "core/cluster/value/cluster.h"
#include "core/cost/value/cost_model.h"
#include "core/graph/group/grouping.h"
#include "core/graph/value/graph.h"
#include "core/strategy/value/strategy.h"

namespace strato {

// What the integer program counts.
enum class SfbCosts : std::uint8_t {
  // As printed, with the bottleneck bandwidth tau between the D devices that have samples:
  // (D-1) T_i of computation, T_i the time of the slowest shard; D(D-1) L/tau for a tensor in the
  // cut, L its part on one device; 2 (D-1)/D L/tau saved by an AllReduce, 2 (D-1) L/tau by a
  // parameter server (D-1 gradients in, D-1 parameters out). An update that a server ran adds
  // (D-1)/D of its time; one that every device runs anyway, nothing.
  Printed,
  // As the cost model has them, latencies included: whole batch less shard; an AllGather; an
  // AllReduce, or the server's transfers.
  CostModel,
};

enum class SfbMethod : std::uint8_t {
  Cbc,         // as TAG: the integer program. Skipped where the cut proves that nothing is gained
  MinimumCut,  // the same optimum, proven in sfb_problem.h; for searches that ask thousands of
               // times
};

struct SfbOptions {
  SfbCosts costs = SfbCosts::Printed;
  SfbMethod method = SfbMethod::Cbc;
  double seconds_per_program = 1;  // of Cbc; then the cut's choice stays without its proof
  int max_distance = 16;           // of a subgraph's ops from the gradient, in tensors
  int threads = 0;                 // 0: one per core; the result does not depend on it
};

struct SfbGradient {
  OpId producer;                // g
  std::vector<OpId> updates;    // l
  std::vector<OpId> duplicate;  // ascending; empty: better left as it is
  Nanos before, after;          // synchronisation; extra computation and broadcasts
  bool optimal = true;          // false: a time limit or a stop came before Cbc's proof
  int subgraph = 0;             // equal for equal programs: one solution for all of them
  int ops = 0;                  // size of the subgraph
};

struct SfbReport {
  std::vector<SfbGradient> gradients;  // that need synchronisation, by g, ascending
  int subgraphs = 0;                   // different programs among them
  int solved = 0;                      // of which were not known from earlier calls
  int by_cbc = 0;                      // of which Cbc solved; the others cannot gain

  std::vector<OpId> duplicated() const;  // of all gradients, ascending, each once
};

// One per problem. Solutions are remembered, by gradient and decisions and by program, so that a
// search's neighbours cost little. Safe from any thread; what is to be duplicated depends on the
// strategy alone, not on earlier calls, threads or time limits.
class SfbSolver {
 public:
  SfbSolver(std::shared_ptr<const Graph> graph, std::shared_ptr<const Grouping> grouping,
            std::shared_ptr<const Cluster> cluster, std::shared_ptr<const CostModel> cost,
            const SfbOptions& options = {});
  ~SfbSolver();

  // `complete`: every group decided. Ops that it duplicates already are taken as given: what they
  // read is whole on every device. After a stop, Cbc proves nothing more.
  SfbReport solve(const Strategy& complete, std::stop_token stop = {});
  // Adds what solve() finds to the strategy's duplicated ops.
  SfbReport apply(Strategy& complete, std::stop_token stop = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace strato
