#include "core/program/lower/lower.h"

#include <chrono>
#include <string_view>
#include <utility>

#include "core/program/lower/op_lowering.h"
#include "core/program/lower/verify.h"
#include "core/program/place/symmetry.h"
#include "core/strategy/value/variable_check.h"

namespace strato {
Lowering::Lowering(std::shared_ptr<const Graph> graph, std::shared_ptr<const Grouping> grouping,
                   std::shared_ptr<const Cluster> cluster, std::shared_ptr<const CostModel> cost)
    : ops_(std::make_unique<OpLowering>(std::move(graph), std::move(grouping), std::move(cluster),
                                        std::move(cost))),
      symmetry_(std::make_unique<Symmetry>(ops_->tables(), ops_->placement())) {}
Lowering::~Lowering() = default;

Program Lowering::lower(const Strategy& strategy, const LowerOptions& options) {
  return lower(CompleteStrategy(strategy, *ops_->tables().cluster), options);
}

Program Lowering::lower(const CompleteStrategy& strategy, const LowerOptions& options) {
  Program program;
  lower(strategy, program, options);
  return program;
}

void Lowering::lower(const CompleteStrategy& complete, Program& into, const LowerOptions& options) {
  const Strategy& strategy = *complete;
  // The same as validate() has: strategies come from files and from hands. A group that is left
  // open takes a decision that a sequence was not made for.
  if (!strategy.variables.empty()) {
    const Tables& tables = ops_->tables();
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
    ops_->list_residents(into);
    verify(into);
  };
  const auto lower_all = [&](const std::vector<OpId>& ops) {
    for (const OpId op : ops) ops_->lower(op);
  };
  const auto find_twins = [&] {
    symmetry_->find(*options.fold);
    if (options.fold->left_out > 0) ops_->placement().fold(*options.fold);
  };
  const auto compute = [&] {
    ops_->start(into, strategy.priorities);
    lower_all(ops_->tables().early);
  };
  pass(
      "place", [&] { ops_->placement().place(strategy); }, [&] { ops_->placement().check(); });
  if (options.fold) pass("fold", find_twins, [] {});
  pass("compute", compute, check_program);
  if (strategy.bucket > Bytes(0))
    pass(
        "fuse", [&] { ops_->fuse_gradients(strategy.bucket); }, check_program);
  pass(
      "synchronise", [&] { lower_all(ops_->tables().late); }, check_program);
  pass(
      "finish", [&] { ops_->list_residents(into); }, check_program);
}

}  // namespace strato
