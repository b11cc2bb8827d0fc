// Files of weights: round trip, and every kind of damage.
#include <gtest/gtest.h>

#include <filesystem>

#include "core/base/error.h"
#include "core/io/file.h"
#include "plugins/planners/learned/kit/network/trainable.h"
#include "tests/paths.h"
#include "tests/plugins/planners/learned/tag/kit.h"

namespace strato::tag {
namespace {

std::filesystem::path scratch(const std::string& name) {
  return std::filesystem::path(testing::TempDir()) / ("tag_weights_" + name);
}

std::string problem_of(const std::string& bytes) {
  try {
    Network::parse(bytes, "w.bin");
  } catch (const InputError& error) {
    EXPECT_EQ(error.file(), "w.bin");
    EXPECT_FALSE(error.remedy().empty());
    return error.problem();
  }
  return "accepted";
}

TEST(Weights, saved_and_loaded_are_equal) {
  for (bool paper : {false, true}) {
    const Network network =
        Network::make({.width = 12, .layers = 3, .heads = 3, .paper = paper}, 7);
    const auto file = scratch(paper ? "paper" : "ours");
    network.save(file, R"({"seed": 7})");
    const Network back = Network::load(file);
    EXPECT_EQ(back.size(), network.size());
    EXPECT_EQ(back.parameters(), network.parameters());
    EXPECT_EQ(back.note(), R"({"seed":7})");
    std::filesystem::remove(file);
  }
}

TEST(Weights, of_one_seed_are_equal_and_of_two_differ) {
  EXPECT_EQ(Network::make(kTiny, 1).parameters(), Network::make(kTiny, 1).parameters());
  EXPECT_NE(Network::make(kTiny, 1).parameters(), Network::make(kTiny, 2).parameters());
}

TEST(Weights, stay_under_the_limit_at_the_default_size) {
  EXPECT_LE(Network::make({}, 1).bytes("{}").size(), 8U << 20);
}

TEST(Weights, every_cut_is_refused) {
  const std::string whole = Network::make(kTiny, 1).bytes(R"({"loss": 1.5})");
  for (std::size_t length = 0; length < whole.size(); length += length < 400 ? 1 : 997)
    EXPECT_NE(problem_of(whole.substr(0, length)), "accepted") << length;
  EXPECT_NE(problem_of(whole + "x"), "accepted");
}

TEST(Weights, every_changed_byte_is_refused) {
  const std::string whole = Network::make(kTiny, 1).bytes(R"({"loss": 1.5})");
  for (std::size_t at = 0; at < whole.size(); at += at < 400 ? 1 : 499) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x41);
    EXPECT_NE(problem_of(damaged), "accepted") << at;
  }
}

TEST(Weights, the_problem_is_named) {
  std::string bytes = Network::make(kTiny, 1).bytes("{}");
  EXPECT_NE(problem_of("PK zip").find("not a file of weights"), std::string::npos);
  EXPECT_NE(problem_of(bytes.substr(0, 1000)).find("cut"), std::string::npos)
      << problem_of(bytes.substr(0, 1000));
  bytes.back() ^= 1;
  EXPECT_NE(problem_of(bytes).find("does not match its digest"), std::string::npos);
  EXPECT_THROW(Network::load(scratch("nowhere")), InputError);
}

std::string old_weights() {
  return read_file(std::string(kSourceFolder) + "/tests/data/learned/tag.weights");
}

// Written by a version that had a format of its own for them.
TEST(OldWeights, open_and_become_new_ones) {
  const Network network = Network::parse(old_weights(), "old");
  EXPECT_EQ(network.size(), (NetworkSize{.width = 8, .layers = 2, .heads = 2}));
  EXPECT_NE(network.note().find("\"steps\":6"), std::string::npos) << network.note();
  const Network again = Network::parse(network.bytes(network.note()), "new");
  EXPECT_EQ(again.parameters(), network.parameters());
  EXPECT_EQ(again.note(), network.note());
}

TEST(OldWeights, are_refused_when_damaged_or_of_another_planner) {
  const std::string whole = old_weights();
  for (std::size_t length = 0; length < whole.size(); length += length < 80 ? 1 : 997)
    EXPECT_NE(problem_of(whole.substr(0, length)), "accepted") << length;
  EXPECT_NE(problem_of(whole + "x"), "accepted");
  for (std::size_t at = 0; at < whole.size(); at += at < 80 ? 1 : 499) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x41);
    EXPECT_NE(problem_of(damaged), "accepted") << at;
  }
  const std::string of_gdp =
      read_file(std::string(kSourceFolder) + "/tests/data/learned/gdp-tiny.weights");
  EXPECT_NE(problem_of(of_gdp).find("of the planner gdp"), std::string::npos);
}

TEST(Weights, a_device_that_is_not_there_is_refused) {
  Network network = Network::make(kTiny, 1);
  EXPECT_THROW(network.move_to("warp:3"), InputError);
  EXPECT_NO_THROW(network.move_to("cpu"));
  if (!at::hasCUDA()) {
    EXPECT_THROW(network.move_to("cuda"), InputError);
  }
}

}  // namespace
}  // namespace strato::tag
