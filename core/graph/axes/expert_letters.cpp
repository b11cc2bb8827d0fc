#include "core/graph/axes/expert_letters.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace strato {
namespace {

constexpr int kDispatchedAxis = 1;  // of [batch, experts, capacity, size]

class ExpertFinder {
 public:
  explicit ExpertFinder(const Graph& graph)
      : graph_(graph), found_(graph.op_count(), kNoExperts), axis_(graph.tensor_count(), kAllOf) {}

  ExpertSplits find() {
    for (const Op& op : graph_.ops())
      if (op.type == "DispatchTokens" && op.attribute("wrt") == nullptr)
        for (const TensorId output : op.outputs) axis_[output] = kDispatchedAxis;
    if (std::ranges::all_of(axis_, [](int axis) { return axis == kAllOf; })) return found_;
    for (const OpId op : graph_.ops().ids())
      if (is_forward(op)) follow_inputs(op);
    for (std::size_t i = graph_.op_count(); i-- > 0;) find_weights(OpId(i));
    for (const OpId op : graph_.ops().ids())
      if (!is_forward(op)) graph_.op(op).attribute("wrt") ? follow_forward(op) : follow_inputs(op);
    return found_;
  }

 private:
  const std::vector<LetterSplit>& splits(OpId op) {
    const auto [known, fresh] = splits_.try_emplace(op);
    if (fresh) known->second = letter_splits(graph_, op);
    return known->second;
  }

  bool is_forward(OpId op) const {
    return graph_.op(op).phase == Phase::Forward || graph_.op(op).phase == Phase::Loss;
  }

  static bool is_divided(const LetterSplit& split) {
    return std::ranges::all_of(split.outputs, [](int axis) { return axis >= 0; });
  }

  void take(OpId op, std::size_t ordinal) {
    found_[op] = static_cast<std::int32_t>(ordinal);
    const LetterSplit& split = splits(op)[ordinal];
    const Op& of = graph_.op(op);
    for (std::size_t o = 0; o < of.outputs.size(); ++o) axis_[of.outputs[o]] = split.outputs[o];
    for (std::size_t i = 0; i < of.inputs.size(); ++i)
      if (of.inputs[i].valid() && split.inputs[i] >= 0 && split.inputs[i] < kSumOver &&
          graph_.tensor(of.inputs[i]).role == TensorRole::Parameter)
        axis_[of.inputs[i]] = split.inputs[i];
  }

  // The op's letter is that of the first of its inputs that experts divide.
  void follow_inputs(OpId op) {
    const Op& of = graph_.op(op);
    for (std::size_t i = 0; i < of.inputs.size(); ++i) {
      if (!of.inputs[i].valid() || axis_[of.inputs[i]] == kAllOf) continue;
      const std::vector<LetterSplit>& all = splits(op);
      const auto split = std::ranges::find_if(all, [&](const LetterSplit& each) {
        return each.inputs[i] == axis_[of.inputs[i]] && is_divided(each);
      });
      if (split != all.end()) take(op, static_cast<std::size_t>(split - all.begin()));
      return;
    }
  }

  void follow_forward(OpId op) {
    const OpId forward = graph_.op(op).forward;
    if (!forward.valid() || found_[forward] == kNoExperts) return;
    const char letter = splits(forward)[static_cast<std::size_t>(found_[forward])].letter;
    const std::vector<LetterSplit>& all = splits(op);
    const auto split = std::ranges::find(all, letter, &LetterSplit::letter);
    if (split != all.end() && is_divided(*split))
      take(op, static_cast<std::size_t>(split - all.begin()));
  }

  // The axis of experts along which all readers of an output need their part of it.
  std::optional<int> needed_axis(TensorId output) {
    std::optional<int> needed;
    for (const OpId reader : graph_.consumers(output)) {
      const Op& of = graph_.op(reader);
      if (!is_forward(reader)) continue;
      if (found_[reader] == kNoExperts) return std::nullopt;
      const LetterSplit& split = splits(reader)[static_cast<std::size_t>(found_[reader])];
      for (std::size_t i = 0; i < of.inputs.size(); ++i) {
        if (of.inputs[i] != output) continue;
        if (split.inputs[i] < 0 || needed.value_or(split.inputs[i]) != split.inputs[i])
          return std::nullopt;
        needed = split.inputs[i];
      }
    }
    return needed;
  }

  // What makes weights of parameters, and does not carry the batch.
  void find_weights(OpId op) {
    const Op& of = graph_.op(op);
    if (found_[op] != kNoExperts || of.phase != Phase::Forward || of.outputs.size() != 1 ||
        graph_.tensor(of.outputs[0]).batch.kind != BatchKind::Whole)
      return;
    const std::optional<int> axis = needed_axis(of.outputs[0]);
    if (!axis) return;
    const std::vector<LetterSplit>& all = splits(op);
    const auto split = std::ranges::find_if(
        all, [&](const LetterSplit& each) { return each.outputs.front() == *axis; });
    if (split != all.end()) take(op, static_cast<std::size_t>(split - all.begin()));
  }

  const Graph& graph_;
  ExpertSplits found_;
  IdVector<TensorId, int> axis_;  // that experts divide, of what they read or make; or kAllOf
  std::map<OpId, std::vector<LetterSplit>> splits_;
};

}  // namespace

ExpertSplits expert_splits(const Graph& graph) { return ExpertFinder(graph).find(); }

std::int64_t experts_of(const Graph& graph) {
  std::int64_t count = 0;
  for (const Op& op : graph.ops())
    if (op.type == "DispatchTokens" && op.attribute("wrt") == nullptr)
      count = std::gcd(count, op.integer("experts", 1));
  return count;
}

}  // namespace strato
