// The training that all learned planners share, with a learner of four numbers.
#include "plugins/planners/learned/kit/training/training.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/io/file.h"
#include "tests/core/store/temporary_folder.h"
#include "tests/plugins/planners/learned/kit/tiny_network.h"

namespace strato::learned {
namespace {

class TinyLearner final : public Learner {
 public:
  TrainedNetwork& network() override { return network_; }
  void hold_out(const Phase&, const std::stop_token&) override { ++held_out; }
  void collect(std::int64_t step, const Phase&, const std::stop_token&) override {
    if (collected.searches <= step / 2) ++collected.searches, collected.examples += examples;
  }
  std::optional<InputError> nothing_to_learn() const override {
    if (collected.examples > 0) return std::nullopt;
    return InputError("", "training", "no examples", "collect some");
  }
  std::optional<double> learn(std::int64_t, double rate, const Phase&,
                              const std::stop_token&) override {
    return network_.learn(rate);
  }
  void measure(TrainingPoint& point) override { point.held_out_loss = network_.loss(); }
  double rate() const override { return highest_rate; }
  std::string experience() const override { return "experience"; }
  void restore(std::string_view experience, const std::string&) override {
    EXPECT_EQ(experience, "experience");
  }

  int held_out = 0, examples = 3;
  double highest_rate = 0.1;

 private:
  TinyNetwork network_{4};
};

struct Points final : TrainingObserver {
  void on_point(const TrainingPoint& point) override {
    points.push_back(point);
    if (point.step >= stop_at) stop.request_stop();
  }
  std::vector<TrainingPoint> points;
  std::int64_t stop_at = 1'000'000;
  std::stop_source stop;
};

TrainingResult train(TinyLearner& learner, const TrainingOptions& options, Points& points,
                     const std::string& fingerprint = "width=4\n") {
  RunSettings settings;
  settings.report = 2;
  const auto no_old = [](std::string_view, const std::string&) -> Checkpoint { return {}; };
  return run_training({"tiny", settings, fingerprint, no_old}, options, learner, points,
                      points.stop.get_token());
}

TrainingOptions options_of(std::int64_t steps) {
  TrainingOptions options;
  options.steps = steps;
  return options;
}

TEST(Training, LearnsMeasuresAndReports) {
  TinyLearner learner;
  Points points;
  const TrainingResult result = train(learner, options_of(30), points);
  EXPECT_FALSE(result.stopped);
  EXPECT_EQ(result.last.step, 30);
  EXPECT_EQ(result.last.searches, 15);
  EXPECT_EQ(result.last.examples, 45);
  EXPECT_EQ(learner.held_out, 1);
  ASSERT_EQ(points.points.size(), 15u);
  EXPECT_LT(*points.points.back().held_out_loss, *points.points.front().held_out_loss);
}

TEST(Training, OfRateZeroLearnsNothing) {
  TinyLearner learner;
  learner.highest_rate = 0;
  Points points;
  const std::vector<float> before = learner.network().parameters();
  train(learner, options_of(10), points);
  EXPECT_EQ(learner.network().parameters(), before);
}

TEST(Training, GoesOnFromItsCheckpointAsIfThereHadBeenNoPause) {
  TemporaryFolder folder;
  TinyLearner straight, first, second;
  Points all, some, rest;
  train(straight, options_of(12), all);
  TrainingOptions options = options_of(12);
  options.checkpoint = folder / "c";
  options.output = folder / "w";
  some.stop_at = 6;
  EXPECT_TRUE(train(first, options, some).stopped);
  EXPECT_EQ(train(second, options, rest).last.searches, all.points.back().searches);
  EXPECT_EQ(second.network().parameters(), straight.network().parameters());
  EXPECT_EQ(parse_weights(read_file(options.output), "tiny", "w").parameters,
            straight.network().parameters());
  TinyLearner other;
  EXPECT_THROW(train(other, options, rest, "width=5\n"), InputError);
}

TEST(Training, SaysThatNothingCanBeLearned) {
  TinyLearner learner;
  learner.examples = 0;
  Points points;
  EXPECT_THROW(train(learner, options_of(4), points), InputError);
}

TEST(Checkpoint, ComesBackAndSaysWhatDiffers) {
  TinyLearner learner;
  const Checkpoint checkpoint{
      "a=1\nb=2\n", 7, 1.5, 0.25, 3, {4, 5}, learner.network().state(), std::string(3, 'x')};
  const std::string bytes = write_checkpoint(checkpoint, "tiny");
  const Checkpoint back = parse_checkpoint(bytes, "tiny", "c");
  EXPECT_EQ(back.fingerprint, checkpoint.fingerprint);
  EXPECT_EQ(back.step, 7);
  EXPECT_EQ(back.loss_sum, 0.25);
  EXPECT_EQ(back.collected.examples, 5);
  EXPECT_EQ(back.network.parameters, checkpoint.network.parameters);
  EXPECT_EQ(back.experience, "xxx");
  EXPECT_THROW(parse_checkpoint(bytes, "tag", "c"), InputError);
  try {
    expect_same_training(back, "a=1\nb=3\n", "c");
    ADD_FAILURE() << "they differ";
  } catch (const InputError& error) {
    EXPECT_EQ(error.problem(), "it was made with b=2, this is b=3");
  }
}

TEST(PackedLists, ComeBackAndAreRefusedWhenTheirLengthsLie) {
  const std::vector<std::vector<std::int32_t>> lists = {{1, 2}, {}, {3}};
  Json json = packed_lists(lists);
  EXPECT_EQ(unpacked_lists<std::int32_t>(JsonView::of(json, "f")), lists);
  json["lengths"] = packed(std::vector<std::uint32_t>{2, 0, 4'000'000'000U});
  EXPECT_THROW(unpacked_lists<std::int32_t>(JsonView::of(json, "f")), InputError);
}

}  // namespace
}  // namespace strato::learned
