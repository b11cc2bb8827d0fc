#include "core/search/search_tree.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/base/random.h"

namespace strato {
namespace {

SearchTree sample() {
  SearchTree tree;
  tree.actions = {{Mode::ReplicateAllReduce, {{DeviceId(0), 1}, {DeviceId(2), 3}}},
                  {Mode::ModelParallel, {{DeviceId(1), 1}}}};
  tree.order = {GroupId(1), GroupId(0)};
  tree.vertices.resize(4);
  tree.vertices[0] = {-1, -1, 0, 9, 1.5, 1, 0.25F, 1000, 1, 2, 0};
  tree.vertices[1] = {0, 0, 1, 5, -0.5, 0.5F, -1.5F, 2000, 3, 1, -1};
  tree.vertices[2] = {0, 1, 1, 3, 2.5, 0.5F, 0.75F, 500, -1, 0, -1};
  tree.vertices[3] = {1, 1, 2, 1, 0.5, 0.5F, 0.5F, 700, -1, 0, -1};
  tree.priors = {0.3F, 0.7F};
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
