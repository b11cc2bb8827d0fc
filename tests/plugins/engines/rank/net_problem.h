// A model to be trained under a random strategy, and what one device makes of it.
#pragma once

#include <memory>
#include <vector>

#include "core/base/random.h"
#include "core/program/lower/lower.h"
#include "tests/property/random_model.h"

namespace strato {

constexpr int kSteps = 3;
constexpr double kRate = 0.02;
constexpr std::uint64_t kSeed = 5;

bool is_trained(TensorRole role);  // parameters and optimizer state

// Elements of F32 or F64.
std::vector<double> values_of(const std::string& bytes, DataType type);
double largest(const std::vector<double>& values);  // of the absolute values; 0: there are none

// What one device has after three steps; and the last loss.
struct Reference {
  explicit Reference(std::shared_ptr<const Graph> of);
  std::shared_ptr<const Graph> graph;
  TensorId loss_tensor;
  double loss = 0;
  IdVector<TensorId, std::vector<double>> elements;  // empty: not trained
};

Strategy any_strategy(const RandomProblem& problem, Random& random);
// Replicas of most of the model, on all devices or on some, and random entries for its variables.
enum class Messages {
  Exact,
  Half,
  Lossy
};  // Half: of reductions and servers; Lossy: any, and
    // stale
Strategy any_synchronisation(const RandomProblem& problem, Random& random,
                             Messages messages = Messages::Exact);
// The same in two or more micro-batches, of which a schedule makes an order. Ops other than updates
// are not split then. The model has none whose result depends on what samples are at hand.
Strategy in_micro_batches(const RandomProblem& problem, Strategy strategy, Random& random);
// Most groups on one mesh of rows and columns, some with experts divided over rows.
Strategy on_meshes(const RandomProblem& problem, Random& random);
bool has_batch_norm(const Graph& graph);
// Each task after its dependencies.
std::vector<TaskId> random_order(const Program& program, Random& random);

}  // namespace strato
