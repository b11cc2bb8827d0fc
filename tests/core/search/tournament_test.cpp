#include "core/search/run/tournament.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <set>
#include <thread>

#include "core/base/error.h"
#include "core/search/evaluate/baselines.h"
#include "core/search/evaluate/lower_bound.h"
#include "core/search/evaluate/outcome.h"
#include "core/search/portfolio/tree_search.h"
#include "core/search/tree/search_tree.h"
#include "tests/core/search/toy.h"

namespace strato {
namespace {

// Says what its name says.
class Sample final : public Planner {
 public:
  explicit Sample(std::string name) : name_(std::move(name)) {}
  std::string name() const override { return name_; }
  bool is_baseline() const override { return name_ != "search"; }
  PlanResult plan(const Problem& problem, Evaluator& evaluator, const PlannerOptions& options,
                  Observer& observer, std::stop_token stop,
                  std::shared_ptr<const SearchTree> resume) override {
    EXPECT_EQ(options.threads, 1);
    if (name_ == "refuses")
      throw InputError("", "the graph", "is not to my liking", "give another");
    if (name_ == "breaks") CHECK(false, "a bug");
    if (name_ == "search")
      return tree_search({problem, evaluator, options, observer, stop, std::move(resume)},
                         TreeSearchOptions::from(options));
    if (name_ == "waits")
      while (!stop.stop_requested()) std::this_thread::yield();
    PlanResult result;
    result.strategy = name_ == "one" || name_ == "first" ? on_one_device(problem, DeviceId(0))
                                                         : data_parallel(problem);
    result.score = evaluator.evaluate(result.strategy);
    result.note = "made";
    return result;
  }

