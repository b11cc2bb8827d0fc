#include "core/search/local/local_search.h"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>

#include "core/base/error.h"
#include "core/search/evaluate/actions.h"
#include "tests/core/search/toy.h"

namespace strato {
namespace {

class LocalSearchTest : public testing::Test {
 protected:
  LocalSearch make() const {
    std::vector<std::int32_t> legal(actions_.size());
    std::iota(legal.begin(), legal.end(), 0);
    LocalSearch local(Neighbourhood(problem_, actions_, std::vector(groups(), legal)), 1);
    local.prefer({preferred()});
    return local;
  }
  std::size_t groups() const { return problem_.grouping->size(); }
  std::int32_t preferred() const { return static_cast<std::int32_t>(actions_.size()) - 1; }

  static Score score(std::int64_t time) { return {Nanos(time), true, Bytes(0), nullptr}; }
  LocalSearch started() const {
    LocalSearch local = make();
    local.restart_from(ActionVector(groups(), 0), score(time_));
    return local;
  }

  // One round: what has the preferred action somewhere is slower, one in ten of all else faster.
  // The number of those that have it.
  std::int64_t round(LocalSearch& local) {
    std::vector<Score> scores;
    std::int64_t count = 0;
    for (const ActionVector& proposal : local.propose(8)) {
      const bool has = std::ranges::find(proposal, preferred()) != proposal.end();
      count += has;
      const bool wins = !has && ++others_ % 10 == 0;
      scores.push_back(score(wins ? --time_ : 2'000'000'000));
    }
    local.accept(scores);
    return count;
  }
  std::int64_t rounds(LocalSearch& local, int count) {
    std::int64_t sum = 0;
    for (int i = 0; i < count; ++i) sum += round(local);
    return sum;
  }

  const Problem problem_ = toy::chain_problem(toy::sample_cluster("tag-testbed"), 20);
  const std::vector<Decision> actions_ = make_actions(problem_, {});
  std::int64_t time_ = 1'000'000'000, others_ = 0;
};

TEST_F(LocalSearchTest, proposes_less_from_where_nothing_better_comes) {
  LocalSearch local = started();
  const std::int64_t early = rounds(local, 20);
  rounds(local, 200);
  const std::int64_t late = rounds(local, 20);
  EXPECT_GT(early, 12);
  EXPECT_LT(late, early / 2);
  EXPECT_GT(rounds(local, 1000), 0);  // never given up
}

TEST_F(LocalSearchTest, its_state_is_whole) {
  LocalSearch local = started();
  rounds(local, 30);
  LocalSearch other = make();
  other.restore(local.save());
  other.set_incumbent_score(score(time_));
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(other.propose(8), local.propose(8));
    EXPECT_EQ(other.save(), local.save());
  }
}

TEST_F(LocalSearchTest, states_of_before_are_read_and_damaged_ones_refused) {
  LocalSearch local = started();
  rounds(local, 30);
  const LocalSearchState state = local.save();
  LocalSearchState before = state;
  before.yields.clear();
  LocalSearch older = make();
  EXPECT_NO_THROW(older.restore(before));
  EXPECT_EQ(older.incumbent(), local.incumbent());
  const auto refused = [&](auto&& change) {
    LocalSearchState damaged = state;
    change(damaged);
    LocalSearch other = make();
    EXPECT_THROW(other.restore(damaged), InputError);
  };
  using State = LocalSearchState;
  const auto actions = static_cast<std::int32_t>(actions_.size());
  const auto count = static_cast<std::int32_t>(groups());
  constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();
  refused([](State& s) { s.yields.resize(1); });
  refused([](State& s) { s.yields.resize(6); });
  refused([](State& s) { s.yields[0] = {1, 2}; });
  refused([](State& s) { s.yields[0] = {-1, -1}; });
  refused([](State& s) { s.yields[0] = {kHuge, 0}; });
  refused([](State& s) { s.steps = -1; });
  refused([](State& s) { s.steps = kHuge; });
  refused([](State& s) { s.successes.pop_back(); });
  refused([](State& s) { s.incumbent.pop_back(); });
  refused([&](State& s) { s.incumbent[0] = actions; });
  refused([&](State& s) { s.away = {0}; });
  refused([&](State& s) { s.tried = {{-1, 0, 0}}; });
  refused([&](State& s) { s.tried = {{Neighbourhood::kKinds, 0, 0}}; });
  refused([&](State& s) { s.together = {{0, count, 0}}; });
  refused([&](State& s) { s.together = {{0, 0, actions}}; });
}

TEST(Neighbourhood, moves_what_belongs_together_and_no_pinned_group) {
  const Problem problem = toy::chain_problem(toy::small_cluster(2, 2), 16);
  const std::vector<Decision> actions = make_actions(problem, {});
  const std::vector<std::int32_t> legal = {0, 1, 2, 3};
  Neighbourhood neighbourhood(problem, actions, std::vector(16, legal));
  ActionVector strategy(16, 0);
  strategy[5] = 1;
  const auto changed = [&](std::int32_t kind, std::int32_t group) {
    const ActionVector moved = neighbourhood.apply({kind, group, 2}, strategy);
    std::vector<std::size_t> groups;
    for (std::size_t g = 0; g < moved.size(); ++g)
      if (moved[g] != strategy[g]) groups.push_back(g);
    return groups;
  };
  using Groups = std::vector<std::size_t>;
  EXPECT_EQ(changed(Neighbourhood::Single, 4), Groups{4});
  EXPECT_EQ(changed(Neighbourhood::Around, 4), (Groups{3, 4, 5}));
  EXPECT_EQ(changed(Neighbourhood::Alike, 5), Groups{5});
  EXPECT_EQ(changed(Neighbourhood::Alike, 4).size(), 15U);
  EXPECT_EQ(changed(Neighbourhood::Stretch, 4), (Groups{4, 5, 6}));
  std::vector<std::int32_t> pinned(16, -1);
  pinned[4] = 0;
  neighbourhood.pin(pinned, actions.size());
  EXPECT_EQ(changed(Neighbourhood::Around, 4), (Groups{3, 5}));
  EXPECT_FALSE(neighbourhood.is_pinned_everywhere());
  neighbourhood.pin(std::vector<std::int32_t>(16, 0), actions.size());
  EXPECT_TRUE(neighbourhood.is_pinned_everywhere());
}

TEST(Neighbourhood, a_source_offers_what_there_is) {
  const Problem problem = toy::chain_problem(toy::small_cluster(2, 2), 4);
  const std::vector<std::int32_t> legal = {0, 1, 2};
  Neighbourhood neighbourhood(problem, make_actions(problem, {}), std::vector(4, legal));
  const ActionVector alike(4, 0), mixed = {0, 0, 1, 0};
  EXPECT_FALSE(neighbourhood.offers(Neighbourhood::Preferred, alike));
  neighbourhood.prefer({2});
  EXPECT_TRUE(neighbourhood.offers(Neighbourhood::Preferred, alike));
  EXPECT_FALSE(neighbourhood.offers(Neighbourhood::Used, alike));
  EXPECT_TRUE(neighbourhood.offers(Neighbourhood::Used, mixed));
  EXPECT_TRUE(neighbourhood.offers(Neighbourhood::Any, alike));
  Random random(1);
  const std::vector<double> kinds = {1, 0, 0, 0, 0};
  for (int i = 0; i < 50; ++i) {
    const Move preferred =
        neighbourhood.random_move(random, Neighbourhood::Preferred, kinds, mixed);
    EXPECT_EQ(preferred.kind, Neighbourhood::Single);
    EXPECT_EQ(preferred.action, 2);
    const Move used = neighbourhood.random_move(random, Neighbourhood::Used, kinds, mixed);
    EXPECT_EQ(used.action, used.group == 2 ? 0 : 1);
  }
}

}  // namespace
}  // namespace strato
