#include "core/graph/train/training_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "core/graph/build/copy_graph.h"
#include "core/graph/build/graph_builder.h"
#include "core/graph/ops/catalogue.h"
#include "core/graph/rules/op_rule.h"
#include "core/graph/train/block_loss.h"

namespace strato {
namespace {

struct OptimizerRule {
  std::string_view name;                    // as a person writes it
  const char* update;                       // op type
  std::span<const std::string_view> state;  // names of the parameter-sized tensors kept for each
};
constexpr std::array<std::string_view, 1> momentum_state = {"momentum"};
constexpr std::array<std::string_view, 2> adam_state = {"adam_m", "adam_v"};
constexpr std::array<OptimizerRule, 3> rules = {{
    {"sgd", "ApplySgd", {}},
    {"momentum", "ApplyMomentum", momentum_state},
    {"adam", "ApplyAdam", adam_state},
}};

const OptimizerRule& optimizer_rule(Optimizer optimizer) {
  return rules[static_cast<std::size_t>(optimizer)];
}

// Reverse-mode differentiation over the forward ops, last to first.
class TrainingGraph : private GradientWriter {
 public:
  TrainingGraph(const Graph& graph, Optimizer optimizer)
      : graph_(graph),
        optimizer_(optimizer),
        builder_(builder_with_tensors(graph)),
        trains_(graph.tensor_count(), false),
        gradients_(graph.tensor_count()) {}

  Graph run() {
    for (const Op& op : graph_.ops()) builder_.add_op(op);
    mark_trained();
    add_losses();
    for (std::size_t i = graph_.op_count(); i-- > 0;) differentiate(OpId(i));
    add_updates();
    return std::move(builder_).build();
  }

 private:
  // trains_[t]: t is a trainable parameter or is computed from one, so its gradient may be needed.
  void mark_trained() {
    for (const TensorId id : graph_.tensors().ids()) {
      const Tensor& tensor = graph_.tensor(id);
      trains_[id.index()] =
          tensor.role == TensorRole::Parameter && !tensor.frozen && is_floating(tensor.type);
    }
    for (const Op& op : graph_.ops()) {
      const OpRule& rule = rule_of(op.type);
      bool depends = false;
      for (std::size_t i = 0; rule.gradient && i < op.inputs.size(); ++i)
        depends = depends || (contains(rule.differentiable, i) && trains(op.inputs[i]));
      for (const TensorId id : op.outputs)
        trains_[id.index()] = depends && is_floating(graph_.tensor(id).type);
    }
  }
  bool trains(TensorId id) const { return id.valid() && trains_[id.index()]; }

  void add_losses() {
    const std::vector<TensorId> results = results_of(graph_);
    if (results.empty())
      throw InputError("", graph_.name(), "no floating-point output to train",
                       "give a model with at least one output that is not an integer");
    const auto ends = [this](TensorId id) { return ends_in_loss(id); };
    const bool has_loss = std::ranges::any_of(results, ends);
    for (const TensorId id : results) {
      if (!trains(id)) continue;
      if (!has_loss)
        add_loss(id);
      else if (ends(id))
        seed(id);
    }
  }

  // A graph that computes its own loss has a scalar for it, after a loss op.
  bool ends_in_loss(TensorId id) const {
    const bool scalar = graph_.tensor(id).elements() == 1 && graph_.tensor(id).shape.size() <= 1;
    return scalar &&
           std::ranges::find(graph_.ops(), OpFamily::Loss, &Op::family) != graph_.ops().end();
  }

  void seed(TensorId loss) {
    Tensor one = like(loss, graph_.tensor(loss).name + "/grad", TensorRole::Constant);
    gradients_[loss].push_back(builder_.add_tensor(std::move(one)));
  }

  Tensor like(TensorId id, std::string name, TensorRole role) const {
    const Tensor& tensor = graph_.tensor(id);
    return {.name = std::move(name), .type = tensor.type, .role = role, .shape = tensor.shape};
  }

  // Classes are on the last axis, in images (rank 4 and more) on the second; never on the batch's.
  static int class_axis(const Tensor& scores) {
    const int rank = static_cast<int>(scores.shape.size());
    int axis = rank <= 3 ? rank - 1 : 1;
    if (scores.batch.kind == BatchKind::Batched && axis == scores.batch.axis)
      axis = axis == rank - 1 ? rank - 2 : rank - 1;
    return axis;
  }

  void add_loss(TensorId result) {
    const Tensor& scores = graph_.tensor(result);
    const int axis = scores.shape.size() >= 2 ? class_axis(scores) : -1;
    const bool classifies = axis >= 0 && scores.shape[static_cast<std::size_t>(axis)] > 1;
    Tensor target =
        like(result, scores.name + (classifies ? "/label" : "/target"), TensorRole::Input);
    target.batch = scores.batch.kind == BatchKind::Batched ? scores.batch : BatchLayout();
    if (classifies) {
      target.type = DataType::I64;
      target.shape.erase(target.shape.begin() + axis);
      if (target.batch.axis > axis) --target.batch.axis;
    }
    const TensorId wanted = builder_.add_tensor(std::move(target));
    Tensor value = like(result, scores.name + "/loss", TensorRole::Activation);
    const bool has_classes_last = axis + 1 == static_cast<int>(scores.shape.size());
    if (classifies && has_classes_last && has_block_loss(scores.shape.back()))
      return add_block_loss(builder_, value.name, result, wanted, new_gradient(result));
    value.shape.clear();
    Op loss = {.name = value.name,
               .type = classifies ? "SoftmaxCrossEntropy" : "MeanSquaredLoss",
               .inputs = {result, wanted},
               .outputs = {builder_.add_tensor(std::move(value))},
               .phase = Phase::Loss};
    if (classifies) loss.attributes = {{"axis", std::int64_t{axis}}};
    builder_.add_op({.name = loss.name + "/grad",
                     .type = loss.type + "Grad",
                     .inputs = loss.inputs,
                     .outputs = {new_gradient(result)},
                     .attributes = {{"wrt", std::vector<std::int64_t>{0}}},
                     .phase = Phase::Backward,
                     .forward = builder_.add_op(loss)});
  }

