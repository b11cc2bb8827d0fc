#include "core/search/tree/search_tree.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/io/container.h"
#include "core/search/tree/search_tree.h"
#include "tests/message_of.h"

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
  tree.state.local_iterations = 4;
  tree.state.pins = digest_of("pins");
  tree.state.packed = true;
  tree.state.space_next = 21;
  tree.state.incumbent_unfinished = {false, true};
  tree.state.tried_otherwise = {true, false};
  tree.state.aside = {{1, 0}, {false, true}};
  tree.state.local.steps = 7;
  tree.state.local.incumbent = {1, 0};
  tree.state.local.successes = {3, 0, 0, 1, 2};
  tree.state.local.yields = {{5, 1}};
  tree.state.local.tried = {{0, 1, 1}, {4, 0, 0}};
  tree.state.local.tried_pairs = {-5, 17};
  tree.state.local.used_starts = {1};
  tree.state.second = SearchState::Unfinished{true, tree.state.local};
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
  EXPECT_EQ(back.state, tree.state);
  EXPECT_EQ(back.seed, 42U);
  EXPECT_EQ(back.problem, tree.problem);
  EXPECT_EQ(back.vertices[1].reward, -1.5F);
  EXPECT_EQ(back.priors, tree.priors);
  EXPECT_EQ(back.pinned, tree.pinned);
  EXPECT_EQ(back.focus, 1);
  EXPECT_EQ(back.log, tree.log);
  EXPECT_EQ(back.vertices[1].weight, 2.5F);
}

void expect_damage_said(const std::string& bytes) {
  try {
    parse_search_tree(bytes);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("search tree"), std::string::npos) << error.what();
  }
}

TEST(SearchTree, rows_of_devices_round_trip) {
  SearchTree tree = sample();
  tree.pinned[GroupId(1)] =
      Decision{Mode::ReplicateAllReduce, {{DeviceId(0), 1}, {DeviceId(1), 1}}, 2};
  EXPECT_EQ(parse_search_tree(serialise(tree)).pinned, tree.pinned);
}

TEST(SearchTree, any_changed_bit_is_seen) {
  const std::string bytes = serialise(sample());
  for (std::size_t i = 0; i < bytes.size(); ++i)
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

constexpr ContainerKind kTree{"stratoscope-search-tree", 3, "the search tree", ""};

// All lists of numbers in a value.
void collect_binary(Json& json, std::vector<Json::binary_t*>& found) {
  if (json.is_binary() && !json.get_binary().empty()) found.push_back(&json.get_binary());
  if (json.is_structured())
    for (Json& part : json) collect_binary(part, found);
}

// In a container that is whole: numbers change, lists become shorter, parts are gone.
TEST(SearchTree, damaged_values_never_do_harm) {
  const Json whole = read_container(serialise(sample()), kTree, "tree").value.json();
  Random random(5);
  for (int round = 0; round < 4000; ++round) {
    Json damaged = whole;
    std::vector<Json::binary_t*> lists;
    collect_binary(damaged, lists);
    for (std::uint64_t n = 1 + random.below(3); n > 0; --n) {
      Json::binary_t& list = *lists[random.below(lists.size())];
      if (random.below(4) == 0) list.resize(random.below(list.size() + 1));
      if (!list.empty())
        list[random.below(list.size())] = static_cast<std::uint8_t>(random.below(256));
    }
    if (round % 10 == 0)
      damaged.erase(std::next(damaged.begin(), static_cast<int>(random.below(10))));
    try {
      const SearchTree tree = parse_search_tree(write_container(kTree, damaged));
      for (std::size_t v = 0; v < tree.vertices.size(); ++v)
        tree.strategy_at(static_cast<std::int32_t>(v), 2);
      tree.best_path();
      serialise(tree);
    } catch (const InputError&) {
    }
  }
}

TEST(SearchTree, version_of_the_future_is_named) {
  const Json value = read_container(serialise(sample()), kTree, "tree").value.json();
  ContainerKind newer = kTree;
  newer.version = 4;
  EXPECT_NE(message_of([&] { parse_search_tree(write_container(newer, value)); }).find("newer"),
            std::string::npos);
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
