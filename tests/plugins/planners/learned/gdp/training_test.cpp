// The trainer of gdp: its teacher, its lessons, and that it can be interrupted.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <future>

#include "core/base/error.h"
#include "core/io/file.h"
#include "core/search/evaluate/simulating_evaluator.h"
#include "plugins/planners/learned/gdp/training/trainer.h"
#include "tests/core/store/temporary_folder.h"
#include "tests/free_port.h"
#include "tests/paths.h"
#include "tests/plugins/planners/learned/gdp/kit.h"
#include "tests/plugins/shipped.h"

namespace strato::gdp {
namespace {

using Set = std::map<std::string, std::string>;

TrainingOptions tiny_training(const Set& more = {}) {
  TrainingOptions options;
  options.models.push_back({"chain", std::make_shared<const Graph>(toy::chain(5, 64, 512))});
  options.clusters = {toy::small_cluster(2, 1), toy::small_cluster(2, 2)};
  options.random_clusters = 0;
  options.steps = 4;
  options.threads = 1;
  options.set = more;
  options.set.insert({{"held-out", "1"}, {"report", "2"}});
  return options;
}

const Set kReplay = {{"first", "3"},  {"visits", "2"}, {"updates", "2"},
                     {"memory", "4"}, {"search", "6"}, {"minibatch", "2"}};
const Set kPpo = {{"method", "ppo"}, {"rollouts", "8"}, {"rounds", "2"}};

// Asks for the end at the first point of the curve.
struct Impatient : TrainingObserver {
  void on_point(const TrainingPoint&) override { stop.request_stop(); }
  std::stop_source stop;
};

// Replay: more pairs than it remembers, so that the checkpoint has to say which are left.
TEST(Train, GoesOnAsIfThereHadBeenNoPause) {
  for (const Set& set : {kReplay, kPpo}) {
    TemporaryFolder folder;
    TrainingObserver quiet;
    TrainingOptions straight = tiny_training(set);
    straight.output = folder / "straight.bin";
    const TrainingResult result = make_trainer()->train(straight, quiet, {});
    EXPECT_EQ(result.last.step, 4);
    EXPECT_FALSE(result.stopped);
    EXPECT_TRUE(result.last.held_out_loss.has_value());
    ASSERT_TRUE(result.last.held_out_ratio.has_value());
    EXPECT_GT(*result.last.held_out_ratio, 0.5);

    TrainingOptions paused = tiny_training(set);
    paused.checkpoint = folder / "check";
    paused.output = folder / "paused.bin";
    Impatient impatient;
    EXPECT_TRUE(make_trainer()->train(paused, impatient, impatient.stop.get_token()).stopped);
    const TrainingResult end = make_trainer()->train(paused, quiet, {});
    EXPECT_FALSE(end.stopped);
    EXPECT_EQ(end.last.searches, result.last.searches);
    EXPECT_EQ(end.last.examples, result.last.examples);
    EXPECT_EQ(Network::load(straight.output).parameters(),
              Network::load(paused.output).parameters());

    paused.seed = 7;  // another training
    EXPECT_THROW(make_trainer()->train(paused, quiet, {}), InputError);
  }
}

TEST(Train, ARateOfZeroLearnsNothing) {
  TrainingObserver quiet;
  TemporaryFolder folder;
  Set set = kReplay;
  std::vector<std::vector<float>> weights;
  for (const char* rate : {"0", "0.01"}) {
    set["rate"] = rate;
    for (const int steps : {1, 12}) {
      TrainingOptions options = tiny_training(set);
      options.steps = steps;
      options.output = folder / "w";
      make_trainer()->train(options, quiet, {});
      weights.push_back(Network::load(options.output).parameters());
    }
  }
  EXPECT_EQ(weights[0], weights[1]);
  EXPECT_NE(weights[2], weights[3]);
}

// The checkpoint was written after 4 steps by a version that had a format of its own, which made
// gdp-8-steps.weights of it. Adam's steps are rounded in another order since.
TEST(Train, GoesOnFromACheckpointOfTheVersionBefore) {
  TemporaryFolder folder;
  const std::filesystem::path data = std::string(kSourceFolder) + "/tests/data/learned";
  std::filesystem::copy(data / "gdp.checkpoint", folder / "c");
  TrainingOptions options = tiny_training(kReplay);
  options.models = {{"lenet", std::make_shared<const Graph>(sample_model("lenet", 64))}};
  options.clusters = {toy::sample_cluster("gdp")};
  options.random_clusters = 1;
  options.seed = 3;
  options.steps = 8;
  options.set["start"] = "tiny.bin";  // by this name, which it has in the folder
  options.checkpoint = folder / "c";
  options.output = folder / "w";
  std::filesystem::copy(data / "gdp-tiny.weights", folder / "tiny.bin");
  const std::filesystem::path here = std::filesystem::current_path();
  std::filesystem::current_path(folder / "");
  TrainingObserver quiet;
  const TrainingResult result = make_trainer()->train(options, quiet, {});
  std::filesystem::current_path(here);
  EXPECT_EQ(result.last.step, 8);
  const std::vector<float> made = Network::load(options.output).parameters(),
                           before = Network::load(data / "gdp-8-steps.weights").parameters();
  ASSERT_EQ(made.size(), before.size());
  for (std::size_t i = 0; i < made.size(); ++i) EXPECT_NEAR(made[i], before[i], 2e-3) << i;
}

TEST(Train, DoesNotDependOnThreads) {
  TemporaryFolder folder;
  TrainingObserver quiet;
  std::vector<std::vector<float>> weights;
  for (const int threads : {1, 4}) {
    TrainingOptions options = tiny_training(kReplay);
    options.threads = threads;
    options.output = folder / "weights.bin";
    make_trainer()->train(options, quiet, {});
    weights.push_back(Network::load(options.output).parameters());
  }
  EXPECT_EQ(weights[0], weights[1]);
}

// Each learns from pairs of its own, and all have one network after every step.
TEST(TrainTogether, TwoRanksHaveOneNetwork) {
  for (const Set& set : {kReplay, kPpo}) {
    TemporaryFolder folder;
    TrainingOptions options = tiny_training(set);
    options.processes = 2;
    options.master = free_master();
    const auto run = [&](int rank) {
      TrainingOptions own = options;
      own.rank = rank;
      own.checkpoint = folder / "c";
      own.output = folder / "w.bin";
      TrainingObserver quiet;
      return make_trainer()->train(own, quiet, {});
    };
    const auto both = [&] {
      auto other = std::async(std::launch::async, run, 1);
      const TrainingResult first = run(0);
      EXPECT_EQ(other.get().last.step, first.last.step);
      return first;
    };
    EXPECT_EQ(both().last.step, 4);
    const auto before = Network::load(folder / "w.bin").parameters();
    EXPECT_TRUE(std::filesystem::exists(folder / "c.rank1"));
    options.steps = 6;
    options.master = free_master();
    EXPECT_EQ(both().last.step, 6);
    EXPECT_NE(Network::load(folder / "w.bin").parameters(), before);
  }
}

// One was killed: its checkpoint is older than the other's, or there is none.
TEST(TrainTogether, TheyGoOnFromTheFurthestCheckpoint) {
  TemporaryFolder folder;
  TrainingOptions options = tiny_training(kReplay);
  options.processes = 2;
  const auto run = [&](int rank) {
    TrainingOptions own = options;
    own.rank = rank;
    own.checkpoint = folder / "c";
    own.output = folder / "w.bin";
    TrainingObserver quiet;
    return make_trainer()->train(own, quiet, {});
  };
  const auto both = [&](std::int64_t steps) {
    options.steps = steps;
    options.master = free_master();
    auto other = std::async(std::launch::async, run, 1);
    EXPECT_EQ(run(0).last.step, steps);
    EXPECT_EQ(other.get().last.step, steps);
    return Network::load(folder / "w.bin").parameters();
  };
  both(4);
  std::filesystem::copy(folder / "c.rank1", folder / "old");
  both(6);
  std::filesystem::copy(folder / "c", folder / "new");
  const auto straight = both(8);
  // It searches again what the older one lacks: nothing is lost.
  std::filesystem::rename(folder / "new", folder / "c");
  std::filesystem::rename(folder / "old", folder / "c.rank1");
  EXPECT_EQ(both(8), straight);
  std::filesystem::remove(folder / "c.rank1");
  const auto further = both(9);
  EXPECT_NE(further, straight);
  std::filesystem::remove(folder / "c");
  EXPECT_NE(both(10), further);
}

TEST(TrainTogether, AllEndForTheReasonOfOne) {
  TrainingOptions options = tiny_training(kReplay);
  options.processes = 2;
  const auto run = [&](int rank) {
    TrainingOptions own = options;
    own.rank = rank;
    // As if its clock were behind.
    if (options.budget_seconds > 0 && rank == 1) own.budget_seconds = 1e6;
    TrainingObserver quiet;
    return make_trainer()->train(own, quiet, {});
  };
  options.budget_seconds = 0.05;
  options.master = free_master();
  auto other = std::async(std::launch::async, run, 1);
  EXPECT_FALSE(run(0).stopped);
  EXPECT_FALSE(other.get().stopped);

  options.budget_seconds = 0;
  options.models = {{"huge", std::make_shared<const Graph>(toy::chain(4, 64, 131072))}};
  options.master = free_master();
  const auto words = [&](int rank) {
    try {
      run(rank);
    } catch (const InputError& error) {
      return error.problem();
    }
    return std::string();
  };
  auto second = std::async(std::launch::async, words, 1);
  EXPECT_EQ(words(0), "none of the models fits on the clusters that were tried");
  EXPECT_EQ(second.get(), "none of the models fits on the clusters that were tried");
}

TEST(TrainTogether, OneThatStopsStopsAllAtTheSameStep) {
  for (const Set& set : {kReplay, kPpo}) {
    TrainingOptions options = tiny_training(set);
    options.processes = 2;
    options.steps = 1'000'000;
    options.master = free_master();
    const auto run = [&](int rank) {
      TrainingOptions own = options;
      own.rank = rank;
      TrainingObserver quiet;
      Impatient impatient;
      return rank == 1 ? make_trainer()->train(own, impatient, impatient.stop.get_token())
                       : make_trainer()->train(own, quiet, {});
    };
    auto other = std::async(std::launch::async, run, 1);
    const TrainingResult first = run(0);
    EXPECT_TRUE(first.stopped);
    EXPECT_EQ(other.get().last.step, first.last.step);
  }
}

TEST(Train, StoppedAtOnceItLeavesACheckpointToGoOnFrom) {
  TemporaryFolder folder;
  TrainingObserver quiet;
  TrainingOptions options = tiny_training(kReplay);
  options.checkpoint = folder / "check";
  options.output = folder / "weights.bin";
  std::stop_source stop;
  stop.request_stop();
  EXPECT_TRUE(make_trainer()->train(options, quiet, stop.get_token()).stopped);
  EXPECT_EQ(make_trainer()->train(options, quiet, {}).last.step, 4);
}

TEST(Train, RefusesWhatItCannotUse) {
  TrainingObserver quiet;
  TrainingOptions nothing = tiny_training();
  nothing.models.clear();
  EXPECT_THROW(make_trainer()->train(nothing, quiet, {}), InputError);
  for (const auto& [key, value] : Set{{"speed", "9"},
                                      {"device", "abacus"},
                                      {"method", "luck"},
                                      {"memory", "0"},
                                      {"held-out", "-1"},
                                      {"rate", "nan"},
                                      {"whole", "1.5"},
                                      {"minibatch", "1e9"}})
    EXPECT_THROW(make_trainer()->train(tiny_training({{key, value}}), quiet, {}), InputError)
        << key;
}

// A model that fits nowhere: 256 GiB of parameters.
TEST(Train, SaysWhenNothingFits) {
  TrainingObserver quiet;
  TrainingOptions options = tiny_training(kReplay);
  options.models = {{"huge", std::make_shared<const Graph>(toy::chain(4, 64, 131072))}};
  EXPECT_THROW(make_trainer()->train(options, quiet, {}), InputError);
}

TEST(Train, RefusesDamagedCheckpoints) {
  TemporaryFolder folder;
  TrainingObserver quiet;
  TrainingOptions options = tiny_training(kReplay);
  options.checkpoint = folder / "check";
  make_trainer()->train(options, quiet, {});
  const std::string bytes = read_file(options.checkpoint);
  for (std::size_t cut = 0; cut < bytes.size(); cut += bytes.size() / 17 + 1) {
    write_file(options.checkpoint, bytes.substr(0, cut));
    EXPECT_THROW(make_trainer()->train(options, quiet, {}), InputError) << cut;
  }
  for (std::size_t at = 0; at < bytes.size(); at += bytes.size() / 17 + 1) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x20);
    write_file(options.checkpoint, damaged);
    EXPECT_THROW(make_trainer()->train(options, quiet, {}), InputError) << at;
  }
}

