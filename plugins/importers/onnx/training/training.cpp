#include "plugins/importers/onnx/training/training.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "core/base/error.h"
#include "plugins/importers/onnx/read/node_view.h"

namespace strato::onnx_import {
namespace {

using Names = std::unordered_set<std::string>;

bool is_preview(const onnx::NodeProto& node) {
  return node.domain() == "ai.onnx.preview.training" || node.domain() == "ai.onnx.training";
}

// Writes parameters, or adds up what will.
bool is_update(const onnx::NodeProto& node) {
  const std::string& type = node.op_type();
  if (is_preview(node)) return type == "Adagrad" || type == "Adam" || type == "Momentum";
  static constexpr std::array<std::string_view, 3> others = {
      "InPlaceAccumulator", "InPlaceAccumulatorV2", "GradientAccumulator"};
  return type.ends_with("Optimizer") || type.ends_with("OptimizerV2") ||
         std::ranges::find(others, type) != others.end();
}

// "ReluGrad", "SoftmaxGrad_13", "BiasGeluGrad_dX".
bool is_gradient(const onnx::NodeProto& node) {
  const std::string& type = node.op_type();
  if (is_preview(node) && type == "Gradient") return true;
  const std::size_t at = type.rfind("Grad");
  if (at == std::string::npos || at == 0) return false;
  const std::string_view rest = std::string_view(type).substr(at + 4);
  return rest.empty() || rest.front() == '_' || rest == "V2";
}

bool is_yield(const onnx::NodeProto& node) { return node.op_type() == "YieldOp"; }

// ONNX Runtime says so of each op that its gradient builder adds.
bool is_said_backward(const onnx::NodeProto& node) { return node.doc_string() == "Backward pass"; }

// Calls f with each name that the node, or one in its bodies, reads.
template <class F>
void for_each_read(const onnx::NodeProto& node, const F& f) {
  for (const std::string& input : node.input())
    if (!input.empty()) f(input);
  for (const auto& attribute : node.attribute()) {
    if (!attribute.has_g()) continue;
    for (const auto& output : attribute.g().output()) f(output.name());
    for (const onnx::NodeProto& inner : attribute.g().node()) for_each_read(inner, f);
  }
}

bool reads_any(const onnx::NodeProto& node, const Names& names) {
  bool found = false;
  for_each_read(node, [&](const std::string& name) { found = found || names.contains(name); });
  return found;
}

template <class List, class F>
void remove_if(List& list, F unwanted) {
  list.erase(std::remove_if(list.begin(), list.end(), unwanted), list.end());
}

class Separation {
 public:
  explicit Separation(Model& model) : model_(model), graph_(*model.proto.mutable_graph()) {
    for (const auto& function : model.proto.functions()) functions_.insert(function.name());
    for (const auto& input : graph_.input()) given_.insert(input.name());
    for (const auto& initializer : graph_.initializer()) given_.insert(initializer.name());
  }

  std::vector<std::string> run() {
    mark_backward();
    if (std::ranges::none_of(backward_, [](bool is) { return is; })) return {};
    find_results();
    if (results_.empty()) refuse_without_forward();
    mark_needed();
    find_trained();
    std::vector<std::string> told = remarks();
    remove();
    if (!trained_.empty()) model_.trained = {trained_.begin(), trained_.end()};
    return told;
  }

 private:
  bool is_of_training(const onnx::NodeProto& node) const {
    const bool known = is_gradient(node) || is_update(node) || is_yield(node);
    return known && !functions_.contains(node.op_type());
  }

  // What depends on YieldOp, a gradient or an update, too. Files need not be in order.
  void mark_backward() {
    backward_.assign(static_cast<std::size_t>(graph_.node_size()), false);
    for (bool more = true; more;) {
      more = false;
      for (int i = 0; i < graph_.node_size(); ++i) {
        auto&& marked = backward_[static_cast<std::size_t>(i)];
        const onnx::NodeProto& node = graph_.node(i);
        const bool backward = is_of_training(node) || is_said_backward(node);
        if (marked || (!backward && !reads_any(node, made_backward_))) continue;
        marked = more = true;
        made_backward_.insert(node.output().begin(), node.output().end());
      }
    }
    made_backward_.erase("");
  }

