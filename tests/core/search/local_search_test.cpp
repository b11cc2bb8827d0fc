#include "core/search/local/local_search.h"

#include <gtest/gtest.h>

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
    LocalSearch local(problem_, actions_, std::vector(groups(), legal), 1);
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
  other.restore(local.state());
  other.set_incumbent_score(score(time_));
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(other.propose(8), local.propose(8));
    EXPECT_EQ(other.state(), local.state());
  }
}

TEST_F(LocalSearchTest, states_of_before_are_read_and_damaged_ones_refused) {
  LocalSearch local = started();
  rounds(local, 30);
  const std::string state = local.state();
  const std::size_t last = state.rfind(';', state.size() - 2) + 1;  // where the last row begins
  LocalSearch older = make();
  EXPECT_NO_THROW(older.restore(state.substr(0, last)));
  EXPECT_EQ(older.incumbent(), local.incumbent());
  for (const char* row : {" 1;", " 1 2 0 0 0 0 0 0 0 0;", " -1 -1 0 0 0 0 0 0 0 0;",
                          " 0 0 0 0 0 0 0 0 0 0 0;", " 9223372036854775807 0 0 0 0 0 0 0 0 0;"}) {
    LocalSearch damaged = make();
    EXPECT_THROW(damaged.restore(state.substr(0, last) + row), InputError) << row;
  }
}

}  // namespace
}  // namespace strato
