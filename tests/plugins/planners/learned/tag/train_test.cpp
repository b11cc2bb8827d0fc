// The trainer of tag: what it learns from, that it learns, goes on after a pause as if there had
// been none, shares with other processes, and refuses what cannot be used. All on problems of a few
// ops.
#include <gtest/gtest.h>

#include <cmath>
#include <future>
#include <map>
#include <numeric>

#include "core/base/error.h"
#include "core/io/file.h"
#include "core/io/json.h"
#include "core/search/evaluate/simulating_evaluator.h"
#include "core/sim/timeline/feedback.h"
#include "plugins/planners/learned/kit/training/peers.h"
#include "plugins/planners/learned/tag/training/experience.h"
#include "plugins/planners/learned/tag/training/trainer.h"
#include "tests/core/search/toy.h"
#include "tests/core/store/temporary_folder.h"
#include "tests/free_port.h"
#include "tests/paths.h"
#include "tests/plugins/shipped.h"

namespace strato::tag {
namespace {

TrainingOptions tiny(const std::string& targets = "visits+best+values") {
  TrainingOptions options;
  options.models.push_back({"chain", std::make_shared<const Graph>(toy::chain(4, 64, 512))});
  options.clusters = {toy::small_cluster(2, 1), toy::small_cluster(2, 2)};
  options.random_clusters = 0;
  options.steps = 12;
  options.seed = 3;
  options.threads = 1;
  options.set = {{"targets", targets}, {"iterations", "24"}, {"visits", "6"},    {"groups", "4"},
                 {"searches", "2"},    {"updates", "4"},     {"held-out", "2"},  {"width", "8"},
                 {"heads", "2"},       {"layers", "2"},      {"minibatch", "4"}, {"report", "4"},
                 {"depths", "2"}};
  return options;
}

struct Points final : TrainingObserver {
  void on_point(const TrainingPoint& point) override {
    points.push_back(point);
    if (stop != nullptr && point.step >= stop_at) stop->request_stop();
  }
  std::vector<TrainingPoint> points;
  std::stop_source* stop = nullptr;
  std::int64_t stop_at = 0;
};

TrainingResult train(const TrainingOptions& options, Points& points, std::stop_token stop = {}) {
  return make_trainer()->train(options, points, std::move(stop));
}

std::vector<float> weights_of(const std::filesystem::path& file) {
  return Network::load(file).parameters();
}

learned::Checkpoint checkpoint_of(const std::filesystem::path& file) {
  return learned::parse_checkpoint(read_file(file), "tag", file.string());
}

Experience experience_of(const std::filesystem::path& file) {
  return read_experience(checkpoint_of(file).experience, file.string());
}

void expect_refused(const TrainingOptions& options, const std::string& part) {
  Points points;
  try {
    train(options, points);
    ADD_FAILURE() << "not refused: " << part;
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST(Train, LearnsAndReportsACurve) {
  TemporaryFolder folder;
  TrainingOptions options = tiny("values");
  options.steps = 80;
  options.set["rate"] = "0.01";
  options.output = folder / "w.bin";
  Points seen;
  const TrainingResult result = train(options, seen);
  EXPECT_FALSE(result.stopped);
  EXPECT_EQ(result.last.step, 80);
  EXPECT_EQ(result.last.searches, 40);
  ASSERT_EQ(seen.points.size(), 20u);
  EXPECT_LT(seen.points.back().loss, seen.points.front().loss);
  EXPECT_LT(*seen.points.back().held_out_loss, *seen.points.front().held_out_loss);
  const Network network = Network::load(options.output);
  EXPECT_NE(network.note().find("\"steps\":80"), std::string::npos) << network.note();
  EXPECT_NE(network.note().find("chain"), std::string::npos);
}

TEST(Train, ThreadsAndFirstRunsDoNotMatter) {
  TemporaryFolder folder;
  TrainingOptions options = tiny();
  Points seen;
  options.output = folder / "a.bin";
  train(options, seen);
  options.output = folder / "b.bin";
  options.threads = 3;
  train(options, seen);
  EXPECT_EQ(weights_of(folder / "a.bin"), weights_of(folder / "b.bin"));
}

// At every boundary between steps, also amid a round.
TEST(Train, GoesOnFromACheckpointAsIfThereHadBeenNoPause) {
  TemporaryFolder folder;
  TrainingOptions options = tiny();
  options.set["known"] = "1";
  Points whole;
  options.output = folder / "whole.bin";
  options.checkpoint = folder / "whole";
  train(options, whole);
  const auto known = [&](const std::filesystem::path& file) { return experience_of(file).known; };
  EXPECT_FALSE(known(options.checkpoint).empty());
  for (const std::int64_t pause : {1, 4, 6, 11}) {
    TrainingOptions parts = options;
    parts.set["report"] = "1";
    parts.checkpoint = folder / ("c" + std::to_string(pause));
    parts.output = folder / "parts.bin";
    std::stop_source stop;
    Points first, second;
    first.stop = &stop;
    first.stop_at = pause;
    const TrainingResult paused = train(parts, first, stop.get_token());
    EXPECT_TRUE(paused.stopped);
    EXPECT_EQ(paused.last.step, pause);
    const TrainingResult done = train(parts, second);
    EXPECT_FALSE(done.stopped);
    EXPECT_EQ(done.last.step, 12);
    EXPECT_EQ(done.last.searches, whole.points.back().searches);
    EXPECT_EQ(done.last.examples, whole.points.back().examples);
    EXPECT_EQ(weights_of(folder / "parts.bin"), weights_of(folder / "whole.bin")) << pause;
    EXPECT_EQ(known(parts.checkpoint), known(options.checkpoint)) << pause;
    EXPECT_EQ(*done.last.held_out_loss, *whole.points.back().held_out_loss);
  }
}

TEST(Train, AFinishedTrainingGoesOnWithMoreSteps) {
  TemporaryFolder folder;
  TrainingOptions options = tiny();
  options.checkpoint = folder / "c";
  Points seen;
  train(options, seen);
  EXPECT_EQ(train(options, seen).last.step, 12) << "nothing is left to do";
  options.steps = 16;
  EXPECT_EQ(train(options, seen).last.step, 16);
}

// Rate 0: what it learned is what makes the difference.
TEST(Train, ARateOfZeroLearnsNothing) {
  TrainingOptions options = tiny("values");
  options.steps = 40;
  std::map<std::string, double> change;
  for (const char* rate : {"0", "0.01"}) {
    options.set["rate"] = rate;
    Points seen;
    train(options, seen);
    change[rate] = *seen.points.back().held_out_loss - *seen.points.front().held_out_loss;
  }
  EXPECT_EQ(change["0"], 0);
  EXPECT_LT(change["0.01"], -0.01);
}

// The checkpoint was written after 6 steps by a version that had a format of its own, which made
// tag-12-steps.weights of it. Adam's steps are rounded in another order since.
TEST(Train, GoesOnFromACheckpointOfTheVersionBefore) {
  TemporaryFolder folder;
  const std::string data = std::string(kSourceFolder) + "/tests/data/learned/";
  std::filesystem::copy(data + "tag.checkpoint", folder / "c");
  TrainingOptions options = tiny();
  options.models = {{"lenet", std::make_shared<const Graph>(sample_model("lenet", 64))}};
  options.clusters = {toy::sample_cluster("gdp")};
  options.random_clusters = 1;
  options.set["known"] = "1";
  options.checkpoint = folder / "c";
  options.output = folder / "w";
  Points seen;
  const TrainingResult result = train(options, seen);
  EXPECT_EQ(result.last.step, 12);
  EXPECT_EQ(result.last.searches, 6);
  const std::vector<float> made = weights_of(options.output),
                           before = weights_of(data + "tag-12-steps.weights");
  ASSERT_EQ(made.size(), before.size());
  for (std::size_t i = 0; i < made.size(); ++i) EXPECT_NEAR(made[i], before[i], 2e-3) << i;
  EXPECT_EQ(checkpoint_of(options.checkpoint).step, 12) << "it is written in today's form";
}

TEST(Train, WeightsSayWhatTheyWereStartedFrom) {
  TemporaryFolder folder;
  TrainingOptions options = tiny();
  options.output = folder / "first.bin";
  Points seen;
  train(options, seen);
  options.set["start"] = options.output.string();
  options.output = folder / "second.bin";
  train(options, seen);
  const Json first = Json::parse(Network::load(folder / "first.bin").note());
  const Json second = Json::parse(Network::load(folder / "second.bin").note());
  EXPECT_FALSE(first.contains("started_from"));
  EXPECT_EQ(second["started_from"], first);
  EXPECT_EQ(second["set"]["start"], "first.bin") << "no path of the machine that it was made on";
}

TEST(Train, CheckpointsThatCannotServeAreRefused) {
  TemporaryFolder folder;
  TrainingOptions options = tiny();
  options.steps = 2;
  options.checkpoint = folder / "c";
  Points seen;
  train(options, seen);
  const std::string good = read_file(folder / "c");
  TrainingOptions other = options;
  other.set["rate"] = "0.5";
  expect_refused(other, "rate=");
  other = options;
  other.seed = 4;
  expect_refused(other, "seed=3");
  other = options;
  other.clusters.pop_back();
  expect_refused(other, "clusters=");
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{5}, std::size_t{30}, good.size() / 2, good.size() - 1}) {
    write_file(folder / "c", good.substr(0, size));
    expect_refused(options, "checkpoint");
  }
  for (std::size_t at = 0; at < good.size(); at += good.size() / 23) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x10);
    write_file(folder / "c", bad);
    expect_refused(options, "c: ");
  }
  write_file(folder / "c", good);
  EXPECT_EQ(train(options, seen).last.step, 2);
}

