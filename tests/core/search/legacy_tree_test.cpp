// Trees that the program wrote before they were containers open, and their searches go on to the
// very trees to which the program of then went on.
#include "core/search/tree/legacy_tree.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/io/file.h"
#include "core/search/portfolio/tree_search.h"
#include "core/search/tree/search_tree.h"
#include "core/search/tree/steer.h"
#include "tests/core/search/legacy_searches.h"

namespace strato {
namespace {

std::string bytes_of(const std::string& name) {
  return read_file(std::string(kSourceFolder) + "/tests/core/search/legacy/" + name);
}

std::shared_ptr<const SearchTree> stored(const std::string& name) {
  return std::make_shared<const SearchTree>(parse_search_tree(bytes_of(name)));
}

TEST(LegacyTree, searches_go_on_as_they_did) {
  for (const legacy::Search& search : legacy::searches()) {
    SCOPED_TRACE(search.name);
    const PlanResult result = search.run(search.rest, stored(search.name + ".half"));
    const SearchTree whole = *stored(search.name + ".whole");
    EXPECT_EQ(result.tree->state, whole.state);
    EXPECT_TRUE(serialise(*result.tree) == serialise(whole));
    const PlanResult anew = search.run(search.half + search.rest, nullptr);
    EXPECT_TRUE(serialise(*anew.tree) == serialise(whole));
  }
}

TEST(LegacyTree, what_is_barred_comes_back) {
  const legacy::Search search = legacy::searches().front();
  const PlanResult free = search.run(200, nullptr);
  const SearchTree was_pinned = *stored("pinned.half");
  EXPECT_FALSE(was_pinned.state.barred.actions.empty());
  const auto pinned = std::make_shared<const SearchTree>(legacy::pinned(*free.tree));
  EXPECT_TRUE(serialise(*search.run(8, pinned).tree) == serialise(was_pinned));
  const auto unpinned = std::make_shared<const SearchTree>(legacy::unpinned(was_pinned));
  const PlanResult back = search.run(8, unpinned);
  EXPECT_TRUE(back.tree->state.barred.actions.empty());
  EXPECT_TRUE(serialise(*back.tree) == serialise(*stored("pinned.whole")));
}

TEST(LegacyTree, version_2_has_all_of_its_state) {
  const SearchTree tree = *stored("sample.version2");
  EXPECT_EQ(tree.order, (std::vector{GroupId(1), GroupId(0)}));
  EXPECT_EQ(tree.vertices[1].weight, 2.5F);
  EXPECT_EQ(tree.log.size(), 9U);
  EXPECT_EQ(tree.focus, 1);
  SearchState state;
  state.local_iterations = 4;
  state.baseline_ns = 1000;
  state.pinned_since = 3;
  state.pins = Digest::from_hex("0123456789abcdef0123456789abcdef");
  state.packed = state.contradicted = true;
  state.space_next = 21;
  state.incumbent_unfinished = {false, true};
  state.tried_otherwise = {false, false};
  state.all_tried_otherwise = true;
  state.aside = {{1, 0}, {false, true}};
  state.barred = {{0, 1}, {true, false}};
  LocalSearchState& local = state.local;
  local.steps = 7;
  local.incumbent = {1, 0};
  local.successes = {3, 0, 0, 1, 2};
  local.tried = {{0, 1, 1}, {4, 0, 0}};
  local.together = {{1, 0, 1}};
  local.tried_pairs = {-5, 17};
  local.away = {0, 1};
  local.neighbours_done = true;
  local.away_time_ns = 900;
  local.used_starts = {1, 5};
  local.yields = {{5, 1}, {6, 2}, {7, 3}, {8, 4}, {9, 0}};
  state.second = SearchState::Unfinished{true, {}};
  state.second->local.steps = 3;
  state.second->local.successes = {0, 0, 0, 0, 0};
  state.second->local.yields.resize(5);
  EXPECT_EQ(tree.state, state);
  EXPECT_EQ(parse_search_tree(serialise(tree)).state, state);
}

TEST(LegacyTree, version_1_has_neither_steering_nor_log) {
  const SearchTree tree = *stored("sample.version1");
  EXPECT_EQ(tree.actions, stored("sample.version2")->actions);
  EXPECT_EQ(tree.priors, stored("sample.version2")->priors);
  EXPECT_EQ(tree.vertices[3].visits, 1);
  EXPECT_EQ(tree.vertices[1].weight, 1);
  EXPECT_TRUE(tree.pinned.empty());
  EXPECT_EQ(tree.focus, -1);
  EXPECT_TRUE(tree.log.empty());
  EXPECT_EQ(tree.state.local_iterations, 4);
  EXPECT_EQ(tree.state.local.steps, 7);
  EXPECT_EQ(tree.state.local.together, (std::vector<Move>{{1, 0, 1}}));
  EXPECT_TRUE(tree.state.local.yields.empty());
}

TEST(LegacyTree, any_changed_bit_is_seen) {
  const std::string bytes = bytes_of("sample.version2");
  for (std::size_t i = 12; i < bytes.size(); ++i)
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ (1 << bit));
      EXPECT_THROW(parse_search_tree(damaged), InputError) << i;
    }
}