TEST(Lessons, ComeBackAsTheyWereAndAreRefusedWhenTheyDoNotFit) {
  const TrainingOptions options = tiny_training();
  const TrainingPairs pairs(options, 60, 0, 0.5, 5);
  LessonMemory memory(pairs, 4), back(pairs, 4);
  ASSERT_TRUE(memory.search(0, 6, {10, nullptr}, {}));
  EXPECT_EQ(memory.size(), 4U);
  std::deque<LessonRecord> records = read_lessons(write_lessons(memory.records()), "lessons");
  EXPECT_EQ(records.front().number, 2);
  back.restore(records);
  Random one(3), two(3);
  const std::vector<Answer> a = memory.minibatch(8, one), b = back.minibatch(8, two);
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].graph->unit, b[i].graph->unit);
    EXPECT_TRUE(std::ranges::equal(a[i].choice_of, b[i].choice_of));
  }
  records[1].answer[0] = 99;
  EXPECT_THROW(back.restore(records), InputError);
  records[1].answer = {0};
  EXPECT_THROW(back.restore(records), InputError);
}

TEST(Teacher, FindsAtLeastWhatItsHeuristicsFindAndTheSameTwice) {
  const Problem problem = sample("lenet", 64, "gdp");
  const auto evaluator = make_simulating_evaluator(problem, 1);
  PlacementOptions whole;
  whole.replicate = false;
  PlacementTask known(problem, *evaluator, whole), asked(problem, *evaluator, whole),
      searched(problem, *evaluator, whole), again(problem, *evaluator, whole);
  known.evaluate(known.known_placements());
  teach(asked, problem, *evaluator, {1, &registry()}, 1, {});
  teach(searched, problem, *evaluator, {80, &registry()}, 1, {});
  teach(again, problem, *evaluator, {80, &registry()}, 1, {});
  EXPECT_FALSE(known.best_score()->better_than(*asked.best_score()));
  EXPECT_FALSE(asked.best_score()->better_than(*searched.best_score()));
  EXPECT_EQ(searched.best(), again.best());
  Observer quiet;
  const PlanResult metis =
      registry().planner("metis")->plan(problem, *evaluator, {}, quiet, {}, nullptr);
  const Score there = asked.evaluate({nearest_placement(asked, metis.strategy)})[0];
  EXPECT_FALSE(there.better_than(*searched.best_score()));
}