TEST(Train, OptionsAndDataThatCannotServeAreRefused) {
  TrainingOptions options = tiny();
  options.set["rats"] = "1";
  expect_refused(options, "no option 'rats'");
  options = tiny("visits+wishes");
  expect_refused(options, "\"wishes\" is no target");
  options = tiny();
  options.set["width"] = "9";
  expect_refused(options, "no multiple");
  options = tiny();
  options.models.clear();
  expect_refused(options, "no model");
  options = tiny();
  options.clusters.clear();
  expect_refused(options, "no cluster");
  options.clusters = {toy::small_cluster(1, 0)};
  expect_refused(options, "single GPU");
  options = tiny("visits");
  options.set["visits"] = "1000000";
  expect_refused(options, "no vertex");
  options = tiny();
  options.rank = 2;
  options.processes = 2;
  expect_refused(options, "rank 2 of 2");
  options.rank = 0;
  options.master = "nowhere";
  expect_refused(options, "host:port");
}

// --- Examples ---------------------------------------------------------------------------------

struct SearchedInstance {
  TrainingOptions options;
  TrainSettings settings;
  TrainingInstances instances;
  std::shared_ptr<const TrainingInstance> instance;
  Network network;
  std::vector<Record> records;

  explicit SearchedInstance(const std::string& targets, const std::string& feedback = "1")
      : options(tiny(targets)),
        settings((options.set["feedback"] = feedback, TrainSettings::from(options))),
        instances(options, settings),
        instance(instances.instance({0, 1})),
        network(Network::make(settings.size, 1)),
        records(search_records(*instance, {{0, 1}, 7, false, {}, false}, network, settings, {})
                    .records) {}
};

