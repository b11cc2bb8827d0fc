// A training loop by hand, whose variables take gradients of earlier steps: what bounded staleness
// is checked against. Models compute in doubles.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/program/lower/lower.h"
#include "core/strategy/value/variable_check.h"
#include "tests/plugins/engines/rank/net_problem.h"
#include "tests/plugins/engines/torch/small_model.h"

namespace strato {

using Doubles = std::vector<double>;

// One device's gradients, applied late. A step: gradients of the values as they are; then each
// variable takes the gradient of as many steps before as it is stale, zeros at first.
class ByHand {
 public:
  ByHand(std::shared_ptr<const Graph> graph, Optimizer optimizer, std::map<OpId, int> lateness)
      : graph_(std::move(graph)),
        optimizer_(optimizer),
        execution_(prepared(graph_, kRate, kSeed)) {
    for (std::size_t i = 0; i < graph_->op_count(); ++i) {
      const TensorId of = parameter_of(*graph_, OpId(i));
      if (!of.valid()) continue;
      Variable variable{OpId(i), of, graph_->op(OpId(i)).inputs[1], {}, {}, {}, {}};
      variable.value = numbers(execution_->read(of));
      variable.mean.assign(variable.value.size(), 0);
      variable.square = variable.mean;
      for (int late = lateness[OpId(i)]; late > 0; --late)
        variable.under_way.push_back(variable.mean);
      execution_->keep(variable.gradient);
      variables_.push_back(std::move(variable));
    }
  }

  void run_step() {
    ++step_;
    for (const Variable& variable : variables_)
      execution_->write(variable.parameter, text_of(variable.value));
    execution_->run_step();
    for (Variable& variable : variables_) {
      variable.under_way.push_back(numbers(execution_->read(variable.gradient)));
      apply(variable, variable.under_way.front());
      variable.under_way.pop_front();
    }
  }

  const Doubles& value(TensorId parameter) const {
    return std::ranges::find(variables_, parameter, &Variable::parameter)->value;
  }
  // Of parameters and optimizer state, in the place of what one device has.
  void put_into(IdVector<TensorId, Doubles>& elements) const {
    for (const Variable& variable : variables_) {
      const auto& inputs = graph_->op(variable.update).inputs;
      elements[variable.parameter] = variable.value;
      if (inputs.size() > 2) elements[inputs[2]] = variable.mean;
      if (inputs.size() > 3) elements[inputs[3]] = variable.square;
    }
  }

 private:
  static std::string text_of(const Doubles& values) {
    std::string bytes(values.size() * sizeof(double), '\0');
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
  }
  struct Variable {
    OpId update;
    TensorId parameter, gradient;
    Doubles value, mean, square;
    std::deque<Doubles> under_way;
  };

  void apply(Variable& variable, const Doubles& gradient) const {
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      double& mean = variable.mean[i];
      double& square = variable.square[i];
      double move = gradient[i];
      if (optimizer_ == Optimizer::Momentum) move = mean = 0.9 * mean + gradient[i];
      if (optimizer_ == Optimizer::Adam) {
        mean = 0.9 * mean + 0.1 * gradient[i];
        square = 0.999 * square + 0.001 * gradient[i] * gradient[i];
        const double size = std::sqrt(square) / std::sqrt(1 - std::pow(0.999, step_)) + 1e-8;
        move = mean / size / (1 - std::pow(0.9, step_));
      }
      variable.value[i] -= kRate * move;
    }
  }

  std::shared_ptr<const Graph> graph_;
  Optimizer optimizer_;
  std::unique_ptr<Execution> execution_;
  std::vector<Variable> variables_;
  int step_ = 0;
};

// Most variables at servers, most of those stale.
inline Strategy stale_strategy(const RandomProblem& problem, Random& random) {
  Strategy strategy = any_synchronisation(problem, random);
  for (VariableSync& variable : strategy.variables) {
    if (random.below(5) == 0) continue;
    for (SyncPart& part : variable.parts) {
      if (part.synchroniser == Synchroniser::Ps) continue;
      const Encoding encoding =
          part.encoding == Encoding::SufficientFactors ? Encoding::None : part.encoding;
      const DeviceId server(
          static_cast<std::size_t>(random.below(problem.cluster->device_count())));
      part = {Synchroniser::Ps, encoding, server, {}, -1, {}};
    }
    variable.staleness = static_cast<int>(random.below(4));
  }
  return strategy;
}

// Of the variables that their program makes stale.
inline std::map<OpId, int> lateness_of(const RandomProblem& problem, const Strategy& strategy) {
  Lowering lowering(problem.graph, problem.grouping, problem.cluster, problem.cost);
  const Program program = lowering.lower(strategy);
  std::map<OpId, int> lateness;
  for (const VariableSync& variable : strategy.variables) {
    const TensorId gradient = problem.graph->op(variable.update).inputs[1];
    for (const Resident& resident : program.residents)
      if (resident.tensor == gradient) lateness[variable.update] = std::min(2, variable.staleness);
  }
  return lateness;
}

}  // namespace strato