 private:
  std::string name_;
};

std::unique_ptr<Planner> make(std::string_view name) {
  if (name == "unknown") throw InputError("", "", "there is no such planner", "choose another");
  return std::make_unique<Sample>(std::string(name));
}

TournamentSetup setup_of(std::vector<std::string> planners, int threads = 3) {
  TournamentSetup setup;
  setup.planners = std::move(planners);
  setup.problems = {{"small", toy::chain_problem(toy::small_cluster(2, 1), 3)},
                    {"large", toy::chain_problem(toy::small_cluster(4, 2), 6, 512, 4096)}};
  setup.options.iterations = 64;
  setup.options.threads = threads;
  return setup;
}

struct Watch final : TournamentObserver {
  std::atomic<int> inside = 0;
  std::vector<std::pair<std::size_t, std::size_t>> started, ended;
  std::size_t told = 0;
  void on_start(std::size_t problem, std::size_t planner) override {
    EXPECT_EQ(inside++, 0);
    started.emplace_back(problem, planner);
    --inside;
  }
  void on_progress(std::size_t, std::size_t, const Progress&) override {
    EXPECT_EQ(inside++, 0);
    ++told;
    --inside;
  }
  void on_cell(const TournamentCell& cell, const TournamentProgress& progress) override {
    EXPECT_EQ(inside++, 0);
    ended.emplace_back(cell.problem, cell.planner);
    EXPECT_EQ(progress.done, ended.size());
    EXPECT_EQ(progress.cells, 2 * 5U);
    --inside;
  }
};

TEST(Tournament, every_planner_meets_every_problem_once) {
  const TournamentSetup setup = setup_of({"dp", "one", "search", "refuses", "first"});
  Watch watch;
  const Tournament result = run_tournament(setup, make, watch, {});
  EXPECT_EQ(std::set(watch.started.begin(), watch.started.end()).size(), 10U);
  EXPECT_EQ(std::set(watch.ended.begin(), watch.ended.end()).size(), 10U);
  EXPECT_GT(watch.told, 0U);
  for (std::size_t p = 0; p < 2; ++p) {
    const Problem& problem = setup.problems[p].problem;
    const TournamentFacts& facts = *result.facts[p];
    EXPECT_EQ(facts.lower_bound, lower_bound(problem));
    for (std::size_t planner : {0U, 1U, 2U, 4U}) {
      const TournamentCell& cell = *result.cell(p, planner);
      ASSERT_TRUE(cell.has_result()) << cell.error;
      const Outcome outcome = simulate_strategy(problem, cell.result.strategy, false);
      EXPECT_EQ(outcome.score.step_time, cell.result.score.step_time);
      EXPECT_DOUBLE_EQ(cell.speedup, facts.data_parallel.step_time / cell.result.score.step_time);
      EXPECT_NEAR(cell.above_bound, cell.result.score.step_time / facts.lower_bound - 1, 1e-12);
      EXPECT_GE(cell.above_bound, 0);
      double fullest = 0;
      for (const DeviceUse& use : outcome.timeline->devices)
        fullest = std::max(
            fullest, static_cast<double>(use.peak.value) / static_cast<double>(use.capacity.value));
      EXPECT_DOUBLE_EQ(cell.memory_part, fullest);
      EXPECT_GT(cell.memory_peak, Bytes(0));
      EXPECT_LE(cell.seconds_to_best, cell.wall_seconds);
      EXPECT_EQ(cell.result.tree, nullptr);
    }
    EXPECT_DOUBLE_EQ(result.cell(p, 0)->speedup, 1);
    EXPECT_NE(result.cell(p, 3)->error.find("not to my liking"), std::string::npos);
    EXPECT_EQ(result.rank(p, 3), 5U);
    EXPECT_EQ(result.rank(p, 1), result.rank(p, 4)) << "ties share";
    EXPECT_EQ(result.rank(p, 2), 1U) << "the search is never worse than the baselines";
    EXPECT_EQ(result.rank(p, static_cast<std::size_t>(result.best(p)->planner)), 1U);
  }
}

TEST(Tournament, results_do_not_depend_on_the_pool) {
  std::vector<Strategy> first;
  for (int threads : {1, 2, 8}) {
    const TournamentSetup setup = setup_of({"search", "dp", "search"}, threads);
    TournamentObserver quiet;
    const Tournament result = run_tournament(setup, make, quiet, {});
    std::vector<Strategy> strategies;
    for (const auto& row : result.cells)
      for (const auto& cell : row) strategies.push_back(cell->result.strategy);
    if (first.empty()) first = strategies;
    EXPECT_EQ(strategies, first) << threads << " threads";
  }
}

// A planner for each speed: its cells are made by hand.
Tournament made_by_hand(const std::vector<std::vector<std::int64_t>>& times) {
  Tournament result;
  for (std::size_t p = 0; p < times.size(); ++p) {
    result.facts.emplace_back();
    result.cells.emplace_back();
    for (std::size_t planner = 0; planner < times[p].size(); ++planner) {
      TournamentCell cell;
      cell.problem = p;
      cell.planner = planner;
      const std::int64_t time = times[p][planner];  // negative: does not fit; 0: refused
      if (time == 0) cell.error = "no";
      cell.result.score = {Nanos(std::abs(time)), time > 0, Bytes(time < 0 ? -time : 0), nullptr};
      cell.speedup = time == 0 ? 0 : 100.0 / static_cast<double>(std::abs(time));
      result.cells.back().emplace_back(std::move(cell));
    }
  }
  return result;
}

TEST(Tournament, ranking_by_hand) {
  const Tournament result = made_by_hand({{50, 100, 50, 0}, {-10, 200, 25, 100}});
  EXPECT_EQ(result.rank(0, 0), 1U);
  EXPECT_EQ(result.rank(0, 1), 3U);
  EXPECT_EQ(result.rank(0, 3), 4U);
  EXPECT_EQ(result.rank(1, 0), 4U) << "what does not fit is behind all that does";
  const std::vector<TournamentRow> rows = result.ranking();
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[0].planner, 2U);
  EXPECT_DOUBLE_EQ(rows[0].mean_rank, 1);
  EXPECT_EQ(rows[0].wins, 2U);
  EXPECT_DOUBLE_EQ(rows[0].speedup, std::sqrt(2.0 * 4.0));
  EXPECT_EQ(rows[1].planner, 0U);
  EXPECT_DOUBLE_EQ(rows[1].mean_rank, 2.5);
  EXPECT_EQ(rows[1].fits, 1U);
  EXPECT_DOUBLE_EQ(rows[1].speedup, 2) << "over what fits";
  EXPECT_EQ(rows[2].planner, 3U) << "mean ranks 3 and 3: the faster, where it serves";
  EXPECT_EQ(rows[3].planner, 1U);
}

TEST(Tournament, what_is_not_done_has_no_rank) {
  Tournament result = made_by_hand({{50, 100}, {50, 100}});
  result.cells[1][0].reset();
  EXPECT_EQ(result.rank(1, 0), 0U);
  EXPECT_EQ(result.rank(1, 1), 1U);
  EXPECT_EQ(result.ranking()[0].cells, 1U);
  result.cells[0][0].reset();
  EXPECT_EQ(result.ranking().back().planner, 0U);
}

TEST(Tournament, a_stop_ends_it_with_what_is_done) {
  const TournamentSetup setup = setup_of({"dp", "waits", "one"}, 1);
  struct Stopper final : TournamentObserver {
    std::stop_source stop;
    void on_start(std::size_t, std::size_t planner) override {
      if (planner == 1) stop.request_stop();
    }
  } stopper;
  const Tournament result = run_tournament(setup, make, stopper, stopper.stop.get_token());
  ASSERT_NE(result.cell(0, 0), nullptr);
  EXPECT_FALSE(result.cell(0, 0)->stopped);
  ASSERT_NE(result.cell(0, 1), nullptr);
  EXPECT_TRUE(result.cell(0, 1)->stopped);
  EXPECT_TRUE(result.cell(0, 1)->has_result());
  EXPECT_EQ(result.cell(0, 2), nullptr);
  EXPECT_EQ(result.cell(1, 0), nullptr);
  EXPECT_FALSE(result.facts[1]);
  EXPECT_EQ(result.best(1), nullptr);
}

TEST(Tournament, a_bug_is_not_a_cell) {
  for (int threads : {1, 4}) {
    TournamentObserver quiet;
    EXPECT_THROW(run_tournament(setup_of({"dp", "breaks", "waits"}, threads), make, quiet, {}),
                 InvariantError);
  }
}

TEST(Tournament, an_unknown_planner_is_a_cell_with_words) {
  TournamentObserver quiet;
  const Tournament result = run_tournament(setup_of({"unknown", "dp"}), make, quiet, {});
  EXPECT_NE(result.cell(0, 0)->error.find("no such planner"), std::string::npos);
  EXPECT_TRUE(result.cell(0, 1)->has_result());
}

TEST(Tournament, of_nothing_is_empty) {
  TournamentObserver quiet;
  TournamentSetup setup;
  EXPECT_TRUE(run_tournament(setup, make, quiet, {}).ranking().empty());
  setup.planners = {"dp"};
  EXPECT_TRUE(run_tournament(setup, make, quiet, {}).cells.empty());
}

}  // namespace
}  // namespace strato