TEST(TrainExamples, TargetsAreDistributionsOverLegalActions) {
  for (const char* targets : {"visits", "best", "values"}) {
    SearchedInstance searched(targets);
    ASSERT_FALSE(searched.records.empty()) << targets;
    const auto examples = make_examples(*searched.instance, searched.records);
    ASSERT_EQ(examples.size(), searched.records.size());
    for (const Example& example : examples) {
      const double sum = std::accumulate(example.target.begin(), example.target.end(), 0.0);
      EXPECT_NEAR(sum, 1, 1e-5) << targets;
      for (std::size_t a = 0; a < example.target.size(); ++a) {
        EXPECT_TRUE(example.state->legal[a] > 0 || example.target[a] == 0) << targets;
      }
    }
  }
}

// Brute force: at the root the likeliest action is the one whose uniform strategy is fastest.
TEST(TrainExamples, ValuesPointToTheFastestDecision) {
  SearchedInstance searched("values");
  const Record& root = searched.records.front();
  ASSERT_TRUE(root.decided.empty());
  const auto evaluator = make_simulating_evaluator(searched.instance->problem, 1);
  std::vector<double> times;
  for (const Decision& decision : searched.instance->maker.actions()) {
    Strategy strategy;
    strategy.groups.resize(searched.instance->order.size());
    for (auto& group : strategy.groups) group = decision;
    const Score score = evaluator->evaluate(strategy);
    times.push_back(score.feasible ? static_cast<double>(score.step_time.value) : 1e18);
  }
  const double best = *std::ranges::min_element(times);
  const auto likeliest =
      std::ranges::max_element(root.target, {}, &std::pair<std::int32_t, float>::second);
  EXPECT_EQ(times[static_cast<std::size_t>(likeliest->first)], best);
  for (const auto& [action, part] : root.target) {
    const double expected =
        likeliest->second *
        std::pow(best / times[static_cast<std::size_t>(action)], 1 / searched.settings.temperature);
    EXPECT_NEAR(part, expected, 1e-4) << action;
  }
}