  bool is_backward(int node) const { return backward_[static_cast<std::size_t>(node)]; }
  bool is_needed(int node) const { return needed_[static_cast<std::size_t>(node)]; }

  void find_results() {
    for (const onnx::NodeProto& node : graph_.node()) {
      if (!is_yield(node)) continue;
      yields_ = true;
      const auto aside = integer_list(node, "non_differentiable_outputs");
      for (int i = 0; i < node.input_size(); ++i)
        if (!aside || std::ranges::find(*aside, i) == aside->end())
          results_.push_back(node.input(i));
    }
    for (const auto& output : graph_.output()) {
      const bool kept = !yields_ && !made_backward_.contains(output.name());
      if (kept && !given_.contains(output.name())) results_.push_back(output.name());
    }
  }

  [[noreturn]] void refuse_without_forward() const {
    const bool updates = std::ranges::all_of(graph_.node(), [](const onnx::NodeProto& node) {
      return is_update(node) || node.op_type() == "SequenceConstruct";
    });
    if (updates)
      throw InputError(model_.file, "graph",
                       fmt::format("holds an optimizer's update and no model ({})", kinds()),
                       "plan the model that it trains, and choose --optimizer");
    throw InputError(model_.file, "graph",
                     fmt::format("holds a backward pass and no forward one ({})", kinds()),
                     "give the file of the forward pass: gradients are added here");
  }

  void mark_needed() {
    Names needed(results_.begin(), results_.end());
    needed_.assign(backward_.size(), false);
    for (bool more = true; more;) {
      more = false;
      for (int i = graph_.node_size(); i-- > 0;) {
        auto&& marked = needed_[static_cast<std::size_t>(i)];
        const onnx::NodeProto& node = graph_.node(i);
        const auto wanted = [&](const std::string& output) { return needed.contains(output); };
        if (marked || is_backward(i) || std::ranges::none_of(node.output(), wanted)) continue;
        marked = more = true;
        for_each_read(node, [&](const std::string& name) { needed.insert(name); });
      }
    }
  }

  // Whose gradient is made, under the name that ONNX Runtime gives it, or asked for by name; and
  // what the forward pass reads and an update writes.
  void find_trained() {
    for (const std::string& name : given_)
      if (made_backward_.contains(name + "_grad")) trained_.insert(name);
    Names forward;
    for (int i = 0; i < graph_.node_size(); ++i)
      if (is_needed(i))
        for_each_read(graph_.node(i), [&](const std::string& name) { forward.insert(name); });
    for (int i = 0; i < graph_.node_size(); ++i) {
      const onnx::NodeProto& node = graph_.node(i);
      if (is_needed(i)) continue;
      if (const auto* names = is_gradient(node) ? find_attribute(node, "xs") : nullptr)
        for (const std::string& name : names->strings()) add_trained(name, forward);
      if (!is_update(node) && node.op_type() != "SequenceConstruct") continue;
      for (const std::string& name : node.input()) add_trained(name, forward);
    }
  }

  void add_trained(const std::string& name, const Names& forward) {
    if (given_.contains(name) && forward.contains(name)) trained_.insert(name);
  }

  // The types that tell what is left out, each with how often: "12 ReluGrad, 3 YieldOp".
  std::string kinds() const {
    std::map<std::string, int> counts;
    for (const onnx::NodeProto& node : graph_.node())
      if (is_of_training(node)) ++counts[node.op_type()];
    std::vector<std::pair<std::string, int>> kinds(counts.begin(), counts.end());
    std::ranges::stable_sort(kinds, std::greater<>(), &std::pair<std::string, int>::second);
    constexpr std::size_t kShown = 4;
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < std::min(kShown, kinds.size()); ++i)
      texts.push_back(fmt::format("{} {}", kinds[i].second, kinds[i].first));
    if (kinds.size() > kShown) texts.push_back("…");
    return fmt::format("{}", fmt::join(texts, ", "));
  }

