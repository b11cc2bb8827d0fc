// Ids, quantities, digests, random numbers, halves, patterns, the parallel loop.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <stdexcept>
#include <unordered_set>

#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/base/half.h"
#include "core/base/ids.h"
#include "core/base/parallel.h"
#include "core/base/random.h"
#include "core/base/units.h"
#include "core/base/words.h"

namespace strato {
namespace {

using AppleId = Id<struct AppleTag>;
using PearId = Id<struct PearTag>;
static_assert(!std::is_convertible_v<AppleId, PearId>);
static_assert(!std::is_convertible_v<int, AppleId>);
static_assert(!std::is_convertible_v<Nanos, Bytes>);
static_assert(std::is_trivially_copyable_v<AppleId>);

TEST(Ids, DefaultNamesNothing) {
  EXPECT_FALSE(AppleId().valid());
  EXPECT_EQ(AppleId().value(), -1);
  EXPECT_TRUE(AppleId(0).valid());
  EXPECT_LT(AppleId(), AppleId(0));
  EXPECT_LT(AppleId(3), AppleId(4));
}

TEST(Ids, VectorIsIndexedByItsKey) {
  IdVector<AppleId, int> values;
  EXPECT_EQ(values.next_id(), AppleId(0));
  values.push_back(7);
  values[AppleId(0)] = 8;
  EXPECT_EQ(std::as_const(values)[AppleId(0)], 8);
  EXPECT_EQ(values.next_id(), AppleId(1));
}

TEST(Ids, Hash) {
  std::unordered_set<AppleId> set{AppleId(1), AppleId(2), AppleId(1), AppleId()};
  EXPECT_EQ(set.size(), 3u);
}

TEST(Units, Arithmetic) {
  Nanos t(5);
  t += Nanos(3);
  EXPECT_EQ(t, Nanos(8));
  t -= Nanos(1);
  EXPECT_EQ(t * 3, Nanos(21));
  EXPECT_EQ(3 * t, Nanos(21));
  EXPECT_EQ(t / 2, Nanos(3));
  EXPECT_DOUBLE_EQ(Nanos(3) / Nanos(4), 0.75);
  EXPECT_LT(Nanos(7), Nanos::max());
}

TEST(Units, WorkThatExistsTakesTime) {
  EXPECT_EQ(nanos_from_seconds(0), Nanos(0));
  EXPECT_EQ(nanos_from_seconds(1e-12), Nanos(1));
  EXPECT_EQ(nanos_from_seconds(1.5e-9), Nanos(2));
  EXPECT_EQ(nanos_from_seconds(2), Nanos(2'000'000'000));
  EXPECT_DOUBLE_EQ(to_seconds(Nanos(1'500'000'000)), 1.5);
}

TEST(Units, AbsurdTimesDoNotOverflow) {
  const Nanos longest = nanos_from_seconds(1e300);
  EXPECT_GT(longest, Nanos(0));
  EXPECT_GT(longest + longest, longest);
  EXPECT_EQ(nanos_from_seconds(std::numeric_limits<double>::infinity()), longest);
}

TEST(Digests, TextPartsDoNotRunTogether) {
  EXPECT_NE(Hasher().text("ab").text("c").finish(), Hasher().text("a").text("bc").finish());
  EXPECT_EQ(Hasher().text("ab").text("c").finish(), Hasher().text("ab").text("c").finish());
  EXPECT_EQ(Hasher().bytes("abc", 3).finish(), digest_of("abc"));
}

TEST(Digests, HexRoundTrip) {
  const Digest digest = digest_of("stratoscope");
  EXPECT_EQ(digest.hex().size(), 32u);
  EXPECT_EQ(Digest::from_hex(digest.hex()), digest);
  EXPECT_EQ(Digest().hex(), std::string(32, '0'));
}

TEST(Digests, FromHexRefusesEverythingElse) {
  const std::string good = digest_of("x").hex();
  for (const std::string& text :
       {std::string(), good.substr(1), good + "0", "g" + good.substr(1), "-" + good.substr(1),
        good.substr(0, 31) + " ", "0x" + good.substr(2)}) {
    EXPECT_THROW(Digest::from_hex(text), InputError) << text;
  }
}

TEST(RandomNumbers, AreTheSameEverywhere) {
  Random random(1);  // mt19937_64 is fixed by the C++ standard
  EXPECT_EQ(random.next(), 2469588189546311528u);
  EXPECT_EQ(Random(7).below(1000), Random(7).below(1000));
}

TEST(RandomNumbers, StayInTheirBounds) {
  Random random(3);
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t value = random.below(5);
    EXPECT_LT(value, 5u);
    seen.insert(value);
    const double u = random.uniform(-2, 3);
    EXPECT_GE(u, -2);
    EXPECT_LT(u, 3);
  }
  EXPECT_EQ(seen.size(), 5u);
  EXPECT_EQ(random.below(1), 0u);
}

TEST(RandomNumbers, ShuffleIsAPermutation) {
  std::vector<int> values(100);
  std::iota(values.begin(), values.end(), 0);
  std::vector<int> shuffled = values;
  Random random(5);
  random.shuffle(std::span(shuffled));
  EXPECT_NE(shuffled, values);
  std::sort(shuffled.begin(), shuffled.end());
  EXPECT_EQ(shuffled, values);
  std::vector<int> none;
  random.shuffle(std::span(none));
}

TEST(ParallelFor, CallsEveryIndexOnce) {
  for (const int threads : {0, 1, 2, 5}) {
    std::vector<std::atomic<int>> calls(1000);
    parallel_for(calls.size(), threads, [&](std::size_t i) { ++calls[i]; });
    for (const auto& count : calls) EXPECT_EQ(count, 1);
  }
  parallel_for(0, 0, [](std::size_t) { FAIL(); });
}

TEST(ParallelFor, RethrowsAnException) {
  for (const int threads : {1, 2}) {
    EXPECT_THROW(parallel_for(100, threads,
                              [](std::size_t i) {
                                if (i == 57) throw std::runtime_error("57");
                              }),
                 std::runtime_error);
  }
}

TEST(Errors, OneLineWithoutEmptyParts) {
  EXPECT_STREQ(InputError("f.json", "a[0]", "is bad", "mend it").what(),
               "f.json: a[0]: is bad; mend it");
  EXPECT_STREQ(InputError("", "", "is bad", "").what(), "is bad");
  EXPECT_STREQ(InputError("f", "", "two\nlines", "").what(), "f: two lines");
  EXPECT_STREQ(InputError("f", "", std::string("a\0b", 3), "c").what(), "f: a b; c");
}

TEST(Errors, WhatNobodyReadsIsCutShort) {
  const std::string key(100'000, 'x');
  const InputError error("f", key, "\"" + key + "\" is bad", "mend it");
  EXPECT_EQ(error.what(),
            "f: " + std::string(200, 'x') + "…: \"" + std::string(499, 'x') + "… is bad; mend it");
  EXPECT_EQ(error.place(), key);
  std::string umlauts = "x";
  while (umlauts.size() < 400) umlauts += "ü";
  EXPECT_EQ(std::string(InputError("", umlauts, "is bad", "").what()),
            umlauts.substr(0, 199) + "…: is bad");
}

TEST(Errors, CheckNamesTheInvariant) {
  try {
    CHECK(1 == 2, std::string("sums") + " differ");
    FAIL();
  } catch (const InvariantError& error) {
    EXPECT_NE(std::string(error.what()).find("sums differ (1 == 2)"), std::string::npos);
  }
}

TEST(Half, BitsAndValuesAreEachOthers) {
  EXPECT_EQ(half_value(0x3c00), 1.0F);
  EXPECT_EQ(half_value(0x7bff), 65504.0F);
  EXPECT_EQ(half_value(0x0001), 0x1p-24F);  // the smallest above zero
  EXPECT_EQ(half_value(0xfc00), -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(half_value(0x7e00)));
  for (std::uint16_t bits = 0x0400; bits < 0x7c00; ++bits) {
    EXPECT_EQ(half_bits(half_value(bits)), bits);
    EXPECT_EQ(bfloat_bits(bfloat_value(bits)), bits);
  }
}

TEST(Half, NearestIsRoundedAtTheMiddleToTheEvenOne) {
  for (std::uint16_t bits = 0; bits < 0x7bff; ++bits) {
    const double here = half_value(bits), next = half_value(static_cast<std::uint16_t>(bits + 1));
    const double middle = (here + next) / 2;
    EXPECT_EQ(nearest_half_bits(middle), bits + bits % 2);
    EXPECT_EQ(nearest_half_bits(std::nextafter(middle, here)), bits);
    EXPECT_EQ(nearest_half_bits(-std::nextafter(middle, next)), 0x8000 + bits + 1);
  }
  EXPECT_EQ(nearest_half_bits(65519), 0x7bff);
  EXPECT_EQ(nearest_half_bits(65520), 0x7c00);
  EXPECT_EQ(nearest_bfloat_bits(1 + 0x1p-8), 0x3f80);
  EXPECT_EQ(nearest_bfloat_bits(1 + 0x1.8p-7), 0x3f82);
}

TEST(Words, StarsStandForAnyText) {
  EXPECT_TRUE(matches_pattern("layers.*.lora_*", "layers.12.lora_A"));
  EXPECT_TRUE(matches_pattern("*", ""));
  EXPECT_TRUE(matches_pattern("a*b*c", "a--b--b--c"));
  EXPECT_FALSE(matches_pattern("layers.*", "my.layers.1"));
  EXPECT_FALSE(matches_pattern("*bias", "bias.grad"));
  EXPECT_FALSE(matches_pattern("bias", "biases"));
}

}  // namespace
}  // namespace strato