TEST(Teacher, ReadsPlacementsBack) {
  ToyTask toy(6, 3);
  Random random(2);
  for (int i = 0; i < 30; ++i) {
    Placement placement;
    for (std::int32_t u = 0; u < toy.task.units().count; ++u)
      placement.push_back(static_cast<std::int32_t>(random.below(toy.task.choices().size())));
    EXPECT_EQ(nearest_placement(toy.task, toy.task.strategy(placement)), placement);
  }
}

// Equal devices, and equal machines, may exchange their names: the step takes as long, but for
// ties, which go to the lower device.
TEST(Canonical, IsTheSameForAllNamesAndAsFast) {
  for (const char* cluster : {"gdp", "fastt-2x8xv100", "tag-testbed"}) {
    const Problem problem = sample("lenet", 64, cluster);
    const auto evaluator = make_simulating_evaluator(problem, 1);
    PlacementOptions whole;
    whole.replicate = false;
    PlacementTask task(problem, *evaluator, whole);
    Random random(5);
    for (int i = 0; i < 20; ++i) {
      Placement placement;
      for (std::int32_t u = 0; u < task.units().count; ++u)
        placement.push_back(static_cast<std::int32_t>(random.below(task.choices().size())));
      const Placement canonical = task.canonical(placement);
      EXPECT_EQ(task.canonical(canonical), canonical);
      const std::vector<Score> scores = task.evaluate({placement, canonical});
      EXPECT_NEAR(to_seconds(scores[0].step_time), to_seconds(scores[1].step_time),
                  0.05 * to_seconds(scores[0].step_time));
    }
  }
}