TEST(TrainExamples, RecordsComeBackAndMakeTheSameFeatures) {
  SearchedInstance searched("visits+best+values");
  Experience experience;
  experience.records = {searched.records.begin(), searched.records.end()};
  experience.known[{0, 1}] = {2, 0, 1};
  const Experience back = read_experience(write_experience(experience), "experience");
  EXPECT_EQ(back.records, experience.records);
  EXPECT_EQ(back.known, experience.known);
  const auto once = make_examples(*searched.instance, searched.records);
  const auto again = make_examples(*searched.instance, std::span(searched.records).last(1));
  EXPECT_EQ(once.back().state->slice.values, again.back().state->slice.values);
  EXPECT_EQ(once.back().state->op.values, again.back().state->op.values);
  Record wrong = searched.records.front();
  wrong.target = {{1 << 20, 1.0F}};
  EXPECT_THROW(make_examples(*searched.instance, std::span(&wrong, 1)), InputError);
}

TEST(TrainExamples, WhatIsKnownIsGoneOnFromAndNotForgotten) {
  const SearchedInstance searched("best");
  const TrainingInstance& instance = *searched.instance;
  const auto evaluator = make_simulating_evaluator(instance.problem, 1);
  const auto time = [&](const std::vector<std::int32_t>& actions) {
    Strategy strategy;
    strategy.groups.resize(instance.order.size());
    for (std::size_t depth = 0; depth < actions.size(); ++depth)
      strategy.groups[instance.order[depth]] =
          instance.maker.actions()[static_cast<std::size_t>(actions[depth])];
    return evaluator->evaluate(strategy).step_time;
  };
  const auto search = [&](int iterations, SearchOrder order) {
    TrainSettings settings = searched.settings;
    settings.iterations = iterations;
    return search_records(instance, order, searched.network, settings, {});
  };
  const std::vector<std::int32_t> known = search(200, {{0, 1}, 7, true, {}, false}).best;
  ASSERT_LT(time(known), time(search(2, {{0, 1}, 8, true, {}, false}).best));
  for (const bool go_on : {true, false}) {
    const Searched again = search(2, {{0, 1}, 8, true, known, go_on});
    EXPECT_EQ(time(again.best), time(known)) << go_on;
    for (const Record& record : again.records)
      EXPECT_EQ(record.target.front().first, again.best[record.decided.size()]) << go_on;
  }
}

TEST(TrainExamples, OnlyThePartThatIsAskedForSeesFeedback) {
  const auto sees = [](const Example& example) {
    return std::ranges::any_of(example.state->device.values, [](float v) { return v != 0; });
  };
  const SearchedInstance with("best+values"), without("best+values", "0");
  EXPECT_TRUE(std::ranges::all_of(make_examples(*with.instance, with.records), sees));
  EXPECT_TRUE(std::ranges::none_of(make_examples(*without.instance, without.records), sees));
  EXPECT_EQ(with.records, without.records);
}

// --- Several processes ------------------------------------------------------------------------

TEST(TrainPeers, EveryoneGetsEverybodysNumbersInOrderOfRank) {
  const std::string master = free_master();
  const auto talk = [&](int rank) {
    learned::Peers peers(rank, 3, master, 20);
    std::vector<std::vector<std::vector<float>>> heard;
    for (int round = 0; round < 4; ++round) {
      const std::vector<float> own = {static_cast<float>(rank), static_cast<float>(round)};
      heard.push_back(peers.exchange(own));
    }
    peers.leave();
    return heard;
  };
  auto one = std::async(std::launch::async, talk, 1), two = std::async(std::launch::async, talk, 2);
  const auto zero = talk(0);
  EXPECT_EQ(zero, one.get());
  EXPECT_EQ(zero, two.get());
  EXPECT_EQ(zero[3], (std::vector<std::vector<float>>{{0, 3}, {1, 3}, {2, 3}}));
}

