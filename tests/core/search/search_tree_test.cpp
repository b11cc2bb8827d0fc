#include "core/search/tree/search_tree.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/search/tree/search_tree_io.h"

namespace strato {
namespace {

SearchTree sample() {
  SearchTree tree;
  tree.actions = {{Mode::ReplicateAllReduce, {{DeviceId(0), 1}, {DeviceId(2), 3}}},
                  {Mode::ModelParallel, {{DeviceId(1), 1}}}};
  tree.order = {GroupId(1), GroupId(0)};
  tree.vertices.resize(4);
  tree.vertices[0] = {-1, -1, 0, 9, 1.5, 1, 0.25F, 1000, 1, 2, 0};
  tree.vertices[1] = {0, 0, 1, 5, -0.5, 0.5F, -1.5F, 2000, 3, 1, -1, 2.5F};
  tree.vertices[2] = {0, 1, 1, 3, 2.5, 0.5F, 0.75F, 500, -1, 0, -1, 0};
  tree.vertices[3] = {1, 1, 2, 1, 0.5, 0.5F, 0.5F, 700, -1, 0, -1};
  tree.priors = {0.3F, 0.7F};
  tree.pinned = {std::nullopt, tree.actions[0]};
  tree.focus = 1;
  for (std::int32_t vertex : {0, 1, 2, 1, 1, 3, 2, 2, 1})
    tree.log.push_back({vertex, static_cast<float>(vertex) / 8});
  tree.iterations = 9;
  tree.seed = 42;
  tree.random_state = "state\0with zero";
  tree.problem = digest_of("problem");
  return tree;
}

TEST(SearchTree, round_trip) {
  const SearchTree tree = sample();
  const std::string bytes = serialise(tree);
  const SearchTree back = parse_search_tree(bytes);
  EXPECT_EQ(serialise(back), bytes);
  EXPECT_EQ(back.actions, tree.actions);
  EXPECT_EQ(back.order, tree.order);
  EXPECT_EQ(back.random_state, tree.random_state);
  EXPECT_EQ(back.problem, tree.problem);
  EXPECT_EQ(back.vertices[1].reward, -1.5F);
  EXPECT_EQ(back.priors, tree.priors);
  EXPECT_EQ(back.pinned, tree.pinned);
  EXPECT_EQ(back.focus, 1);
  EXPECT_EQ(back.log, tree.log);
  EXPECT_EQ(back.vertices[1].weight, 2.5F);
}

// The same content as version 1 had it.
std::string as_version_1(const SearchTree& tree) {
  std::string plain = serialise([&] {
    SearchTree without = tree;
    without.pinned.clear();
    without.focus = -1;
    without.log.clear();
    return without;
  }());
  plain.resize(plain.size() - 16 - 8 - 4 - 8);  // checksum, log, focus, pins
  plain[8] = 1;
  const std::size_t priors = plain.size() - 8 - 4 * tree.priors.size();
  const std::size_t vertices = priors - 56 * tree.vertices.size();
  std::string old = plain.substr(0, vertices);
  for (std::size_t v = 0; v < tree.vertices.size(); ++v) old += plain.substr(vertices + 56 * v, 52);
  return old + plain.substr(priors);
}

TEST(SearchTree, version_1_still_reads) {
  const SearchTree tree = sample();
  const SearchTree back = parse_search_tree(as_version_1(tree));
  EXPECT_EQ(back.actions, tree.actions);
  EXPECT_EQ(back.priors, tree.priors);
  EXPECT_EQ(back.vertices[3].visits, 1);
  EXPECT_EQ(back.vertices[1].weight, 1);
  EXPECT_TRUE(back.pinned.empty());
  EXPECT_EQ(back.focus, -1);
  EXPECT_TRUE(back.log.empty());
}

// Damage that a checksum does not see: it is right again.
std::string with_right_checksum(std::string bytes) {
  if (bytes.size() < 16) return bytes;
  bytes.resize(bytes.size() - 16);
  const Digest digest = digest_of(bytes);
  bytes.append(reinterpret_cast<const char*>(&digest.high), 8);
  bytes.append(reinterpret_cast<const char*>(&digest.low), 8);
  return bytes;
}

void expect_damage_said(const std::string& bytes) {
  try {
    parse_search_tree(bytes);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("search tree: it"), std::string::npos) << error.what();
  }
}

TEST(SearchTree, any_changed_bit_is_seen) {
  const std::string bytes = serialise(sample());
  for (std::size_t i = 12; i < bytes.size(); ++i)
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ (1 << bit));
      expect_damage_said(damaged);
    }
}

