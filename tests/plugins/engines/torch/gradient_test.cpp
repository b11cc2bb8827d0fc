// Every gradient kernel beside finite differences of the loss.
#include "tests/plugins/engines/torch/gradient_cases.h"

namespace strato {
namespace {

class Gradient : public testing::TestWithParam<GradientCase> {};

TEST_P(Gradient, MeetsFiniteDifferences) {
  SmallModel model;
  GetParam().result(model);
  check_gradients(std::move(model).training(), GetParam().low, GetParam().high);
}

INSTANTIATE_TEST_SUITE_P(Products, Gradient, testing::ValuesIn(products_cases()));
INSTANTIATE_TEST_SUITE_P(Windows, Gradient, testing::ValuesIn(windows_cases()));
INSTANTIATE_TEST_SUITE_P(Elementwise, Gradient, testing::ValuesIn(elementwise_cases()));
INSTANTIATE_TEST_SUITE_P(Normalizations, Gradient, testing::ValuesIn(normalizations_cases()));
INSTANTIATE_TEST_SUITE_P(Attention, Gradient, testing::ValuesIn(attention_cases()));
INSTANTIATE_TEST_SUITE_P(Experts, Gradient, testing::ValuesIn(expert_cases()));
INSTANTIATE_TEST_SUITE_P(Movement, Gradient, testing::ValuesIn(movement_cases()));
INSTANTIATE_TEST_SUITE_P(Losses, Gradient, testing::ValuesIn(losses_cases()));

}  // namespace
}  // namespace strato
