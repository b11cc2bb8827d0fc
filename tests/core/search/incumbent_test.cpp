#include <gtest/gtest.h>

#include "core/search/proposers/proposer.h"
#include "core/search/proposers/special_proposers.h"
#include "tests/core/search/toy.h"

namespace strato {
namespace {

Score taking(std::int64_t time) { return {Nanos(time), true, Bytes(0), nullptr}; }

class IncumbentTest : public testing::Test {
 protected:
  static TreeSearchOptions finishing_options() {
    TreeSearchOptions options;
    options.finish = [](Strategy& strategy) { strategy.duplicated = {OpId(0)}; };
    options.finish_always = false;
    return options;
  }
  Candidate candidate(std::int32_t action, bool unfinished = false) const {
    return {ActionVector(3, action), finishing_.all(unfinished)};
  }

  const Problem problem_ = toy::chain_problem(toy::small_cluster(2, 1), 3);
  TreeSearchOptions options_ = finishing_options();
  const ActionTable table_{problem_, options_, 1};
  Finishing finishing_{problem_, table_, options_};
  std::vector<std::int64_t> told_;
  Incumbent incumbent_{finishing_, [this](const Strategy&, const Score& score) {
                         told_.push_back(score.step_time.value);
                       }};
};

TEST_F(IncumbentTest, is_another_one_when_it_is_taken_or_forgotten) {
  EXPECT_FALSE(incumbent_.exists());
  incumbent_.take(candidate(1), taking(9), Incumbent::Tree);
  const std::int64_t version = incumbent_.version();
  EXPECT_EQ(incumbent_.wins(Incumbent::Tree), 1);
  EXPECT_FALSE(incumbent_.is_improved_by(taking(9)));
  EXPECT_TRUE(incumbent_.is_improved_by(taking(8)));
  incumbent_.resume(ActionVector(3, 1), taking(8));
  EXPECT_EQ(incumbent_.version(), version);
  incumbent_.forget();
  EXPECT_NE(incumbent_.version(), version);
  EXPECT_FALSE(incumbent_.exists());
  EXPECT_EQ(told_, std::vector<std::int64_t>{9});
}

TEST_F(IncumbentTest, forgets_what_was_tried_when_another_is_taken) {
  incumbent_.take(candidate(1), taking(9), Incumbent::Tree);
  incumbent_.set_tried(2);
  incumbent_.set_all_tried();
  EXPECT_TRUE(incumbent_.is_tried(2) && incumbent_.are_all_tried());
  SearchState state;
  incumbent_.save(state);
  incumbent_.take(candidate(1, true), taking(8), Incumbent::Local);
  EXPECT_FALSE(incumbent_.is_tried(2) || incumbent_.are_all_tried());
  EXPECT_TRUE(incumbent_.strategy().duplicated.empty());
  incumbent_.restore_finishing(state);
  EXPECT_TRUE(incumbent_.is_tried(2) && incumbent_.are_all_tried());
  EXPECT_FALSE(incumbent_.strategy().duplicated.empty());
  incumbent_.restore_finishing({});
  EXPECT_FALSE(incumbent_.is_tried(2) || incumbent_.are_all_tried());
}

TEST_F(IncumbentTest, tells_of_what_is_better_than_the_one_aside_alone) {
  incumbent_.take(candidate(1), taking(9), Incumbent::Tree);
  incumbent_.keep_aside(candidate(2), taking(5));
  ASSERT_NE(incumbent_.better_aside(), nullptr);
  EXPECT_EQ(incumbent_.best_score()->step_time, Nanos(5));
  incumbent_.take(candidate(1, true), taking(7), Incumbent::Local);
  incumbent_.keep_aside(candidate(0), taking(6));
  SearchState state;
  incumbent_.save(state);
  EXPECT_EQ(state.aside, candidate(2));
  incumbent_.keep_aside(finishing_.of(candidate(0)), taking(4));  // a seed: it is not stored
  incumbent_.save(state = {});
  EXPECT_EQ(state.aside, Candidate());
  incumbent_.take(candidate(0), taking(3), Incumbent::Local);
  EXPECT_EQ(incumbent_.better_aside(), nullptr);
  EXPECT_EQ(told_, (std::vector<std::int64_t>{9, 5, 4, 3}));
}

TEST_F(IncumbentTest, is_finished_as_its_flags_say) {
  const Strategy finished = finishing_.finished(ActionVector(3, 1));
  const Strategy unfinished = finishing_.unfinished(ActionVector(3, 1));
  EXPECT_EQ(finishing_.of(candidate(1, false)), finished);
  EXPECT_EQ(finishing_.of(candidate(1, true)), unfinished);
  EXPECT_EQ(finishing_.seen_by_tree(ActionVector(3, 1)), finished);
  EXPECT_TRUE(finishing_.is_chosen() && finishing_.is_of_tree());
  EXPECT_FALSE(finishing_.is_seen_by_tree(candidate(1, true)));
  EXPECT_EQ(finishing_.groups_of(ActionVector(3, 1)), std::vector<std::size_t>{0});
  EXPECT_EQ(finishing_.that_matter({true, true, true}, ActionVector(3, 1)),
            (GroupFlags{true, false, false}));
  finishing_.leave_to_others();
  EXPECT_FALSE(finishing_.is_of_tree());
  EXPECT_EQ(finishing_.seen_by_tree(ActionVector(3, 1)), unfinished);
  EXPECT_TRUE(finishing_.is_seen_by_tree(candidate(1, true)));
}

// Proposer by proposer: a small space, in the order of its bounds, until nothing can be better.
TEST_F(IncumbentTest, a_small_space_is_proven_to_be_searched) {
  options_.finish = nullptr;
  const PlannerOptions common;
  toy::FakeEvaluator evaluator(*problem_.cluster, toy::separable);
  Observer nobody;
  const PlanRequest request{problem_, evaluator, common, nobody};
  RunningSearch search(request, options_, nullptr, {}, [](const Strategy&, const Score&) {});
  ASSERT_TRUE(search.bounds.is_small());
  SpaceProposer space(search);
  EXPECT_TRUE(space.propose({4, 0, 0}).strategies.empty());  // no incumbent to beat
  const SmallSpace all(problem_, search.table.actions(), search.table.legal_by_group());
  const Nanos third = all.bound(2);
  search.incumbent.take({all.strategy(5), search.finishing.all(false)}, taking(third.value + 1),
                        Incumbent::Given);
  std::size_t proposed = 0;
  for (int turn = 0; turn < 100 && !space.is_proven(); ++turn) {
    const Proposal proposal = space.propose({4, turn, 0});
    EXPECT_EQ(proposal.iterations, proposal.strategies.size());
    EXPECT_LE(proposal.strategies.size(), 4U);
    proposed += proposal.strategies.size();
    const std::vector<Score> scores(proposal.strategies.size(), taking(third.value * 4));
    if (!scores.empty()) space.accept(scores);
  }
  SearchState state;
  space.save(state);
  EXPECT_EQ(state.space_next, proposed);
  EXPECT_GE(proposed, 3U);
  EXPECT_LT(proposed, all.size());
}

}  // namespace
}  // namespace strato