TEST(SearchTree, broken_rules_are_seen_behind_a_right_checksum) {
  const auto breaks = [](auto&& change) {
    SearchTree tree = sample();
    change(tree);
    expect_damage_said(serialise(tree));
  };
  breaks([](SearchTree& t) { t.log.pop_back(); });
  breaks([](SearchTree& t) { t.log[3].vertex = 4; });
  breaks([](SearchTree& t) { t.log[3].vertex = -1; });
  breaks([](SearchTree& t) { t.log[3].reward = std::numeric_limits<float>::quiet_NaN(); });
  breaks([](SearchTree& t) { t.focus = 4; });
  breaks([](SearchTree& t) { t.focus = -2; });
  breaks([](SearchTree& t) { t.pinned.resize(3); });
  breaks([](SearchTree& t) { t.vertices[0].weight = 0; });
  breaks([](SearchTree& t) { t.vertices[1].weight = -1; });
  breaks([](SearchTree& t) { t.vertices[2].visits = 4; });
  breaks([](SearchTree& t) { t.vertices[3].parent = 2; });
  breaks([](SearchTree& t) { t.order = {GroupId(0), GroupId(0)}; });
}

TEST(SearchTree, every_truncation_and_any_extra_byte_is_an_input_error) {
  const std::string bytes = serialise(sample());
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_THROW(parse_search_tree(std::string_view(bytes).substr(0, size)), InputError) << size;
  EXPECT_THROW(parse_search_tree(bytes + "x"), InputError);
}

TEST(SearchTree, damaged_bytes_never_do_harm) {
  const std::string bytes = serialise(sample());
  Random random(5);
  for (int round = 0; round < 20000; ++round) {
    std::string damaged = bytes;
    for (std::uint64_t n = 1 + random.below(4); n > 0; --n)
      damaged[random.below(damaged.size())] = static_cast<char>(random.below(256));
    if (round % 3 == 0) damaged.resize(random.below(damaged.size()));
    damaged = with_right_checksum(std::move(damaged));
    try {
      const SearchTree tree = parse_search_tree(damaged);
      for (std::size_t v = 0; v < tree.vertices.size(); ++v)
        tree.strategy_at(static_cast<std::int32_t>(v), 2);
      tree.best_path();
      serialise(tree);
    } catch (const InputError&) {
    }
  }
}

TEST(SearchTree, version_of_the_future_is_named) {
  std::string bytes = serialise(sample());
  bytes[8] = 3;
  try {
    parse_search_tree(bytes);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("its version is 3"), std::string::npos);
  }
}

TEST(SearchTree, strategy_follows_the_path) {
  const SearchTree tree = sample();
  EXPECT_FALSE(tree.strategy_at(0, 2).groups[GroupId(0)].has_value());
  const Strategy strategy = tree.strategy_at(3, 2);
  EXPECT_EQ(*strategy.groups[GroupId(1)], tree.actions[0]);
  EXPECT_EQ(*strategy.groups[GroupId(0)], tree.actions[1]);
  EXPECT_EQ(tree.best_path(), (std::vector<std::int32_t>{0, 1, 3}));
}

}  // namespace
}  // namespace strato
