// Calibrations: the file format, what is refused, and what must hold of the cost model under any of
// them.
#include "core/cost/value/calibration.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <set>

#include "core/base/error.h"
#include "core/cost/analytic/analytic_cost_model.h"
#include "core/graph/train/training_graph.h"
#include "tests/core/cost/toy.h"
#include "tests/core/graph/model_kit.h"

namespace strato {
namespace {

std::shared_ptr<const CostModel> model_under(const Calibration& calibration,
                                             const std::shared_ptr<const Graph>& graph,
                                             const std::shared_ptr<const Cluster>& cluster) {
  return make_analytic_cost_model(graph, cluster, std::make_shared<Calibration>(calibration));
}

std::string place_of(const std::string& json) {
  try {
    parse_calibration(json, "c.json");
  } catch (const InputError& error) {
    EXPECT_EQ(error.file(), "c.json");
    return error.place();
  }
  return "not refused";
}

std::string with(const std::string& more) {
  return R"({"format": "stratoscope-calibration", "version": 1, "name": "n", "source": "s")" +
         more + "}";
}

TEST(Calibration, IsReadAsItIsWritten) {
  Calibration calibration = Calibration::standard();
  calibration.name = "mine";
  calibration.source = "guesses";
  calibration.matrix_units = false;
  calibration.winograd = 1.75;
  calibration.dispatch_us = 7.25;
  calibration.of(OpFamily::Recurrent).half_flops = 3e8;
  calibration.fuses_pointwise = calibration.fp8_products = true;
  calibration.fuses_updates = calibration.host_awaits_transfers = true;
  calibration.fuses_accumulation = true;
  calibration.head = 0.25;
  calibration.host_loss_us = 300;
  calibration.attention = 0.5;
  calibration.network_scale = 0.75;
  calibration.host_kernel_us = 6;
  calibration.architectures = {{"Hopper", 0.7}, {"Blackwell", 0.5}};
  const Calibration read = parse_calibration(calibration_json(calibration), "c.json");
  EXPECT_EQ(read.digest(), calibration.digest());
  EXPECT_EQ(read.name, "mine");
  EXPECT_EQ(read.source, "guesses");
  EXPECT_EQ(calibration_json(read), calibration_json(calibration));
  EXPECT_NE(read.digest(), Calibration::standard().digest());
}

TEST(Calibration, WhatAFileLeavesOutIsStandard) {
  const Calibration read = parse_calibration(with(""), "c.json");
  EXPECT_EQ(read.digest(), Calibration::standard().digest());
}

TEST(Calibration, BadFilesAreRefusedWithTheirPlace) {
  EXPECT_EQ(place_of("{}"), "");
  EXPECT_EQ(place_of(R"({"format": "stratoscope-plan", "version": 1})"), "format");
  EXPECT_EQ(place_of(with(R"(, "lunch_scale": 1)")), "lunch_scale");
  EXPECT_EQ(place_of(with(R"(, "launch_scale": -1)")), "launch_scale");
  EXPECT_EQ(place_of(with(R"(, "collective_scale": 0)")), "collective_scale");
  EXPECT_EQ(place_of(with(R"(, "collective_scale": 1.5)")), "collective_scale");
  EXPECT_EQ(place_of(with(R"(, "architectures": {"Hopper": 2})")), "architectures.Hopper");
  EXPECT_EQ(place_of(with(R"(, "fuses_pointwise": 1)")), "fuses_pointwise");
  EXPECT_EQ(place_of(with(R"(, "step_us": "1")")), "step_us");
  EXPECT_EQ(place_of(with(R"(, "families": {"convolusion": {}})")), "families.convolusion");
  EXPECT_EQ(place_of(with(R"(, "families": {"matmul": {"memory": 1.2}})")),
            "families.matmul.memory");
  EXPECT_EQ(place_of(with(R"(, "families": {"matmul": {"speed": 1}})")), "families.matmul.speed");
}

TEST(Calibration, BundledOnesAreReadAndOthersNamed) {
  EXPECT_EQ(bundled_calibration("standard").digest(), Calibration::standard().digest());
  for (const char* name :
       {"tensorflow-1.14", "megatron-deepspeed", "megatron", "torchtitan", "torchtitan-compiled"}) {
    EXPECT_EQ(bundled_calibration(name).name, name);
    EXPECT_LT(bundled_calibration(name).relative_error, 1) << name;
  }
  try {
    bundled_calibration("no-such");
    FAIL() << "not refused";
  } catch (const InputError& error) {
    EXPECT_NE(error.remedy().find("standard"), std::string::npos);
  }
}

// What the lower bound and the splitting of batches rely on, under any constants.
TEST(CalibratedCost, TimeNeverFallsAndTimePerSampleNeverGrows) {
  const auto graph = toy::chain(2, 256, 96);
  const auto cluster = toy::sample_cluster("mixed-a100-l40s");
  EXPECT_TRUE(rc::check([&] {
    Calibration calibration = Calibration::standard();
    const auto any = [](double low, double high) {
      return low * std::pow(high / low, *rc::gen::inRange(0, 1001) / 1000.0);
    };
    for (FamilyEfficiency& family : calibration.families)
      family = {any(1e-3, 1), any(1e-3, 1), any(1e-3, 1), any(1, 1e12), any(1, 1e10)};
    calibration.launch_scale = any(0.01, 100);
    const auto cost = model_under(calibration, graph, cluster);
    const auto op = OpId(*rc::gen::inRange<std::size_t>(0, graph->op_count()));
    const auto type = GpuTypeId(*rc::gen::inRange<std::size_t>(0, cluster->gpu_types().size()));
    const auto n = *rc::gen::inRange<std::int64_t>(1, 256);
    const Nanos small = cost->compute(op, type, n), large = cost->compute(op, type, n + 1);
    RC_ASSERT(small <= large);
    // Both are rounded up to whole nanoseconds.
    RC_ASSERT(large.value * n <= (small.value + 1) * (n + 1));
  }));
}

TEST(CalibratedCost, HalfOfThePeakIsReachedAtHalfFlops) {
  const auto cluster = toy::sample_cluster("fastt-8xv100");  // 15.7 Tflop/s
  const auto graph = toy::chain(1, 64, 512);
  const OpId matmul = graph->find_op("m0");
  const double flops = graph->op(matmul).work.flops;
  Calibration calibration = Calibration::standard();
  calibration.launch_scale = 0;
  FamilyEfficiency& family = calibration.of(OpFamily::MatMul);
  family = {0.8, 0.3, 1, 0, 0};
  const double full =
      to_seconds(model_under(calibration, graph, cluster)->compute(matmul, GpuTypeId(0), 64));
  family.half_flops = flops / 1.57;  // for 10 Tflop/s
  const double half =
      to_seconds(model_under(calibration, graph, cluster)->compute(matmul, GpuTypeId(0), 64));
  EXPECT_NEAR(half, 2 * full, 3e-9);
}

// Each constant that came with language models changes the digest, so that costs are not mistaken.
TEST(Calibration, EveryConstantCounts) {
  const auto digest_with = [](const auto& change) {
    Calibration calibration = Calibration::standard();
    change(calibration);
    return calibration.digest();
  };
  const std::set<Digest> digests = {
      Calibration::standard().digest(),
      digest_with([](Calibration& c) { c.fuses_pointwise = true; }),
      digest_with([](Calibration& c) { c.fp8_products = true; }),
      digest_with([](Calibration& c) { c.attention = 0.5; }),
      digest_with([](Calibration& c) { c.network_scale = 0.5; }),
      digest_with([](Calibration& c) { c.collective_us = 0.5; }),
      digest_with([](Calibration& c) { c.host_kernel_us = 0.5; }),
      digest_with([](Calibration& c) { c.host_collective_us = 0.5; }),
      digest_with([](Calibration& c) { c.architectures["Hopper"] = 0.5; }),
      digest_with([](Calibration& c) { c.fuses_updates = true; }),
      digest_with([](Calibration& c) { c.fuses_accumulation = true; }),
      digest_with([](Calibration& c) { c.host_awaits_transfers = true; }),
      digest_with([](Calibration& c) { c.head = 0.5; }),
      digest_with([](Calibration& c) { c.host_loss_us = 0.5; })};
  EXPECT_EQ(digests.size(), 14u);
}

// x[64, 256] -> Relu "r0" -> Relu "r1" -> ... with nothing between them read elsewhere.
std::shared_ptr<const Graph> pointwise_chain(int ops, bool with_another_reader) {
  GraphBuilder builder("pointwise", 64, "pointwise.onnx");
  const auto tensor = [&](const std::string& name, TensorRole role) {
    Tensor result;
    result.name = name;
    result.role = role;
    result.shape = {64, 256};
    return builder.add_tensor(std::move(result));
  };
  const auto add = [&](const std::string& name, TensorId input) {
    const TensorId out = tensor(name + ".out", TensorRole::Activation);
    Op op;
    op.name = name;
    op.type = "Relu";
    op.inputs = {input};
    op.outputs = {out};
    builder.add_op(std::move(op));
    return out;
  };
  TensorId last = tensor("x", TensorRole::Input);
  for (int i = 0; i < ops; ++i) {
    const TensorId before = last;
    last = add("r" + std::to_string(i), last);
    if (with_another_reader && i == 1) add("other", before);
  }
  return std::make_shared<Graph>(std::move(builder).build());
}

TEST(FusedPointwise, AreOneKernelThatReadsAndWritesOnce) {
  const auto cluster = toy::sample_cluster("fastt-8xv100");
  Calibration apart = Calibration::standard(), fused = apart;
  fused.fuses_pointwise = true;
  const auto time = [&](const Calibration& calibration, const std::shared_ptr<const Graph>& graph) {
    const auto cost = model_under(calibration, graph, cluster);
    Nanos sum;
    for (const OpId op : graph->ops().ids()) sum += cost->compute(op, GpuTypeId(0), 64);
    return sum.value;
  };
  const auto three = pointwise_chain(3, false), one = pointwise_chain(1, false);
  EXPECT_EQ(time(apart, three), 3 * time(apart, one));
  // The op in the middle keeps its place in time, of a nanosecond, and halves are rounded.
  EXPECT_NEAR(static_cast<double>(time(fused, three)), static_cast<double>(time(apart, one)), 10);
  // What another one reads, too, both compute again of what they read instead.
  const auto with_other = pointwise_chain(3, true);
  EXPECT_NEAR(static_cast<double>(time(fused, with_other)),
              static_cast<double>(time(fused, three) + time(apart, one)), 10);
}

TEST(Processes, NeedTimeForEachKernelThatIsLeft) {
  const auto cluster = toy::sample_cluster("fastt-8xv100");
  Calibration calibration = Calibration::standard();
  calibration.host_kernel_us = 5;
  calibration.host_collective_us = 9;
  const auto graph = pointwise_chain(2, false);
  const auto cost = model_under(calibration, graph, cluster);
  EXPECT_EQ(cost->issue(graph->find_op("r0")), Nanos(5000));
  EXPECT_EQ(cost->issue_collective(), Nanos(9000));
  EXPECT_EQ(cost->issue_local_move(), Nanos(5000));
  calibration.fuses_pointwise = true;
  const auto fused = model_under(calibration, graph, cluster);
  EXPECT_EQ(fused->issue(graph->find_op("r0")), Nanos());
  EXPECT_EQ(fused->issue(graph->find_op("r1")), Nanos(5000));
  EXPECT_EQ(model_under(Calibration::standard(), graph, cluster)->issue(OpId(0)), Nanos());
}

// A gate: swish(g) * u, with its gradients. The function is read by the product and by the gradient
// with respect to u; what these read is g. A function that a matrix product reads is written.
TEST(FusedPointwise, FunctionsOfOneTensorAreComputedWhereTheyAreRead) {
  const auto cluster = toy::sample_cluster("fastt-8xv100");
  ModelKit kit(64);
  const auto product = [&](TensorId x, const char* name) {
    return kit.op("MatMul", {x, kit.weight(name, {256, 256})});
  };
  const TensorId x = kit.input("x", {64, 256});
  const TensorId open = kit.op("Swish", {product(x, "g")});
  const TensorId gated = kit.op("Mul", {open, product(x, "u")});
  const TensorId plain = kit.op("Relu", {product(gated, "d")});
  kit.op("SoftmaxCrossEntropyLoss",
         {product(plain, "e"), kit.input("labels", {64}, DataType::I64)});
  const auto graph =
      std::make_shared<const Graph>(make_training_graph(kit.build(), Optimizer::Sgd));
  Calibration calibration = Calibration::standard();
  const auto apart = model_under(calibration, graph, cluster);
  calibration.fuses_pointwise = true;
  const auto fused = model_under(calibration, graph, cluster);
  const OpId swish = graph->tensor(open).producer;
  EXPECT_FALSE(apart->is_passed_on(open));
  EXPECT_TRUE(fused->is_passed_on(open));
  EXPECT_FALSE(fused->is_passed_on(gated));
  EXPECT_FALSE(fused->is_passed_on(plain));
  EXPECT_GT(apart->compute(swish, GpuTypeId(0), 64), Nanos(1));
  EXPECT_EQ(fused->compute(swish, GpuTypeId(0), 64), Nanos(1));
  const OpId multiplied = graph->tensor(gated).producer;
  EXPECT_EQ(fused->compute(multiplied, GpuTypeId(0), 64),
            apart->compute(multiplied, GpuTypeId(0), 64));
}

// Scores of 512 classes from w [256, 512], which is cast, and a layer w0 before it, for a loss.
std::shared_ptr<const Graph> classifier() {
  ModelKit kit(64);
  const TensorId w0 = kit.weight("w0", {256, 256}), w = kit.weight("w", {256, 512});
  constexpr std::int64_t kBf16 = 16;
  const TensorId cast = kit.op("Cast", {w}, {{"to", kBf16}});
  const TensorId hidden = kit.op("MatMul", {kit.input("x", {64, 256}), w0});
  const TensorId scores = kit.transpose(kit.op("MatMul", {hidden, cast}), {1, 0});
  kit.op("SoftmaxCrossEntropyLoss",
         {kit.transpose(scores, {1, 0}), kit.input("labels", {64}, DataType::I64)});
  return std::make_shared<const Graph>(make_training_graph(kit.build(), Optimizer::Adam));
}

TEST(FusedUpdates, HaveNoKernelsOfTheirOwn) {
  const auto cluster = toy::sample_cluster("fastt-8xv100");
  const auto graph = classifier();
  Calibration calibration = Calibration::standard();
  calibration.host_kernel_us = 5;
  const auto apart = model_under(calibration, graph, cluster);
  calibration.fuses_updates = true;
  const auto fused = model_under(calibration, graph, cluster);
  int joined = 0;
  for (const OpId id : graph->ops().ids()) {
    const Op& op = graph->op(id);
    const bool joins = op.phase == Phase::Update || op.type.starts_with("Cast");
    joined += joins ? 1 : 0;
    if (!joins) {
      EXPECT_EQ(fused->issue(id), apart->issue(id)) << op.name;
      EXPECT_EQ(fused->compute(id, GpuTypeId(0), 64), apart->compute(id, GpuTypeId(0), 64));
      continue;
    }
    EXPECT_EQ(apart->issue(id), Nanos(5000)) << op.name;
    EXPECT_EQ(fused->issue(id), Nanos()) << op.name;
    EXPECT_LT(fused->compute(id, GpuTypeId(0), 64), apart->compute(id, GpuTypeId(0), 64))
        << op.name;
    // The cast of a gradient is written as it is made; the others still move what they move.
    EXPECT_EQ(fused->compute(id, GpuTypeId(0), 64) <= Nanos(1), op.type == "CastGrad") << op.name;
  }
  EXPECT_EQ(joined, 2 + 2);
}

// Products add weights' gradients up, in the precision of the sum; kernels of other gradients do
// not.
TEST(FusedAccumulation, IsOfGradientsThatProductsMake) {
  const auto cluster = toy::sample_cluster("fastt-8xv100");
  ModelKit kit(64);
  const TensorId w = kit.weight("w", {256, 512}), bias = kit.weight("b", {512});
  constexpr std::int64_t kBf16 = 16;
  const TensorId cast = kit.op("Cast", {w}, {{"to", kBf16}});
  const TensorId scores = kit.op("MatMul", {kit.input("x", {64, 256}), cast});
  kit.op("SoftmaxCrossEntropyLoss",
         {kit.op("Add", {scores, bias}), kit.input("labels", {64}, DataType::I64)});
  const auto graph =
      std::make_shared<const Graph>(make_training_graph(kit.build(), Optimizer::Sgd));
  Calibration calibration = Calibration::standard();
  const auto apart = model_under(calibration, graph, cluster);
  calibration.fuses_accumulation = true;
  const auto fused = model_under(calibration, graph, cluster);
  const auto gradient_of = [&](TensorId parameter) {
    return graph->op(graph->update_of(parameter)).inputs[1];
  };
  const OpId back = graph->tensor(gradient_of(w)).producer;
  ASSERT_EQ(graph->op(back).type, "CastGrad");
  EXPECT_FALSE(apart->adds_up(gradient_of(w)));
  EXPECT_TRUE(fused->adds_up(gradient_of(w)));
  EXPECT_TRUE(fused->is_passed_on(graph->op(back).inputs[0]));
  EXPECT_FALSE(fused->adds_up(gradient_of(bias)));
}

// The head's product and its two gradients are slower by its share, and no other.
TEST(Head, HasAShareOfItsOwn) {
  const auto cluster = toy::sample_cluster("h100-2x8");
  const auto graph = classifier();
  Calibration calibration = Calibration::standard();
  FamilyEfficiency& products = calibration.of(OpFamily::MatMul);
  products = {.cuda_cores = 1e-4, .tensor_cores = 1e-3, .memory = 1};  // bound by computing
  calibration.launch_scale = 0;
  const auto usual = model_under(calibration, graph, cluster);
  calibration.head = 0.5;
  const auto slow = model_under(calibration, graph, cluster);
  int slower = 0;
  for (const OpId id : graph->ops().ids()) {
    const auto before = static_cast<double>(usual->compute(id, GpuTypeId(0), 64).value);
    const auto now = static_cast<double>(slow->compute(id, GpuTypeId(0), 64).value);
    if (now == before) continue;
    ++slower;
    EXPECT_NEAR(now, 2 * before, 2) << graph->op(id).name;
    EXPECT_EQ(graph->op(id).family, OpFamily::MatMul);
  }
  EXPECT_EQ(slower, 3);
}

TEST(Processes, NeedTimeForALossOnce) {
  const auto graph = classifier();
  Calibration calibration = Calibration::standard();
  calibration.host_loss_us = 300;
  const auto cost = model_under(calibration, graph, toy::sample_cluster("fastt-8xv100"));
  Nanos all;
  for (const OpId id : graph->ops().ids()) all += cost->issue(id);
  EXPECT_EQ(all, Nanos(300'000));
  EXPECT_FALSE(cost->issue_after_transfers());
  calibration.host_awaits_transfers = true;
  EXPECT_TRUE(model_under(calibration, graph, toy::sample_cluster("fastt-8xv100"))
                  ->issue_after_transfers());
}

TEST(CalibratedCost, CollectivesBetweenMachinesHaveAScaleOfTheirOwn) {
  const auto graph = toy::chain(1);
  const auto cluster = toy::sample_cluster("h100-2x8");
  Calibration calibration = Calibration::standard();
  const std::vector<DeviceId> inside = {DeviceId(0), DeviceId(1)},
                              between = {DeviceId(0), DeviceId(8)};
  const auto time = [&](const std::vector<DeviceId>& members) {
    const CollectiveCost cost = model_under(calibration, graph, cluster)
                                    ->collective(Collective::AllReduce, members, Bytes(1 << 28));
    return (cost.duration - cost.latency).value;
  };
  const std::int64_t near = time(inside), far = time(between);
  calibration.network_scale = 0.5;
  EXPECT_EQ(time(inside), near);
  EXPECT_NEAR(static_cast<double>(time(between)), 2.0 * static_cast<double>(far), 2);
  calibration.network_scale = 0;
  calibration.collective_us = 30;
  const CollectiveCost started = model_under(calibration, graph, cluster)
                                     ->collective(Collective::AllReduce, inside, Bytes(1 << 28));
  EXPECT_EQ((started.duration - started.latency).value, near) << "a start is latency";
}

TEST(CalibratedCost, MatrixUnitsKeepToTheirArchitecturesShare) {
  const auto cluster = toy::sample_cluster("h100-2x8");
  const auto graph = toy::chain(1, 4096, 4096);
  const OpId product = graph->find_op("m0");
  Calibration calibration = Calibration::standard();
  calibration.launch_scale = 0;
  calibration.of(OpFamily::MatMul) = {0.01, 0.8, 1, 0, 0};
  const Nanos all = model_under(calibration, graph, cluster)->compute(product, GpuTypeId(0), 4096);
  calibration.architectures = {{"Hopper", 0.5}, {"Blackwell", 0.1}};
  const Nanos half = model_under(calibration, graph, cluster)->compute(product, GpuTypeId(0), 4096);
  EXPECT_NEAR(static_cast<double>(half.value), 2.0 * static_cast<double>(all.value), 2);
}

TEST(CalibratedCost, ExplainsWhatItReturns) {
  const auto cluster = toy::sample_cluster("tag-testbed");
  const auto graph = toy::chain(2);
  const auto cost = make_analytic_cost_model(graph, cluster);
  for (std::size_t op = 0; op < graph->op_count(); ++op) {
    const Estimate estimate = cost->explain_compute(OpId(op), GpuTypeId(0), 3);
    EXPECT_EQ(estimate.time, cost->compute(OpId(op), GpuTypeId(0), 3));
    EXPECT_EQ(estimate.source, CostSource::Analytic);
    EXPECT_EQ(estimate.error, Calibration::standard().relative_error);
    EXPECT_FALSE(estimate.detail.empty());
  }
  const Path& path = cluster->path(DeviceId(0), DeviceId(5));
  EXPECT_EQ(cost->explain_transfer(path, Bytes(1000)).time, cost->transfer(path, Bytes(1000)));
  const std::vector<DeviceId> members = {DeviceId(0), DeviceId(5)};
  EXPECT_EQ(cost->explain_collective(Collective::AllReduce, members, Bytes(1 << 20)).time,
            cost->collective(Collective::AllReduce, members, Bytes(1 << 20)).duration);
}

TEST(CalibratedCost, OfAnotherCalibrationHasAnotherDigest) {
  const auto cluster = toy::sample_cluster("tag-testbed");
  const auto graph = toy::chain(1);
  Calibration other = Calibration::standard();
  other.launch_scale = 3;
  EXPECT_NE(model_under(other, graph, cluster)->digest(),
            make_analytic_cost_model(graph, cluster)->digest());
}

}  // namespace
}  // namespace strato