TEST(LegacyTree, every_truncation_and_any_extra_byte_is_an_input_error) {
  for (const char* name : {"sample.version1", "sample.version2"}) {
    const std::string bytes = bytes_of(name);
    for (std::size_t size = 0; size < bytes.size(); ++size)
      EXPECT_THROW(parse_search_tree(std::string_view(bytes).substr(0, size)), InputError) << size;
    EXPECT_THROW(parse_search_tree(bytes + "x"), InputError);
  }
}

// Version 1 has no checksum, and that of version 2 may be right again.
TEST(LegacyTree, damaged_bytes_never_do_harm) {
  Random random(5);
  for (int round = 0; round < 20000; ++round) {
    const bool first = round % 2 == 0;
    std::string damaged = bytes_of(first ? "sample.version1" : "sample.version2");
    for (std::uint64_t n = 1 + random.below(4); n > 0; --n)
      damaged[random.below(damaged.size())] = static_cast<char>(random.below(256));
    if (round % 3 == 0) damaged.resize(random.below(damaged.size()));
    if (!first && damaged.size() > 16) {
      damaged.resize(damaged.size() - 16);
      const Digest digest = digest_of(std::string_view(damaged));
      damaged.append(reinterpret_cast<const char*>(&digest.high), 8);
      damaged.append(reinterpret_cast<const char*>(&digest.low), 8);
    }
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

TEST(LegacyState, damaged_ones_are_refused) {
  SearchTree tree = *stored("sample.version2");
  const std::string pins = " 0123456789abcdef0123456789abcdef ";
  const std::string local = "/0;;0 0 0 0 0;;;;;0 0;0 0 0 0 0 0 0 0 0 0;";
  const auto read = [&](const std::string& text) { read_legacy_state(text, tree); };
  EXPECT_NO_THROW(read(""));
  EXPECT_NO_THROW(read("0" + local));
  EXPECT_NO_THROW(read("0 1 2" + pins + "0 g000" + local));
  EXPECT_NO_THROW(read("0 1 2" + pins + "0 17" + local));
  EXPECT_NO_THROW(read("0 1 2" + pins + "0 g000 k01,0,1" + local + "/f" + local.substr(1)));
  for (const std::string& text : {std::string("x"),
                                  std::string("5"),
                                  "99999" + local,
                                  "-1" + local,
                                  "1 2" + local,
                                  "0 1 99" + pins + "0 g000" + local,
                                  "0 1 2 xyz 0 g000" + local,
                                  "0 1 2" + pins + "-1 g000" + local,
                                  "0 1 2" + pins + "99999999999999 g000" + local,
                                  "0 1 2" + pins + "0 g040" + local,
                                  "0 1 2" + pins + "0 g" + local,
                                  "0 1 2" + pins + "0 1 2" + local,
                                  "0 1 2" + pins + "0 x" + local,
                                  "0 1 2" + pins + "0 99999999999999999999" + local,
                                  "0 1 2" + pins + "0 g000 x01,0,1" + local,
                                  "0 1 2" + pins + "0 g000 k" + local,
                                  "0 1 2" + pins + "0 g000 k01,-1,1" + local,
                                  "0 1 2" + pins + "0 g000 k01,0,x" + local,
                                  "0 1 2" + pins + "0 g000 r01,0,1 r01,0,1" + local,
                                  std::string("0/0;"),
                                  std::string("0/0;1 2;;;x;"),
                                  std::string("0/0;;;1 2;;"),
                                  std::string("0/0;;;-1 0 0;;"),
                                  std::string("0/0;;;;;;;1;"),
                                  "0" + local + "/",
                                  "0" + local + "/x",
                                  "0" + local + "/p0;"})
    EXPECT_THROW(read(text), InputError) << text;
}

TEST(LegacyState, of_autodist_is_a_record) {
  SearchTree tree;
  tree.vertices.resize(1);
  const std::string text = "autodist 5\nseed=1 learned=false\n2\n1 5 1 0\n2 9 0 77 4 1 0";
  read_legacy_state(text, tree);
  EvaluationRecord record{
      "autodist 5", "seed=1 learned=false", {{{5, true, 0}}, {{9, false, 77}, {4, true, 0}}}};
  EXPECT_EQ(tree.record, record);
  EXPECT_EQ(parse_search_tree(serialise(tree)).record, record);
  for (const char* damaged :
       {"autodist 5", "autodist 5\nseed=1", "autodist 5\nseed=1\n3\n1 5 1 0\n1 9 0 77",
        "autodist 5\nseed=1\n1\n2 5 1 0", "autodist 5\nseed=1\n1\n1 5 1",
        "autodist 5\nseed=1\n1\n1 5 x 0"})
    EXPECT_THROW(read_legacy_state(damaged, tree), InputError) << damaged;
}

}  // namespace
}  // namespace strato
