// Lowering: graph + strategy -> program (TAG 4.3.1), in named passes, each followed by the
// verifier.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "core/cost/value/cost_model.h"
#include "core/graph/group/grouping.h"
#include "core/program/value/program.h"
#include "core/strategy/value/strategy.h"

namespace strato {

struct Fold;  // symmetry.h

struct LowerOptions {
  bool verify =
      false;  // run the verifier after every pass (always on in tests; costs time in a search)
  // Called after each pass with its name and time; may be empty.
  std::function<void(std::string_view pass, Nanos elapsed)> on_pass;
  // When given: devices whose timeline another one's stands for are left out, and listed here.
  // Scores are the same to the last bit (see symmetry.h); the program is not one to run or to show.
  Fold* fold = nullptr;
  bool mesh_twins = false;  // of devices on meshes, too
  // Of several micro-batches: what is the same for each is lowered for two of them alone. The
  // program is the same, but for the order of its parts.
  bool repeat_cells = true;
  std::size_t fold_from = 0;  // only where the whole program would have so many tasks
};

// Lowers one strategy after another for the same problem and reuses its tables and buffers. Not
// thread safe: one per thread. Results do not depend on earlier calls.
class Lowering {
 public:
  Lowering(std::shared_ptr<const Graph> graph, std::shared_ptr<const Grouping> grouping,
           std::shared_ptr<const Cluster> cluster, std::shared_ptr<const CostModel> cost);
  ~Lowering();
  // Throws InputError when single variables cannot be synchronised as the strategy says
  // (core/strategy/value/variable_check.h), or micro-batches not follow each other so (Tables,
  // Pipeline, ops that are split), an op cannot be offloaded (offloading.h), or the program would
  // be too large for the memory of a computer.
  Program lower(const CompleteStrategy& strategy, const LowerOptions& options = {});
  // For those who have one strategy to lower: it is completed here.
  Program lower(const Strategy& strategy, const LowerOptions& options = {});
  // The same into a program that nobody reads any more: its arrays are used again, so that a search
  // allocates nothing per task.
  void lower(const CompleteStrategy& strategy, Program& into, const LowerOptions& options = {});

 private:
  struct Parts;
  Parts& parts_for(std::int32_t micro_batches);

  std::unique_ptr<Parts> single_,
      several_;  // micro-batches: one, and as many as were asked for last
};

}  // namespace strato
