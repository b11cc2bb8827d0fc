#include "core/program/lower/lower.h"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <string_view>
#include <utility>

#include "core/base/error.h"
#include "core/program/copies/passed_on.h"
#include "core/program/exchange/mesh_twins.h"
#include "core/program/lower/micro_batches.h"
#include "core/program/lower/op_lowering.h"
#include "core/program/lower/recomputation.h"
#include "core/program/lower/verify.h"
#include "core/program/offload/offloading.h"
#include "core/program/place/symmetry.h"
#include "core/strategy/value/variable_check.h"

namespace strato {
namespace {

// A part of an op that is split has the whole batch.
void check_splits(const Strategy& strategy, const Tables& tables) {
  for (const OpSplit& split : strategy.splits)
    if (tables.is_repeated(split.op))
      throw InputError(
          "", fmt::format("op \"{}\"", tables.graph->op(split.op).name),
          "is split along another axis than the batch, and each part needs all of the batch",
          "use a single micro-batch, or do not split it");
}

// Of ops alone, without what they exchange.
std::size_t tasks_of_ops(const Tables& tables, const Placement& placement) {
  std::size_t tasks = 0;
  for (const OpId op : tables.ops.ids()) {
    const auto times = static_cast<std::size_t>(tables.is_repeated(op) ? tables.micro_batches : 1);
    if (!tables.ops[op].alias) tasks += placement.layout(op).shards.size() * times;
  }
  return tasks;
}

// A task takes some 250 bytes, with what it reads and writes.
void check_size(const Tables& tables, const Placement& placement) {
  constexpr std::size_t kMostTasks = 16'000'000;
  const std::size_t tasks = tasks_of_ops(tables, placement);
  if (tasks > kMostTasks)
    throw InputError(
        "", "the strategy",
        fmt::format("makes {} tasks a step, of which at most {} can be held in memory", tasks,
                    kMostTasks),
        "take fewer devices or micro-batches, or stages whose devices all do the same");
}

// Those first that leave out most.
struct TwinsTried {
  MeshTwinsIn in;
  SharesOfTwins shares;
};
constexpr std::array<TwinsTried, 7> kTwinsTried = {{
    {MeshTwinsIn::RowsAndColumns, SharesOfTwins::AsIfEqual},
    {MeshTwinsIn::RowsAndColumns, SharesOfTwins::ToldApart},
    {MeshTwinsIn::Rows, SharesOfTwins::AsIfEqual},
    {MeshTwinsIn::Rows, SharesOfTwins::ToldApart},
    {MeshTwinsIn::Columns, SharesOfTwins::AsIfEqual},
    {MeshTwinsIn::Columns, SharesOfTwins::ToldApart},
    {MeshTwinsIn::None, SharesOfTwins::ToldApart},
}};

}  // namespace

struct Lowering::Parts {
  Parts(std::shared_ptr<const Graph> graph, std::shared_ptr<const Grouping> grouping,
        std::shared_ptr<const Cluster> cluster, std::shared_ptr<const CostModel> cost,
        std::int32_t micro_batches)
      : ops(std::move(graph), std::move(grouping), std::move(cluster), std::move(cost),
            micro_batches),
        symmetry(ops.tables(), ops.placement()) {}
  OpLowering ops;
  Symmetry symmetry;
};

Lowering::Lowering(std::shared_ptr<const Graph> graph, std::shared_ptr<const Grouping> grouping,
                   std::shared_ptr<const Cluster> cluster, std::shared_ptr<const CostModel> cost)
    : single_(std::make_unique<Parts>(std::move(graph), std::move(grouping), std::move(cluster),
                                      std::move(cost), 1)) {}
Lowering::~Lowering() = default;

Program Lowering::lower(const Strategy& strategy, const LowerOptions& options) {
  return lower(CompleteStrategy(strategy, *single_->ops.tables().cluster), options);
}

Program Lowering::lower(const CompleteStrategy& strategy, const LowerOptions& options) {
  Program program;
  lower(strategy, program, options);
  return program;
}

Lowering::Parts& Lowering::parts_for(std::int32_t micro_batches) {
  if (micro_batches <= 1) return *single_;
  if (several_ == nullptr || several_->ops.tables().micro_batches != micro_batches) {
    const Tables& tables = single_->ops.tables();
    several_ = std::make_unique<Parts>(tables.graph, tables.grouping, tables.cluster, tables.cost,
                                       micro_batches);
  }
  return *several_;
}

void Lowering::lower(const CompleteStrategy& complete, Program& into, const LowerOptions& options) {
  const Strategy& strategy = *complete;
  Parts& parts = parts_for(strategy.micro_batches.count);
  OpLowering& ops = parts.ops;
  const bool several = strategy.micro_batches.count > 1;
  if (several) check_splits(strategy, ops.tables());
  // The same as validate() has: strategies come from files and from hands. A group that is left
  // open takes a decision that a sequence was not made for.
  if (!strategy.variables.empty()) {
    const Tables& tables = ops.tables();
    validate_variables(strategy, *tables.grouping, *tables.cluster);
    validate_variables(strategy, *tables.graph);
  }
  const auto pass = [&](std::string_view name, auto&& work, auto&& check) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    const std::chrono::nanoseconds elapsed = std::chrono::steady_clock::now() - begin;
    if (options.verify) check();
    if (options.on_pass) options.on_pass(name, Nanos(elapsed.count()));
  };
  const auto check_program = [&] {
    if (options.fold && options.fold->left_out > 0) return;  // collectives lack members
    ops.list_residents(into);
    verify(into);
  };
  const auto synchronise = [&] {
    for (const OpId op : ops.tables().late) ops.lower(op);
  };
  const auto try_compute = [&](bool repeat) {
    ops.start(into, strategy.priorities, strategy.bucket);
    Recomputation all(ops, strategy.recomputed);
    if (several) return MicroBatchLowering(ops, all).lower(strategy.micro_batches, into, repeat);
    for (const OpId op : ops.tables().early) all.lower(op);
    return true;
  };
  const auto compute = [&] {
    const bool repeat = options.repeat_cells && strategy.variables.empty() &&
                        !gathers_each_pass(ops.tables(), ops.placement());
    if (!try_compute(repeat)) try_compute(false);
  };
  const auto lower_ops = [&] {
    into.is_outline = ops.placement().fold() != nullptr;
    pass("compute", compute, check_program);
    if (strategy.bucket > Bytes(0))
      pass(
          "fuse", [&] { ops.fuse_gradients(strategy.bucket); }, check_program);
    pass("synchronise", synchronise, check_program);
    pass(
        "finish",
        [&] {
          ops.list_residents(into);
          mark_passed_on(into, ops.tables());
        },
        check_program);
    if (strategy.offloaded.empty()) return;
    pass(
        "offload", [&] { offload(into, ops.emitter().parts(), ops.tables(), strategy.offloaded); },
        [&] { verify(into); });
  };
  pass(
      "place", [&] { ops.placement().place(strategy); }, [&] { ops.placement().check(); });
  const auto is_small = [&] {
    return options.fold_from > 0 && tasks_of_ops(ops.tables(), ops.placement()) < options.fold_from;
  };
  // What hosts keep is counted of all devices.
  if (options.fold == nullptr || !strategy.offloaded.empty() || is_small()) {
    if (options.fold != nullptr) *options.fold = Fold();
    check_size(ops.tables(), ops.placement());
    return lower_ops();
  }
  Fold& fold = *options.fold;
  IdVector<DeviceId, DeviceId> refused;  // representatives of devices that turned out to differ
  for (const TwinsTried& tried : kTwinsTried) {
    const bool in_meshes = tried.in != MeshTwinsIn::None;
    if (in_meshes && !options.mesh_twins) continue;
    pass(
        "fold", [&] { parts.symmetry.find(fold, tried.in, tried.shares); }, [] {});
    const bool helps = fold.left_out > 0 && fold.representative != refused;
    if (!helps && parts.symmetry.has_meshes() && in_meshes) continue;
    if (fold.left_out > 0) ops.placement().fold(fold);
    check_size(ops.tables(), ops.placement());
    try {
      return lower_ops();
    } catch (const TwinsDiffer&) {
      refused = fold.representative;
      ops.placement().unfold();
    }
  }
}

}  // namespace strato
