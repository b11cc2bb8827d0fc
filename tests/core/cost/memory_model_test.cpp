// Memory over batch sizes: exact recovery, noise, both steps of the Standard Evaluation.
#include "core/cost/measured/memory_model.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>

#include "core/base/error.h"
#include "core/base/random.h"

namespace strato {
namespace {

using MemoryPoints = std::vector<MemoryPoint>;

MemoryPoint on_line(std::int64_t batch) { return {batch, Bytes(3'000'000 + 12'345 * batch)}; }

TEST(MemoryModel, RecoversALineExactly) {
  const auto model =
      MemoryModel::rough(MemoryPoints{on_line(1), on_line(2), on_line(4), on_line(8)});
  ASSERT_TRUE(model);
  EXPECT_EQ(model->fixed(), Bytes(3'000'000));
  EXPECT_NEAR(model->bytes_per_sample(), 12'345, 1e-6);
  for (const std::int64_t batch : {1, 3, 64, 4096}) {
    EXPECT_EQ(model->at(batch), on_line(batch).bytes) << batch;
  }
  EXPECT_LT(model->errors().fit, 1e-12);
  EXPECT_LT(model->errors().left_out, 1e-12);
}

TEST(MemoryModel, RecoversAnyLine) {
  EXPECT_TRUE(rc::check([] {
    const auto fixed = *rc::gen::inRange<std::int64_t>(0, 1LL << 35);
    const auto slope = *rc::gen::inRange<std::int64_t>(1, 1LL << 28);
    MemoryPoints points;
    for (const std::int64_t batch : {1, 2, 4, 8, 16}) {
      points.push_back({batch, Bytes(fixed + slope * batch)});
    }
    const auto model = MemoryModel::rough(points);
    const double expected = static_cast<double>(fixed + slope * 1024);
    RC_ASSERT(std::abs(static_cast<double>(model->at(1024).value) - expected) <=
              expected * 1e-9 + 1);
  }));
}

TEST(MemoryModel, NeedsTwoBatchSizes) {
  EXPECT_FALSE(MemoryModel::rough(MemoryPoints{}));
  EXPECT_FALSE(MemoryModel::rough(MemoryPoints{on_line(4)}));
  EXPECT_FALSE(MemoryModel::rough(MemoryPoints{on_line(4), {4, Bytes(5)}}));
}

TEST(MemoryModel, HasNoNegativeParts) {
  // Falls with the batch: a level. Steeper than proportional: through nothing.
  const auto falling = MemoryModel::rough(MemoryPoints{{1, Bytes(1000)}, {8, Bytes(900)}});
  EXPECT_EQ(falling->bytes_per_sample(), 0);
  EXPECT_GE(falling->at(100), Bytes(900));
  const auto steep = MemoryModel::rough(MemoryPoints{{1, Bytes(100)}, {2, Bytes(1000)}});
  EXPECT_EQ(steep->fixed(), Bytes(0));
  EXPECT_GT(steep->bytes_per_sample(), 0);
}

TEST(MemoryModel, SaysHowGoodItIs) {
  Random random(1);
  MemoryPoints points;
  for (std::int64_t batch = 1; batch <= 64; ++batch) {
    const double noise = random.uniform(0.95, 1.05);
    points.push_back({batch, Bytes(std::llround(1e9 * noise) + 20'000'000 * batch)});
  }
  const auto model = MemoryModel::rough(points);
  EXPECT_NEAR(model->errors().fit, 0.015, 0.01);
  EXPECT_GT(model->errors().left_out, model->errors().fit);
  EXPECT_EQ(model->errors().rough_at_large, 0);
}

TEST(MemoryModel, IsExactWhereTheFullBatchWasMeasured) {
  const auto rough = MemoryModel::rough(MemoryPoints{on_line(1), on_line(4)});
  const Bytes told = rough->at(64);
  const MemoryModel model = rough->refine(MemoryPoints{{64, Bytes(2 * told.value)}});
  EXPECT_EQ(model.at(64), Bytes(2 * told.value));
  EXPECT_EQ(model.at(4), on_line(4).bytes);
  EXPECT_EQ(model.at(34).value, (on_line(4).bytes.value + 2 * told.value) / 2);
  EXPECT_EQ(model.at(65), Bytes(2 * told.value + 12'345));
  EXPECT_NEAR(model.errors().rough_at_large, 0.5, 1e-9);
}

TEST(MemoryModel, IsMadeFromAProfile) {
  Profile profile;
  for (const std::int64_t batch : {1, 2, 8, 64}) {
    profile.memory.push_back({"vgg19", "V100", batch, on_line(batch).bytes});
    profile.memory.push_back({"vgg19", "P100", batch, Bytes(7)});
  }
  const auto model = memory_model(profile, "vgg19", "V100", 64);
  ASSERT_TRUE(model);
  EXPECT_EQ(model->at(64), on_line(64).bytes);
  EXPECT_LT(model->errors().rough_at_large, 1e-12);
  EXPECT_FALSE(memory_model(profile, "lenet", "V100", 64));
}

TEST(SequentialPlacement, FillsOneDeviceAfterTheOther) {
  const std::vector<Bytes> sizes = {Bytes(4), Bytes(5), Bytes(3), Bytes(9), Bytes(1)};
  const std::vector<Bytes> capacity = {Bytes(10), Bytes(10), Bytes(10)};
  const SequentialPlacement placement = sequential_placement(sizes, capacity);
  EXPECT_EQ(placement.device, (std::vector<std::size_t>{0, 0, 1, 2, 2}));
  EXPECT_EQ(placement.used, (std::vector<Bytes>{Bytes(9), Bytes(3), Bytes(10)}));
  EXPECT_TRUE(placement.fits);
}

TEST(SequentialPlacement, TakesTheFreestWhereNothingFits) {
  const std::vector<Bytes> sizes = {Bytes(4), Bytes(8), Bytes(5), Bytes(20)};
  const std::vector<Bytes> capacity = {Bytes(10), Bytes(10)};
  const SequentialPlacement placement = sequential_placement(sizes, capacity);
  EXPECT_EQ(placement.device, (std::vector<std::size_t>{0, 1, 0, 1}));
  EXPECT_FALSE(placement.fits);
  EXPECT_THROW(sequential_placement(sizes, {}), InvariantError);
}

}  // namespace
}  // namespace strato