TEST(TrainPeers, TwoRanksHaveOneNetwork) {
  TemporaryFolder folder;
  TrainingOptions options = tiny();
  options.processes = 2;
  options.master = free_master();
  const auto run = [&](int rank) {
    TrainingOptions own = options;
    own.rank = rank;
    own.checkpoint = folder / "c";
    own.output = folder / "w.bin";
    Points points;
    return train(own, points);
  };
  auto other = std::async(std::launch::async, run, 1);
  const TrainingResult first = run(0);
  EXPECT_EQ(other.get().last.step, first.last.step);
  EXPECT_EQ(first.last.step, 12);
  const auto network = [&](const std::string& name) {
    return checkpoint_of(folder / name).network.parameters;
  };
  EXPECT_EQ(network("c"), network("c.rank1"));
  EXPECT_EQ(network("c"), weights_of(folder / "w.bin"));
  const auto records = [&](const std::string& name) {
    return experience_of(folder / name).records;
  };
  EXPECT_NE(records("c"), records("c.rank1")) << "each searches for itself";
}

TEST(TrainPeers, OneThatStopsStopsAllAtTheSameStep) {
  TemporaryFolder folder;
  TrainingOptions options = tiny();
  options.processes = 2;
  options.steps = 1'000'000;
  options.master = free_master();
  std::stop_source stop;
  const auto run = [&](int rank) {
    TrainingOptions own = options;
    own.rank = rank;
    own.checkpoint = folder / "c";
    Points points;
    points.stop = rank == 1 ? &stop : nullptr;
    points.stop_at = 8;
    return train(own, points, rank == 1 ? stop.get_token() : std::stop_token());
  };
  auto other = std::async(std::launch::async, run, 1);
  const TrainingResult first = run(0);
  EXPECT_TRUE(first.stopped);
  EXPECT_EQ(other.get().last.step, first.last.step);
}

// One was killed: its checkpoint is older than the other's, or there is none.
TEST(TrainPeers, TheyGoOnFromTheFurthestCheckpoint) {
  TemporaryFolder folder;
  TrainingOptions options = tiny();
  options.processes = 2;
  const auto run = [&](int rank) {
    TrainingOptions own = options;
    own.rank = rank;
    own.checkpoint = folder / "c";
    Points points;
    return train(own, points);
  };
  const auto both = [&](std::int64_t steps) {
    options.steps = steps;
    options.master = free_master();
    auto other = std::async(std::launch::async, run, 1);
    EXPECT_EQ(run(0).last.step, steps);
    EXPECT_EQ(other.get().last.step, steps);
    const auto network = [&](const char* name) {
      return checkpoint_of(folder / name).network.parameters;
    };
    EXPECT_EQ(network("c"), network("c.rank1")) << steps;
  };
  both(4);
  std::filesystem::copy(folder / "c.rank1", folder / "old");
  both(10);
  std::filesystem::remove(folder / "c.rank1");
  std::filesystem::rename(folder / "old", folder / "c.rank1");
  both(12);
  std::filesystem::remove(folder / "c.rank1");
  both(14);
  std::filesystem::remove(folder / "c");
  both(16);
}

TEST(TrainPeers, AllEndForTheReasonOfOne) {
  TrainingOptions options = tiny("visits");
  options.processes = 2;
  const auto run = [&](int rank) {
    TrainingOptions own = options;
    own.rank = rank;
    // As if its clock were behind.
    if (options.budget_seconds > 0 && rank == 1) own.budget_seconds = 1e6;
    Points points;
    return train(own, points);
  };
  options.budget_seconds = 0.05;
  options.master = free_master();
  auto other = std::async(std::launch::async, run, 1);
  EXPECT_FALSE(run(0).stopped);
  EXPECT_FALSE(other.get().stopped);

  options.budget_seconds = 0;
  options.set["visits"] = "1000000";
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
  EXPECT_NE(words(0).find("no vertex"), std::string::npos);
  EXPECT_NE(second.get().find("no vertex"), std::string::npos);
}

// One that is there and then no more, without a good-bye.
TEST(TrainPeers, ALostOneEndsWithClearWords) {
  const std::string master = free_master();
  auto other = std::async(std::launch::async, [&] {
    learned::Peers peers(1, 2, master, 3);
    peers.exchange(std::vector<float>{1});
    peers.exchange(std::vector<float>{1});
  });
  learned::Peers peers(0, 2, master, 3);
  peers.exchange(std::vector<float>{0});
  peers.exchange(std::vector<float>{0});
  other.get();
  try {
    peers.exchange(std::vector<float>{0});
    ADD_FAILURE() << "nobody is there";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("process 1 of 2 is lost"), std::string::npos)
        << error.what();
    EXPECT_NE(std::string(error.what()).find("checkpoint is kept"), std::string::npos);
  }
}

}  // namespace
}  // namespace strato::tag