TEST(Canonical, FirstUsedMachineOfEqualOnesIsTheFirst) {
  const Problem problem = sample("lenet", 64, "fastt-2x8xv100");
  const auto evaluator = make_simulating_evaluator(problem, 1);
  const PlacementTask task(problem, *evaluator, {});
  Placement placement(static_cast<std::size_t>(task.units().count), 12);
  placement[1] = 3;
  placement[2] = 9;
  const Placement canonical = task.canonical(placement);
  EXPECT_EQ(canonical[0], 0);
  EXPECT_EQ(canonical[1], 8);
  EXPECT_EQ(canonical[2], 1);
}

TEST(Greedy, TakesTheMostProbableOfAUnitOrOfABlock) {
  const Probabilities policy = policy_of({{0.6, 0.4}, {0.1, 0.9}, {0.55, 0.45}});
  EXPECT_EQ(greedy(policy), (Placement{0, 1, 0}));
  EXPECT_EQ(greedy(policy, std::vector<std::int32_t>{4, 4, 2}), (Placement{1, 1, 0}));
  EXPECT_EQ(greedy(policy, std::vector<std::int32_t>{0, 0, 0}), (Placement{1, 1, 1}));
}

TEST(Network, LearnsAnswersOfSeveralGraphs) {
  const ToyTask small(6, 2), large(9, 3);
  Network network = Network::make(tiny_network(), 3);
  const Placement first(static_cast<std::size_t>(small.task.units().count), 1),
      second(static_cast<std::size_t>(large.task.units().count), 2);
  const std::vector<Answer> answers = {{&small.task.features(), first},
                                       {&large.task.features(), second}};
  const double before = (network.loss(answers[0]) + network.loss(answers[1])) / 2;
  EXPECT_NEAR(network.imitate(answers, 0.01), before, 1e-5);
  for (int step = 0; step < 100; ++step) network.imitate(answers, 0.01);
  EXPECT_LT(network.loss(answers[0]), 0.1);
  EXPECT_LT(network.loss(answers[1]), 0.1);
  EXPECT_EQ(greedy(network.probabilities(large.task.features())), second);
}

}  // namespace
}  // namespace strato::gdp