  // One more share of the gradient of `of`.
  TensorId new_gradient(TensorId of) {
    const std::string name = graph_.tensor(of).name + "/grad";
    gradients_[of].push_back(builder_.add_tensor(like(of, name, TensorRole::Gradient)));
    return gradients_[of].back();
  }

  // The shares of a tensor's gradient as one tensor; an invalid id when there are none.
  TensorId gradient_of(TensorId id, OpId forward) {
    std::vector<TensorId>& shares = gradients_[id];
    if (shares.size() <= 1) return shares.empty() ? TensorId() : shares[0];
    builder_.add_op({.name = graph_.tensor(id).name + "/grad_sum",
                     .type = "AddN",
                     .inputs = std::exchange(shares, {}),
                     .outputs = {new_gradient(id)},
                     .phase = Phase::Backward,
                     .forward = forward});
    return shares[0];
  }

  void differentiate(OpId id) {
    const Op& op = graph_.op(id);
    current_ = id;
    reader_.emplace(graph_, op);
    output_gradients_.clear();
    for (const TensorId output : op.outputs) {
      const TensorId gradient = gradient_of(output, id);
      if (gradient.valid()) output_gradients_.push_back(gradient);
    }
    const OpRule& rule = rule_of(op.type);
    if (!output_gradients_.empty() && rule.gradient && !wanted().empty()) rule.gradient(*this);
  }

  const OpReader& forward() const override { return *reader_; }

  bool wants(std::size_t input) const override {
    const Op& op = graph_.op(current_);
    return input < op.inputs.size() && trains(op.inputs[input]) &&
           contains(rule_of(op.type).differentiable, input);
  }

  void add(std::string_view type, std::string_view name, const std::vector<Saved>& reads,
           const std::vector<std::size_t>& inputs) override {
    const Op& forward = builder_.op(current_);
    Op op = {.name = fmt::format("{}/{}", forward.name, name),
             .type = fmt::format("{}{}", forward.type, type),
             .inputs = output_gradients_,
             .attributes = forward.attributes,
             .phase = Phase::Backward,
             .forward = current_};
    op.attributes.emplace_back("wrt", std::vector<std::int64_t>(inputs.begin(), inputs.end()));
    for (const Saved& saved : reads) {
      const std::vector<TensorId>& from = saved.output ? forward.outputs : forward.inputs;
      if (saved.index < from.size() && from[saved.index].valid())
        op.inputs.push_back(from[saved.index]);
    }
    for (const std::size_t input : inputs)
      op.outputs.push_back(new_gradient(forward.inputs[input]));
    builder_.add_op(std::move(op));
  }

  void pass(std::size_t input) override {
    gradients_[graph_.op(current_).inputs[input]].push_back(output_gradients_[0]);
  }

  std::size_t save_output(std::string_view name, DataType type, Shape shape) override {
    Op& op = builder_.op(current_);
    op.outputs.push_back(builder_.add_tensor(
        {.name = fmt::format("{}/{}", op.name, name), .type = type, .shape = std::move(shape)}));
    return op.outputs.size() - 1;
  }

  void add_updates() {
    for (const TensorId parameter : graph_.tensors().ids()) {
      if (graph_.tensor(parameter).role != TensorRole::Parameter || !trains(parameter)) continue;
      const auto readers = graph_.consumers(parameter);
      const OpId reader = readers.empty() ? OpId() : readers[0];
      const TensorId gradient = gradient_of(parameter, reader);
      if (gradient.valid()) add_update(parameter, gradient, reader);
    }
  }

  void add_update(TensorId parameter, TensorId gradient, OpId reader) {
    const OptimizerRule& rule = optimizer_rule(optimizer_);
    const std::string& name = graph_.tensor(parameter).name;
    Op update = {.name = name + "/update",
                 .type = rule.update,
                 .inputs = {parameter, gradient},
                 .phase = Phase::Update,
                 .forward = reader};
    for (const std::string_view slot : rule.state) {
      update.inputs.push_back(builder_.add_tensor(
          like(parameter, fmt::format("{}/{}", name, slot), TensorRole::OptimizerState)));
    }
    builder_.add_op(std::move(update));
  }

  const Graph& graph_;
  Optimizer optimizer_;
  GraphBuilder builder_;
  std::vector<bool> trains_;                             // per tensor
  IdVector<TensorId, std::vector<TensorId>> gradients_;  // per tensor: its gradient's shares
  OpId current_;                                         // the forward op at hand
  std::optional<OpReader> reader_;                       // of the same
  std::vector<TensorId> output_gradients_;
};

}  // namespace

std::string_view name_of(Optimizer optimizer) { return optimizer_rule(optimizer).name; }

Optimizer optimizer_from(std::string_view name) {
  const auto found = std::ranges::find(rules, name, &OptimizerRule::name);
  if (found != rules.end()) return static_cast<Optimizer>(found - rules.begin());
  throw InputError("", "optimizer", fmt::format("\"{}\" is not known", name.substr(0, 64)),
                   "use sgd, momentum or adam");
}

Graph make_training_graph(const Graph& forward, Optimizer optimizer) {
  return TrainingGraph(forward, optimizer).run();
}

}  // namespace strato
