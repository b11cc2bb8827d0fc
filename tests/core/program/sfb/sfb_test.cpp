// The solver on graphs small enough to know the answer, on toy costs: 10 ns a sample and op, 1 ns a
// byte of a transfer, so tau is one byte a ns.
#include "core/program/sfb/sfb.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "core/base/random.h"
#include "core/cost/analytic/analytic_cost_model.h"
#include "core/program/sfb/sites.h"
#include "tests/core/program/toy.h"

namespace strato {
namespace {

using toy::Bench;

SfbSolver solver_of(const Bench& bench, SfbOptions options = {}) {
  return {bench.graph, bench.grouping, bench.cluster, bench.costs, options};
}

std::vector<std::string> names(const Graph& graph, const std::vector<OpId>& ops) {
  std::vector<std::string> result;
  for (const OpId op : ops) result.push_back(graph.op(op).name);
  return result;
}
using Names = std::vector<std::string>;

// The paper's Fig. 4: dw = x dy^T, of [h2, h1], made from x [b, h1] and dy [b, h2]; both come from
// other groups, as slices.
std::shared_ptr<const Graph> dense(std::int64_t batch, std::int64_t h1, std::int64_t h2) {
  toy::Model model(batch);
  const TensorId in = model.input("in", h1), w0 = model.parameter("w0", 1);
  const TensorId x = model.layer("before", {in, w0}, h1);
  Tensor matrix;
  matrix.name = "w";
  matrix.role = TensorRole::Parameter;
  matrix.shape = {h2, h1};
  const TensorId w = model.builder().add_tensor(matrix);
  const TensorId y = model.layer("dense", {x, w}, h2);
  const OpId forward = model.last();
  const TensorId dy = model.seed("seed", y);
  model.update("apply", w, model.gradient("dw", forward, 1, dy, {x}));
  return std::move(model).build();
}
const std::vector<std::pair<std::string, int>> kDenseGroups = {
    {"before", 1}, {"dense", 1}, {"seed", 1}, {"dw", 0}, {"apply", 0}};

// toy::training_chain() with matrices for parameters.
std::shared_ptr<const Graph> dense_chain(std::int64_t batch, int layers, std::int64_t width) {
  toy::Model model(batch);
  std::vector<TensorId> x = {model.input("x", width)}, w;
  std::vector<OpId> forward;
  for (int i = 1; i <= layers; ++i) {
    Tensor matrix;
    matrix.name = "w" + std::to_string(i);
    matrix.role = TensorRole::Parameter;
    matrix.shape = {width, width};
    w.push_back(model.builder().add_tensor(matrix));
    x.push_back(model.layer("f" + std::to_string(i), {x.back(), w.back()}, width));
    forward.push_back(model.last());
  }
  TensorId gradient = model.seed("seed", x.back());
  for (int i = layers; i >= 1; --i) {
    const auto at = static_cast<std::size_t>(i - 1);
    const std::string n = std::to_string(i);
    const TensorId of_w = model.gradient("gw" + n, forward[at], 1, gradient, {x[at]});
    if (i > 1) gradient = model.gradient("gx" + n, forward[at], 0, gradient, {w[at]});
    model.update("u" + n, w[at], of_w);
  }
  return std::move(model).build();
}

// b samples, h1 = h2 = 64, fp32: 16 KiB to synchronise, 2 * b * 64 * 4 bytes to send around.
// Two devices: before = L, after = (b / 2) * 10 of time + 512 b.
TEST(Sfb, a_dense_layer_is_duplicated_when_the_batch_is_small) {
  for (const std::int64_t batch : {2, 4, 16, 30, 32, 34, 64}) {
    const Bench bench(dense(batch, 64, 64), toy::cluster(2, 1), kDenseGroups);
    const SfbReport report =
        solver_of(bench).solve(bench.everywhere(Mode::ReplicateAllReduce, {0, 1}));
    ASSERT_EQ(report.gradients.size(), 1U);
    const SfbGradient& gradient = report.gradients[0];
    EXPECT_EQ(gradient.before, Nanos(64 * 64 * 4));
    const std::int64_t cost = batch / 2 * 10 + 512 * batch;
    if (cost < 64 * 64 * 4) {
      EXPECT_EQ(names(*bench.graph, gradient.duplicate), Names({"dw"})) << batch;
      EXPECT_EQ(gradient.after, Nanos(cost));
    } else {
      EXPECT_TRUE(gradient.duplicate.empty()) << batch;
      EXPECT_EQ(gradient.after, gradient.before);
    }
    EXPECT_TRUE(gradient.optimal);
  }
}

// Parameter server: 2 (D-1) L. Duplicating frees its update, too: (D-1)/D of 7 ns more.
TEST(Sfb, with_a_parameter_server_the_update_is_duplicated_too) {
  const std::int64_t batch = 40;  // does not pay with AllReduce
  const Bench bench(dense(batch, 64, 64), toy::cluster(2, 1), kDenseGroups);
  const SfbReport report = solver_of(bench).solve(bench.everywhere(Mode::ReplicatePs, {0, 1}));
  ASSERT_EQ(report.gradients.size(), 1U);
  EXPECT_EQ(report.gradients[0].before, Nanos(2 * 64 * 64 * 4));
  EXPECT_EQ(report.gradients[0].after, Nanos(batch / 2 * 10 + 512 * batch + 4));  // 3.5 up
  EXPECT_EQ(names(*bench.graph, report.gradients[0].duplicate), Names({"dw", "apply"}));
  const SfbReport all_reduce =
      solver_of(bench).solve(bench.everywhere(Mode::ReplicateAllReduce, {0, 1}));
  EXPECT_TRUE(all_reduce.duplicated().empty());
}

// D devices: (D-1) T + (D-1) (bytes of all parts) against 2 (D-1)/D L; uneven shares count by the
// slowest shard.
TEST(Sfb, more_devices_and_uneven_shares) {
  const Bench bench(dense(8, 64, 64), toy::cluster(2, 2), kDenseGroups);
  SfbReport report =
      solver_of(bench).solve(bench.everywhere(Mode::ReplicateAllReduce, {0, 1, 2, 3}));
  EXPECT_EQ(report.gradients[0].before, Nanos(2 * 3 * 64 * 64 * 4 / 4));
  EXPECT_EQ(report.gradients[0].after, Nanos(3 * 20 + 3 * 512 * 8));
  report = solver_of(bench).solve(bench.everywhere(Mode::ReplicateAllReduce, {0, 1, 2}, {1, 6, 1}));
  EXPECT_EQ(report.gradients[0].after, Nanos(2 * 60 + 2 * 512 * 8));
  // A device without a sample is not among the D.
  report = solver_of(bench).solve(
      bench.everywhere(Mode::ReplicateAllReduce, {0, 1, 2}, {1, 1'000'000, 1'000'000}));
  EXPECT_EQ(report.gradients[0].after, Nanos(40 + 512 * 8));
}

TEST(Sfb, what_every_device_has_is_not_sent) {
  // x is the data itself: each device can read the whole batch of it.
  const Bench bench(toy::training_chain(8, 1, 256), toy::cluster(2, 1), {{"f1", 1}, {"seed", 1}});
  const SfbReport report =
      solver_of(bench).solve(bench.everywhere(Mode::ReplicateAllReduce, {0, 1}));
  ASSERT_EQ(report.gradients.size(), 1U);
  EXPECT_EQ(names(*bench.graph, report.gradients[0].duplicate), Names());  // dy alone is 8 L
  EXPECT_EQ(report.gradients[0].before, Nanos(1024));
  // Where its maker runs whole on the same devices, dy is there, too.
  Strategy strategy = bench.everywhere(Mode::ReplicateAllReduce, {0, 1});
  strategy.groups[bench.group("seed")] = Bench::decision(Mode::Duplicate, {0, 1});
  const SfbReport free = solver_of(bench).solve(strategy);
  EXPECT_EQ(names(*bench.graph, free.gradients[0].duplicate), Names({"gw1"}));
  EXPECT_EQ(free.gradients[0].after, Nanos(40));
  // Whole on others only: it has to be sent to each all the same.
  strategy.groups[bench.group("seed")] = Bench::decision(Mode::Duplicate, {0});
  EXPECT_TRUE(solver_of(bench).solve(strategy).duplicated().empty());
  // Given as duplicated: the same as duplicated by its group.
  strategy = bench.everywhere(Mode::ReplicateAllReduce, {0, 1});
  strategy.duplicated = {bench.graph->find_op("seed")};
  EXPECT_EQ(solver_of(bench).solve(strategy).duplicated(),
            std::vector<OpId>{bench.graph->find_op("gw1")});
}

// A narrow tensor further up: the wide ones after it are made anew on every device.
TEST(Sfb, the_cut_goes_through_the_narrowest_tensor) {
  toy::Model model(4);
  const TensorId in = model.input("in", 4), w0 = model.parameter("w0", 1);
  const TensorId narrow = model.layer("narrow", {in, w0}, 1);
  const TensorId wide = model.layer("widen", {narrow}, 512);
  const TensorId wider = model.layer("widen_more", {wide}, 1024);
  const TensorId w = model.parameter("w", 2048);
  const TensorId y = model.layer("dense", {wider, w}, 1);
  const OpId forward = model.last();
  const TensorId dy = model.seed("seed", y);
  model.update("apply", w, model.gradient("dw", forward, 1, dy, {wider}));
  const Bench bench(std::move(model).build(), toy::cluster(2, 1));
  const SfbReport report =
      solver_of(bench).solve(bench.everywhere(Mode::ReplicateAllReduce, {0, 1}));
  ASSERT_EQ(report.gradients.size(), 1U);
  // dw, both widenings and the seed's narrow result or its maker: 20 ns each, 16 bytes a tensor.
  EXPECT_EQ(names(*bench.graph, report.gradients[0].duplicate),
            Names({"widen", "widen_more", "dw"}));
  EXPECT_EQ(report.gradients[0].after, Nanos(3 * 20 + 16 + 16));
  SfbOptions near;
  near.max_distance = 1;
  EXPECT_TRUE(solver_of(bench, near)
                  .solve(bench.everywhere(Mode::ReplicateAllReduce, {0, 1}))
                  .duplicated()
                  .empty());
  // The subgraph ends where the op group does.
  const Bench split(bench.graph, toy::cluster(2, 1), {{"widen", 1}, {"narrow", 1}});
  EXPECT_TRUE(solver_of(split)
                  .solve(split.everywhere(Mode::ReplicateAllReduce, {0, 1}))
                  .duplicated()
                  .empty());
}

std::vector<std::pair<std::string, int>> by_layer(int layers) {
  std::vector<std::pair<std::string, int>> groups;
  for (int i = 1; i <= layers; ++i)
    for (const char* part : {"f", "gw", "gx", "u"})
      if (i > 1 || part != std::string("gx")) groups.emplace_back(part + std::to_string(i), i - 1);
  return groups;
}

TEST(Sfb, equal_layers_share_one_program) {
  const Bench bench(toy::training_chain(4, 12, 64), toy::cluster(2, 1), by_layer(12));
  SfbSolver solver = solver_of(bench);
  Strategy strategy = bench.everywhere(Mode::ReplicateAllReduce, {0, 1});
  const SfbReport first = solver.solve(strategy);
  EXPECT_EQ(first.gradients.size(), 12U);
  EXPECT_LE(first.subgraphs, 3);  // the first layer's x is data, the last one's dy the seed's
  EXPECT_EQ(first.solved, first.subgraphs);
  const SfbReport again = solver.solve(strategy);
  EXPECT_EQ(again.solved, 0);
  EXPECT_EQ(again.subgraphs, first.subgraphs);
  EXPECT_EQ(again.duplicated(), first.duplicated());
}

TEST(Sfb, a_neighbour_solves_only_what_changed) {
  const Bench bench(toy::training_chain(4, 6, 64), toy::cluster(2, 2), by_layer(6));
  SfbSolver solver = solver_of(bench);
  Strategy strategy = bench.everywhere(Mode::ReplicateAllReduce, {0, 1, 2, 3});
  solver.solve(strategy);
  EXPECT_EQ(solver.solve(strategy).solved, 0);
  strategy.groups[bench.group("f3")] = Bench::decision(Mode::ReplicatePs, {0, 1, 2, 3});
  EXPECT_LE(solver.solve(strategy).solved, 1);
  strategy.groups[bench.group("f3")] = Bench::decision(Mode::ReplicateAllReduce, {0, 1, 2, 3});
  EXPECT_EQ(solver.solve(strategy).solved, 0);
}

TEST(Sfb, nothing_to_synchronise) {
  const Bench bench(toy::training_chain(4, 3, 64), toy::cluster(2, 1));
  for (const Strategy& strategy :
       {bench.everywhere(Mode::ReplicateAllReduce, {1}), bench.everywhere(Mode::Duplicate, {0, 1}),
        bench.everywhere(Mode::ModelParallel, {0, 1}),
        bench.everywhere(Mode::ReplicateAllReduce, {0, 1}, {1, 1'000'000})}) {
    const SfbReport report = solver_of(bench).solve(strategy);
    EXPECT_TRUE(report.gradients.empty());
    EXPECT_EQ(report.subgraphs, 0);
  }
  toy::Model forward(4);
  const TensorId in = forward.input("in", 4), w = forward.parameter("w", 1);
  forward.layer("layer", {in, w}, 4);
  const Bench no_gradient(std::move(forward).build(), toy::cluster(2, 1));
  EXPECT_TRUE(solver_of(no_gradient)
                  .solve(no_gradient.everywhere(Mode::ReplicateAllReduce, {0, 1}))
                  .gradients.empty());
}

TEST(Sfb, an_update_elsewhere_is_left_alone) {
  const Bench bench(dense(4, 64, 64), toy::cluster(2, 1), {{"apply", 1}});
  Strategy strategy = bench.everywhere(Mode::ReplicateAllReduce, {0, 1});
  strategy.groups[bench.group("apply")] = Bench::decision(Mode::ReplicateAllReduce, {0});
  EXPECT_TRUE(solver_of(bench).solve(strategy).gradients.empty());
}

// What is duplicated leaves nothing to synchronise, and no task but the Split of a whole tensor for
// readers that are shards comes in its place.
TEST(Sfb, lowered_the_gradient_is_not_synchronised) {
  for (const Mode mode : {Mode::ReplicateAllReduce, Mode::ReplicatePs}) {
    Bench bench(dense(4, 64, 64), toy::cluster(2, 1), kDenseGroups);
    Strategy strategy = bench.everywhere(mode, {0, 1});
    SfbSolver solver = solver_of(bench);
    solver.apply(strategy);
    ASSERT_FALSE(strategy.duplicated.empty());
    const auto program = bench.lower(strategy);
    for (const Task& task : program->tasks) {
      EXPECT_NE(task.kind, TaskKind::AllReduce);
      EXPECT_FALSE(task.kind == TaskKind::Transfer && task.op == bench.graph->find_op("dw"));
    }
    EXPECT_EQ(toy::count(*program, TaskKind::AllGather), 2U);
    EXPECT_EQ(toy::count(*program, TaskKind::Update), 2U);
    EXPECT_EQ(toy::count(*program, TaskKind::Split), 0U);
    const SfbReport again = solver.solve(strategy);
    EXPECT_TRUE(again.gradients.empty());  // it needs no synchronisation any more
  }
}

TEST(Sfb, whatever_is_found_lowers_to_a_program_without_that_synchronisation) {
  Bench bench(dense_chain(6, 8, 48), toy::cluster(2, 2), by_layer(8));
  SfbSolver printed = solver_of(bench), modelled = [&] {
    SfbOptions options;
    options.costs = SfbCosts::CostModel;
    return solver_of(bench, options);
  }();
  Random random(13);
  std::size_t found = 0;
  for (int i = 0; i < 60; ++i) {
    Strategy strategy = bench.everywhere(Mode::ReplicateAllReduce, {0, 1, 2, 3});
    for (auto& decision : strategy.groups) {
      std::vector<int> devices, weights;
      for (int d = 0; d < 4; ++d)
        if (random.below(3) > 0)
          devices.push_back(d), weights.push_back(1 + static_cast<int>(random.below(3)));
      if (!devices.empty() && random.below(2) == 0)
        decision = Bench::decision(static_cast<Mode>(random.below(4)), devices, weights);
    }
    const SfbReport report = (i % 2 == 0 ? printed : modelled).apply(strategy);
    const auto program = bench.lower(strategy);  // verified
    EXPECT_GT(bench.run(strategy).step_time, Nanos(0));
    for (const SfbGradient& gradient : report.gradients) {
      EXPECT_LE(gradient.after, gradient.before);
      if (gradient.duplicate.empty()) continue;
      ++found;
      for (const Task& task : program->tasks)
        EXPECT_FALSE(is_communication(task.kind) && task.op == gradient.producer) << i;
    }
  }
  EXPECT_GT(found, 30U);
}

TEST(Sfb, a_stop_or_no_time_gives_a_valid_answer) {
  const Bench bench(dense(4, 64, 64), toy::cluster(2, 1), kDenseGroups);
  const Strategy strategy = bench.everywhere(Mode::ReplicateAllReduce, {0, 1});
  SfbOptions short_of_time;
  short_of_time.seconds_per_program = 1e-9;
  const SfbReport limited = solver_of(bench, short_of_time).solve(strategy);
  ASSERT_EQ(limited.gradients.size(), 1U);
  EXPECT_EQ(names(*bench.graph, limited.gradients[0].duplicate), Names({"dw"}));
  std::stop_source stop;
  stop.request_stop();
  SfbSolver solver = solver_of(bench);
  const SfbReport stopped = solver.solve(strategy, stop.get_token());
  EXPECT_FALSE(stopped.gradients[0].optimal);
  const SfbReport later = solver.solve(strategy);
  EXPECT_TRUE(later.gradients[0].optimal);
  EXPECT_EQ(later.solved, 1);
}

TEST(Sfb, both_methods_and_any_number_of_threads_agree) {
  const Bench bench(dense_chain(6, 10, 48), toy::cluster(2, 2), by_layer(10));
  SfbOptions cut;
  cut.method = SfbMethod::MinimumCut;
  SfbSolver shared = solver_of(bench), by_cut = solver_of(bench, cut);
  Random random(5);
  std::vector<Strategy> strategies;
  for (int i = 0; i < 24; ++i) {
    std::vector<int> devices;
    while (devices.size() < 2) {
      devices.clear();
      for (int d = 0; d < 4; ++d)
        if (random.below(2) == 0) devices.push_back(d);
    }
    strategies.push_back(bench.everywhere(
        random.below(2) == 0 ? Mode::ReplicateAllReduce : Mode::ReplicatePs, devices));
  }
  std::vector<std::vector<OpId>> found(strategies.size());
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (std::size_t i = t; i < strategies.size(); i += 4)
        found[i] = shared.solve(strategies[i]).duplicated();
    });
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < strategies.size(); ++i) {
    EXPECT_EQ(found[i], solver_of(bench).solve(strategies[i]).duplicated());
    EXPECT_EQ(found[i], by_cut.solve(strategies[i]).duplicated());
  }
}

TEST(Sfb, bottleneck_is_the_slowest_path) {
  const Bench bench(toy::training_chain(4, 1, 4), toy::cluster(2, 2));
  const auto real = make_analytic_cost_model(bench.graph, bench.cluster);
  const Tables tables(bench.graph, bench.grouping, bench.cluster, real);
  const double inside = bottleneck_bandwidth(tables, {DeviceId(0), DeviceId(1)});
  const double between = bottleneck_bandwidth(tables, {DeviceId(0), DeviceId(1), DeviceId(2)});
  EXPECT_LE(between, inside);
  EXPECT_GT(between, 1);  // bytes per ns, of 12 GB/s at most
  EXPECT_LE(inside, 12.01);
}

}  // namespace
}  // namespace strato