  std::vector<std::string> remarks() const {
    const std::string kinds = this->kinds();
    return {fmt::format(
        "the file holds a whole training step; its own backward pass and updates, "
        "{} ops{}, are left out, and those of this program take their place, from "
        "{} \"{}\"{}",
        std::ranges::count(backward_, true), kinds.empty() ? "" : " (" + kinds + ")",
        yields_ ? "YieldOp's input" : "its result", results_.front(),
        results_.size() > 1 ? fmt::format(" and {} more", results_.size() - 1) : std::string())};
  }

  void remove() {
    Names kept(results_.begin(), results_.end()), dropped;
    onnx::GraphProto forward;
    for (int i = 0; i < graph_.node_size(); ++i) {
      const bool needed = is_needed(i);
      for_each_read(graph_.node(i),
                    [&](const std::string& name) { (needed ? kept : dropped).insert(name); });
      if (needed) *forward.add_node() = graph_.node(i);
    }
    *graph_.mutable_node() = std::move(*forward.mutable_node());
    const auto unwanted = [&](const auto& given) {
      return dropped.contains(given.name()) && !kept.contains(given.name());
    };
    remove_if(*graph_.mutable_input(), unwanted);
    remove_if(*graph_.mutable_initializer(), unwanted);
    set_outputs();
  }

  // Results that the file declares keep their declared types.
  void set_outputs() {
    onnx::GraphProto forward;
    for (const std::string& name : results_) {
      const auto found =
          std::ranges::find(graph_.output(), name, [](const auto& info) { return info.name(); });
      if (found != graph_.output().end())
        *forward.add_output() = *found;
      else
        forward.add_output()->set_name(name);
    }
    *graph_.mutable_output() = std::move(*forward.mutable_output());
  }

  Model& model_;
  onnx::GraphProto& graph_;
  Names functions_, given_;              // the model's functions; inputs and initializers
  std::vector<bool> backward_, needed_;  // by node
  Names made_backward_, trained_;
  std::vector<std::string> results_;
  bool yields_ = false;
};

bool is_loss(const onnx::NodeProto& node) {
  const std::string& type = node.op_type();
  return type.starts_with("SoftmaxCrossEntropy") || type.starts_with("SparseSoftmaxCrossEntropy") ||
         type == "NegativeLogLikelihoodLoss";
}

// ONNX Runtime makes such a graph beside that of training; it is the forward pass of the same step.
std::vector<std::string> remarks_on_loss(const onnx::GraphProto& graph) {
  Names results;
  for (const auto& output : graph.output()) results.insert(output.name());
  for (const onnx::NodeProto& node : graph.node()) {
    if (!is_loss(node) || node.output_size() == 0 || !results.contains(node.output(0))) continue;
    return {
        fmt::format("the file evaluates a loss of its own, \"{}\" ({}), without a backward "
                    "pass; gradients of that loss and updates are added here",
                    node.output(0), node.op_type())};
  }
  return {};
}

}  // namespace

Model read_forward_model(const std::filesystem::path& file, std::vector<std::string>& remarks) {
  Model model = read_model(file);
  remarks = leave_out_training(model);
  write_plain_forms(model);
  return model;
}

std::vector<std::string> leave_out_training(Model& model) {
  std::vector<std::string> told = Separation(model).run();
  if (told.empty()) told = remarks_on_loss(model.proto.graph());
  if (model.proto.training_info_size() > 0)
    told.emplace_back(
        "its training_info is left out: gradients and updates are those of this program");
  return told;
}

}  // namespace strato::onnx_import
