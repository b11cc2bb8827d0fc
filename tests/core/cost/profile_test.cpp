// Profiles: what merging and refitting do, and what a file gives back.
#include "core/cost/value/profile.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <filesystem>

#include "tests/core/cost/random_profile.h"

namespace strato {
namespace {

OpProfile one_op(std::int64_t time, std::int64_t repetitions = 1, std::int64_t spread = 0) {
  return {
      "Relu(float32[B,8])->(float32[B,8])", "V100", {{8, Nanos(time), Nanos(spread), repetitions}}};
}

Profile of(OpProfile op) {
  Profile profile;
  profile.ops.push_back(std::move(op));
  return profile;
}

TEST(Profile, IsEmptyUntilSomethingWasMeasured) {
  Profile profile;
  profile.name = "nothing";
  EXPECT_TRUE(profile.empty());
  EXPECT_FALSE(of(one_op(1000)).empty());
}

TEST(ProfileDigest, IsOfTheMeasurementsAlone) {
  Profile a = of(one_op(1000)), b = a;
  b.host = "elsewhere";
  EXPECT_EQ(a.digest(), b.digest());
  b.ops[0].measurements[0].time = Nanos(1001);
  EXPECT_NE(a.digest(), b.digest());
}

TEST(Merge, PoolsByRepetitions) {
  const Profile merged = merge(of(one_op(1000, 30)), of(one_op(2000, 10)));
  ASSERT_EQ(merged.ops.size(), 1u);
  const OpMeasurement& point = merged.ops[0].measurements.at(0);
  EXPECT_EQ(point.time, Nanos(1250));
  EXPECT_EQ(point.repetitions, 40);
  EXPECT_EQ(point.spread, Nanos(433));  // root of (30 * 250^2 + 10 * 750^2) / 40
}

TEST(Merge, KeepsWhatOnlyOneMeasured) {
  Profile other = of(one_op(500));
  other.ops[0].measurements[0].samples = 16;
  other.memory.push_back({"lenet", "V100", 8, Bytes(100)});
  Profile again = other;
  again.memory[0].peak = Bytes(200);
  const Profile merged = merge(merge(of(one_op(1000)), other), again);
  ASSERT_EQ(merged.ops.size(), 1u);
  EXPECT_EQ(merged.ops[0].measurements.size(), 2u);
  ASSERT_EQ(merged.memory.size(), 1u);
  EXPECT_EQ(merged.memory[0].peak, Bytes(200));
}

TEST(Merge, IsCommutativeAndNothingIsNeutral) {
  EXPECT_TRUE(rc::check([] {
    const Profile a = toy::random_profile(*rc::gen::arbitrary<std::uint32_t>());
    const Profile b = toy::random_profile(*rc::gen::arbitrary<std::uint32_t>());
    RC_ASSERT(profile_json(merge(a, b)) == profile_json(merge(b, a)));
    RC_ASSERT(profile_json(merge(a, Profile())) == profile_json(a));
  }));
}

TEST(Merge, WithItselfDoublesTheRepetitions) {
  const Profile profile = of(one_op(1000, 7, 30)), twice = merge(profile, profile);
  EXPECT_EQ(twice.ops[0].measurements[0].time, Nanos(1000));
  EXPECT_EQ(twice.ops[0].measurements[0].spread, Nanos(30));
  EXPECT_EQ(twice.ops[0].measurements[0].repetitions, 14);
}

TEST(Refit, FollowsADriftingMachine) {
  Profile known = of(one_op(1000, 100));
  for (int round = 0; round < 12; ++round) known = refit(known, of(one_op(2000, 100)), 0.5);
  EXPECT_NEAR(static_cast<double>(known.ops[0].measurements[0].time.value), 2000, 2);
  // At most the geometric series' repetitions.
  EXPECT_LE(known.ops[0].measurements[0].repetitions, 201);
}

TEST(Refit, LeavesAloneWhatWasNotMeasuredAgain) {
  Profile known = of(one_op(1000, 100));
  known.transfers.push_back({"a", "b", {{Bytes(1), Nanos(5), {}, 9}, {Bytes(2), Nanos(6), {}, 9}}});
  const Profile result = refit(known, of(one_op(1000, 10)), 0);
  EXPECT_EQ(result.transfers[0].measurements[0].repetitions, 9);
  EXPECT_EQ(result.ops[0].measurements[0].repetitions, 11);
}

TEST(ProfileFile, GivesBackWhatWasWritten) {
  EXPECT_TRUE(rc::check([] {
    const Profile profile = toy::random_profile(*rc::gen::arbitrary<std::uint32_t>());
    const Profile back = parse_profile(profile_json(profile), "p.json");
    RC_ASSERT(back.digest() == normalised(profile).digest());
    RC_ASSERT(profile_json(back) == profile_json(profile));
    RC_ASSERT(back.name == profile.name);
  }));
}

TEST(ProfileFile, WritesEntriesInOrder) {
  Profile profile;
  profile.ops = {{"b", "V100", {{2, Nanos(5), {}, 1}, {1, Nanos(4), {}, 1}}},
                 {"a", "V100", {{1, Nanos(5), {}, 1}}},
                 {"z", "P100", {{1, Nanos(5), {}, 1}}}};
  const Profile back = parse_profile(profile_json(profile), "p.json");
  ASSERT_EQ(back.ops.size(), 3u);
  EXPECT_EQ(back.ops[0].gpu, "P100");
  EXPECT_EQ(back.ops[1].signature, "a");
  EXPECT_EQ(back.ops[2].measurements[0].samples, 1);
}

TEST(ProfileFile, IsReadFromDisk) {
  const auto file = std::filesystem::path(testing::TempDir()) / "strato_profile_test.json";
  write_profile(file, of(one_op(12'345)));
  EXPECT_EQ(read_profile(file).ops[0].measurements[0].time, Nanos(12'345));
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace strato
