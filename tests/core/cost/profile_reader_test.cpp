// What a profile's reader refuses, with the exact place; and that nothing makes it crash.
#include <gtest/gtest.h>

#include <string>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/cost/value/profile.h"

namespace strato {
namespace {

constexpr const char* kGood = R"json({
  "format": "stratoscope-profile", "version": 1, "units": {"time": "us", "bytes": "B"},
  "name": "test", "host": "here", "software": "none",
  "ops": [{"gpu": "V100", "signature": "Relu(float32[B,8])->(float32[B,8])", "measurements":
           [{"samples": 8, "time": 12.5, "spread": 0.25, "repetitions": 30},
            {"samples": 16, "time": 20}]}],
  "transfers": [{"from": "a:0", "to": "a:1", "measurements":
                 [{"bytes": 1024, "time": 10}, {"bytes": 2048, "time": 11}]}],
  "collectives": [{"kind": "all-reduce", "devices": ["a:0", "a:1"], "measurements":
                   [{"bytes": 1024, "time": 30}, {"bytes": 2048, "time": 31}]}],
  "memory": [{"graph": "lenet", "gpu": "V100", "batch": 8, "peak": 123456}]})json";

// kGood with its first `from` replaced.
std::string with(const std::string& from, const std::string& to) {
  std::string text = kGood;
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(ProfileReader, ReadsEveryField) {
  const Profile profile = parse_profile(kGood, "p.json");
  EXPECT_EQ(profile.name, "test");
  EXPECT_EQ(profile.host, "here");
  EXPECT_EQ(profile.software, "none");
  ASSERT_EQ(profile.ops.size(), 1u);
  ASSERT_EQ(profile.ops[0].measurements.size(), 2u);
  const OpMeasurement& point = profile.ops[0].measurements[0];
  EXPECT_EQ(point.samples, 8);
  EXPECT_EQ(point.time, Nanos(12'500));
  EXPECT_EQ(point.spread, Nanos(250));
  EXPECT_EQ(point.repetitions, 30);
  EXPECT_EQ(profile.transfers[0].measurements[1].time, Nanos(11'000));
  EXPECT_EQ(profile.collectives[0].kind, Collective::AllReduce);
  EXPECT_EQ(profile.memory[0].peak, Bytes(123'456));
}

TEST(ProfileReader, ReadsOtherUnitsOfTime) {
  const Profile profile = parse_profile(with("\"us\"", "\"ms\""), "p.json");
  EXPECT_EQ(profile.ops[0].measurements[0].time, Nanos(12'500'000));
}

TEST(ProfileReader, TakesAnEntryThatRepeatsTheUnit) {
  EXPECT_NO_THROW(
      parse_profile(with("\"time\": 20", "\"time\": 20, \"units\": {\"time\": \"us\"}"), "p.json"));
}

TEST(ProfileReader, TakesTheSameMeasurementTwice) {
  const Profile profile =
      parse_profile(with("{\"samples\": 16, \"time\": 20}",
                         "{\"samples\": 16, \"time\": 20}, {\"samples\": 16, \"time\": 20}"),
                    "p.json");
  EXPECT_EQ(profile.ops[0].measurements.size(), 2u);
}

struct Bad {
  const char* name;
  const char* from;
  const char* to;
  const char* place;
  const char* problem;  // a part of it
};

class ProfileReaderRefuses : public testing::TestWithParam<Bad> {};

TEST_P(ProfileReaderRefuses, WithTheExactPlace) {
  const Bad& bad = GetParam();
  try {
    parse_profile(with(bad.from, bad.to), "p.json");
    FAIL() << "was read";
  } catch (const InputError& error) {
    EXPECT_EQ(error.file(), "p.json");
    EXPECT_EQ(error.place(), bad.place) << error.what();
    EXPECT_NE(error.problem().find(bad.problem), std::string::npos) << error.what();
    EXPECT_FALSE(error.remedy().empty());
  }
}

constexpr const char* kSecond = "ops[0].measurements[1].time";
INSTANTIATE_TEST_SUITE_P(
    All, ProfileReaderRefuses,
    testing::Values(
        Bad{"NegativeTime", "\"time\": 20", "\"time\": -20", kSecond, "negative"},
        Bad{"ZeroTime", "\"time\": 20", "\"time\": 0", kSecond, "zero"},
        Bad{"BelowOneNanosecond", "\"time\": 20", "\"time\": 1e-9", kSecond, "zero"},
        Bad{"EndlessTime", "\"time\": 20", "\"time\": 1e300", kSecond, "longer"},
        Bad{"NanText", "\"time\": 20", "\"time\": \"NaN\"", kSecond, "not a number"},
        Bad{"Nan", "\"time\": 20", "\"time\": NaN", "line 6, column 37", "JSON"},
        Bad{"Infinite", "\"time\": 20", "\"time\": 1e999", "", "does not fit"},
        Bad{"NullTime", "\"time\": 20", "\"time\": null", "ops[0].measurements[1]", "time"},
        Bad{"MissingTime", "\"samples\": 16, \"time\": 20", "\"samples\": 16",
            "ops[0].measurements[1]", "time"},
        Bad{"MissingSamples", "\"samples\": 16, ", "", "ops[0].measurements[1]", "samples"},
        Bad{"NoSamples", "\"samples\": 16", "\"samples\": 0", "ops[0].measurements[1].samples",
            "0"},
        Bad{"HalfASample", "\"samples\": 16", "\"samples\": 1.5", "ops[0].measurements[1].samples",
            "whole"},
        Bad{"NegativeSpread", "\"spread\": 0.25", "\"spread\": -1", "ops[0].measurements[0].spread",
            "negative"},
        Bad{"NoRepetitions", "\"repetitions\": 30", "\"repetitions\": 0",
            "ops[0].measurements[0].repetitions", "0"},
        Bad{"SamplesTwice", "\"samples\": 16", "\"samples\": 8", "ops[0].measurements[1]",
            "samples"},
        Bad{"NoMeasurements", R"([{"bytes": 1024, "time": 10}, {"bytes": 2048, "time": 11}])", "[]",
            "transfers[0].measurements", "fewer than two"},
        Bad{"OneSize", "{\"bytes\": 1024, \"time\": 10}, ", "", "transfers[0].measurements",
            "fewer than two"},
        Bad{"OneSizeTwice", "\"bytes\": 2048, \"time\": 11", "\"bytes\": 1024, \"time\": 10",
            "transfers[0].measurements", "fewer than two"},
        Bad{"OneSizeOfACollective", "{\"bytes\": 1024, \"time\": 30}, ", "",
            "collectives[0].measurements", "fewer than two"},
        Bad{"NegativeBytes", "\"bytes\": 1024", "\"bytes\": -1",
            "transfers[0].measurements[0].bytes", "-1"},
        Bad{"UnknownCollective", "all-reduce", "all-to-some", "collectives[0].kind", "collective"},
        Bad{"LonelyCollective", "[\"a:0\", \"a:1\"]", "[\"a:0\"]", "collectives[0].devices", "two"},
        Bad{"MemberTwice", "[\"a:0\", \"a:1\"]", "[\"a:0\", \"a:0\"]", "collectives[0].devices[1]",
            "member"},
        Bad{"UnknownUnit", "\"us\"", "\"fortnights\"", "units.time", "unit"},
        Bad{"UnknownSizeUnit", "\"B\"", "\"KB\"", "units.bytes", "unit"},
        Bad{"NoUnits", "\"units\": {\"time\": \"us\", \"bytes\": \"B\"},", "", "", "units"},
        Bad{"ConflictingUnit", "\"time\": 20", "\"time\": 20, \"units\": {\"time\": \"ms\"}",
            "ops[0].measurements[1].units.time", "conflicts"},
        Bad{"UnknownKey", "\"time\": 20", "\"time\": 20, \"tmie\": 3",
            "ops[0].measurements[1].tmie", "known key"},
        Bad{"MemoryIsNoList", R"([{"graph": "lenet", "gpu": "V100", "batch": 8, "peak": 123456}])",
            "3", "memory", "list"},
        Bad{"OpIsNoObject", "\"ops\": [", "\"ops\": [3, ", "ops[0]", "object"},
        Bad{"NameIsNoText", "\"test\"", "7", "name", "text"},
        Bad{"EmptySignature", "Relu(float32[B,8])->(float32[B,8])", "", "ops[0].signature",
            "empty"},
        Bad{"NoPeak", "\"peak\": 123456", "\"peak\": 0", "memory[0].peak", "0"},
        Bad{"NewerVersion", "\"version\": 1", "\"version\": 2", "version", "newer"},
        Bad{"OtherFormat", "stratoscope-profile", "stratoscope-plan", "format",
            "stratoscope-plan"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(ProfileReader, RefusesTheSameThingTwice) {
  const std::string op = R"({"gpu": "V100", "signature": "x", "measurements":
                             [{"samples": 1, "time": 1}]})";
  const std::string text = R"({"format": "stratoscope-profile", "version": 1,
      "units": {"time": "us", "bytes": "B"}, "ops": [)" +
                           op + "," + op + "]}";
  try {
    parse_profile(text, "p.json");
    FAIL() << "was read";
  } catch (const InputError& error) {
    EXPECT_EQ(error.place(), "ops[1]");
    EXPECT_NE(error.problem().find("ops[0]"), std::string::npos);
  }
}

// One to four random edits: bytes changed, cut, doubled, or swapped for something nasty.
std::string mutated(std::string text, Random& random) {
  constexpr const char* nasty[] = {"-1",   "1e400",   "null", "{}",     "[]",
                                   "\"\"", "0",       "NaN",  "1e-300", "99999999999999999999",
                                   "true", "\\u0000", "\xff", "-0.0"};
  for (std::uint64_t edits = 1 + random.below(4); edits > 0 && !text.empty(); --edits) {
    const std::size_t at = random.below(text.size());
    const std::size_t length = std::min<std::size_t>(1 + random.below(12), text.size() - at);
    switch (random.below(4)) {
      case 0:
        text[at] = static_cast<char>(random.below(256));
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.insert(at, text.substr(at, length));
        break;
      default:
        text.replace(at, length, nasty[random.below(std::size(nasty))]);
    }
  }
  return text;
}

TEST(ProfileReader, MutatedTextIsReadOrRefusedNeverMore) {
  Random random(7);
  int refused = 0;
  for (int round = 0; round < 20'000; ++round) {
    const std::string text = mutated(kGood, random);
    try {
      const Profile profile = parse_profile(text, "p.json");
      // What was read is sound: it can be written and read again.
      EXPECT_EQ(parse_profile(profile_json(profile), "again.json").digest(), profile.digest());
    } catch (const InputError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 10'000);
}

// PyTorch's profiler writes an object, older tools a bare list.
TEST(ProfileReader, TracesOfOtherProfilersAreToldApart) {
  for (const char* trace :
       {R"({"schemaVersion": 1, "traceEvents": [{"ph": "X", "name": "aten::mm"}]})",
        R"([{"ph": "X", "name": "aten::mm", "ts": 1, "dur": 2}])"}) {
    try {
      parse_profile(trace, "trace.json");
      ADD_FAILURE() << "accepted";
    } catch (const InputError& error) {
      EXPECT_STREQ(error.what(),
                   "trace.json: looks like a trace, not a profile; measure the model's ops with "
                   "stratoscope-cli profile");
    }
  }
}

}  // namespace
}  // namespace strato
