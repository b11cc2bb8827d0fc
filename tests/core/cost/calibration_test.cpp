// Calibrations: the file format, what is refused, and what must hold of the cost model under any of
// them.
#include "core/cost/value/calibration.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>

#include "core/base/error.h"
#include "core/cost/analytic/analytic_cost_model.h"
#include "tests/core/cost/toy.h"

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
  EXPECT_EQ(place_of(with(R"(, "step_us": "1")")), "step_us");
  EXPECT_EQ(place_of(with(R"(, "families": {"convolusion": {}})")), "families.convolusion");
  EXPECT_EQ(place_of(with(R"(, "families": {"matmul": {"memory": 1.2}})")),
            "families.matmul.memory");
  EXPECT_EQ(place_of(with(R"(, "families": {"matmul": {"speed": 1}})")), "families.matmul.speed");
}

TEST(Calibration, BundledOnesAreReadAndOthersNamed) {
  EXPECT_EQ(bundled_calibration("standard").digest(), Calibration::standard().digest());
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
