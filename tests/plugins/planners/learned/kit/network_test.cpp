// The parts that networks are made of: the optimizer, the LSTM, files of weights.
#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "tests/plugins/planners/learned/kit/tiny_network.h"

namespace strato::learned {
namespace {

Parameters some_parameters() {
  Parameters parameters;
  parameters.declare({3, 2}, 1);
  parameters.declare({4}, 0, 0.5);
  parameters.allocate(7, at::kCPU);
  return parameters;
}

std::vector<float> gradient_of(int step) {
  std::vector<float> gradient;
  for (int i = 0; i < 10; ++i) gradient.push_back(static_cast<float>(std::sin(1.0 + i * step)));
  return gradient;
}

// AdamW as printed (Loshchilov and Hutter 2019, algorithm 2), with the gradient clipped.
TEST(Optimizer, StepsAsAdamWDoes) {
  Parameters parameters = some_parameters();
  std::vector<float> start = floats_of(parameters.values);
  std::vector<double> values(start.begin(), start.end()), mean(10, 0), square(10, 0);
  const OptimizerOptions options{.rate = 0.1, .weight_decay = 0.01, .clip = 1};
  Optimizer optimizer;
  for (int step = 1; step <= 5; ++step) {
    const std::vector<float> gradient = gradient_of(step);
    parameters.assign_gradients(gradient);
    optimizer.step(parameters, options);
    EXPECT_EQ(floats_of(parameters.gradients), gradient) << "they stay as they are";
    double length = 0;
    for (const float g : gradient) length += static_cast<double>(g) * g;
    const double scale = std::min(1.0, options.clip / std::sqrt(length));
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double g = gradient[i] * scale;
      mean[i] = 0.9 * mean[i] + 0.1 * g;
      square[i] = 0.999 * square[i] + 0.001 * g * g;
      values[i] *= 1 - options.rate * options.weight_decay;
      values[i] -= options.rate * mean[i] / (1 - std::pow(0.9, step)) /
                   (std::sqrt(square[i] / (1 - std::pow(0.999, step))) + 1e-8);
    }
    const std::vector<float> now = floats_of(parameters.values);
    for (std::size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(now[i], values[i], 1e-5) << step;
  }
}

TEST(Optimizer, GoesOnFromItsState) {
  Parameters straight = some_parameters(), paused = some_parameters();
  Optimizer one, before, after;
  EXPECT_EQ(before.state(), OptimizerState());
  const auto step = [](Optimizer& optimizer, Parameters& parameters, int number) {
    parameters.assign_gradients(gradient_of(number));
    optimizer.step(parameters, {});
  };
  for (int i = 1; i <= 6; ++i) step(one, straight, i);
  for (int i = 1; i <= 3; ++i) step(before, paused, i);
  after.restore(before.state(), paused);
  EXPECT_EQ(after.state(), before.state());
  for (int i = 4; i <= 6; ++i) step(after, paused, i);
  EXPECT_EQ(floats_of(paused.values), floats_of(straight.values));
  OptimizerState cut = before.state();
  cut.square.pop_back();
  EXPECT_THROW(after.restore(cut, paused), InputError);
}

TEST(Lstm, RunsAsItSteps) {
  Parameters parameters;
  const Lstm lstm(parameters, 3, 4, 1), backward(parameters, 3, 4);
  parameters.allocate(5, at::kCPU);
  const at::Tensor rows = at::arange(2 * 5 * 3, at::kFloat).view({5, 2, 3}) / 10;
  const at::Tensor all = lstm.run(rows);
  ASSERT_EQ(all.sizes().vec(), (std::vector<std::int64_t>{5, 2, 4}));
  LstmState state = lstm.start(2);
  for (std::int64_t i = 0; i < 5; ++i) {
    state = lstm.step(rows[i], state);
    EXPECT_LT((state.h - all[i]).abs().max().item<double>(), 1e-6) << i;
  }
  EXPECT_GT((backward.run(rows) - all).abs().max().item<double>(), 1e-3);
}

// A cell whose weights are zero forgets half of its state, or less by what is added to its gate.
TEST(Lstm, AddsToItsForgetGate) {
  for (const double forget : {0.0, 2.0}) {
    Parameters parameters;
    const Lstm lstm(parameters, 1, 1, forget);
    parameters.allocate(1, at::kCPU);
    parameters.values.zero_();
    const LstmState next = lstm.step(at::zeros({1, 1}), {at::zeros({1, 1}), at::ones({1, 1})});
    EXPECT_NEAR(next.c.item<double>(), 1 / (1 + std::exp(-forget)), 1e-6);
  }
}

TEST(WeightsFile, ComesBackAndIsRefusedWithOtherSizesOrOfAnotherPlanner) {
  const TinyNetwork network(3);
  const std::string bytes = network.bytes(R"({"seed": 3})");
  const Weights back = parse_weights(bytes, "tiny", "w");
  EXPECT_EQ(back.parameters, network.parameters());
  EXPECT_EQ(back.note, R"({"seed":3})");
  EXPECT_THROW(parse_weights(bytes, "tag", "w"), InputError);
  EXPECT_THROW(parse_weights(bytes.substr(1), "tiny", "w"), InputError);
}

TEST(Device, OneThatIsNotThereIsRefused) {
  TinyNetwork network(1);
  EXPECT_THROW(network.move_to("warp:3"), InputError);
  network.learn(0.1);
  const NetworkState before = network.state();
  network.move_to("cpu");
  EXPECT_EQ(network.state().parameters, before.parameters);
  EXPECT_EQ(network.state().optimizer, before.optimizer);
}

}  // namespace
}  // namespace strato::learned
