#include "plugins/importers/onnx/unroll/unroll.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "plugins/importers/onnx/unroll/write_out.h"

namespace strato::onnx_import {
namespace {

constexpr std::int64_t kMaxRounds = 20'000;  // of one loop

// ---- Options may say which branch an If takes and how often a Loop runs.

// A node that was written out of bodies has their names before its own.
std::string name_in_file(const Scope& scope, const onnx::NodeProto& node) {
  const std::string here = given_name(node);
  std::string longest;
  for (const std::string& name : scope.binding.control_flow) {
    const bool same = here == name || here.ends_with("/" + name);
    if (same && name.size() > longest.size()) longest = name;
  }
  return longest;
}

// What an option says of the node; nothing: none does.
std::optional<std::int64_t> decision_of(const Scope& scope, const onnx::NodeProto& node) {
  const auto& decisions = scope.binding.decisions;
  if (decisions.empty()) return std::nullopt;
  const auto given = decisions.find(name_in_file(scope, node));
  return given == decisions.end() ? std::nullopt : std::optional(given->second);
}

// Says what a person can do about a branch or a loop that its first input decides.
std::string remedy_for(const Scope& scope, const onnx::NodeProto& node) {
  const Entry* entry = scope.tensors.find(input_of(node, 0));
  const bool lone = entry != nullptr && entry->role == TensorRole::Input && entry->batch_axis < 0 &&
                    element_count(entry->facts.shape) == 1 && !is_floating(entry->facts.type);
  const bool branches = node.op_type() == "If";
  if (lone)
    return branches ? fmt::format("choose with --set-dim {}=1 or =0", entry->name)
                    : fmt::format("give it with --set-dim {}=N", entry->name);
  const std::string name = name_in_file(scope, node);
  if (name.empty()) return kExportAgain;
  return branches ? fmt::format("choose with --set-dim {}=1 (then) or =0 (else)", name)
                  : fmt::format("give its rounds with --set-dim {}=N", name);
}

void run_if(Scope& scope, const onnx::NodeProto& node) {
  std::optional<std::int64_t> decided = decision_of(scope, node);
  if (!decided) decided = scope.tensors.known_number(input_of(node, 0));
  if (!decided) scope.refuse(node, "branches on data", remedy_for(scope, node));
  run_branch(scope, node, body_of(scope, node, *decided != 0 ? "then_branch" : "else_branch"));
}

// ---- loops

[[noreturn]] void refuse_body(const Scope& scope, const onnx::NodeProto& node) {
  scope.refuse(node, "does not fit its body", kExportAgain);
}

// A loop that is being written out.
struct Unrolling {
  // `results`: how many tensors each round makes beside the next state.
  Unrolling(Scope& scope, const onnx::NodeProto& node, const onnx::GraphProto& body, int results)
      : scope(scope),
        node(node),
        body(body),
        prefix(scope.expansion.prefix_for(node)),
        nodes(add_shared(scope, body, prefix, shared)),
        results(static_cast<std::size_t>(results)) {}

  std::string name_of(std::int64_t round) const { return fmt::format("{}/{}", prefix, round); }

  // Runs the body under the names of its inputs, which it returns with those of what it makes. Its
  // outputs from `first` on are the next state, then the round's results.
  Renaming run(std::int64_t round, Renaming names, int first) {
    run_body(scope, node, nodes, name_of(round), names);
    const auto next = [&] { return new_name(names, body.output(first++).name()); };
    for (std::string& name : state) name = next();
    for (Names& result : results) result.push_back(next());
    return names;
  }

  // Gives the node's outputs the last state and the results, stacked.
  void finish(int first) {
    const auto states = static_cast<int>(state.size());
    const int outputs = states + static_cast<int>(results.size());
    for (int i = 0; i < node.output_size() && i < outputs; ++i) {
      if (node.output(i).empty()) continue;
      if (i < states) {
        scope.tensors.give_name(node, state[static_cast<std::size_t>(i)], node.output(i));
        continue;
      }
      Names& slices = results[static_cast<std::size_t>(i - states)];
      if (listed(node, "scan_output_directions", i - states) != 0) std::ranges::reverse(slices);
      stack(scope, node, body.output(first + i), slices,
            listed(node, "scan_output_axes", i - states), node.output(i));
    }
  }

  // The names of a round's inputs: the state, from input `first` of the body on.
  Renaming bound_state(int first) const {
    Renaming names = shared;
    for (const std::string& name : state) names[body.input(first++).name()] = name;
    return names;
  }

  Scope& scope;
  const onnx::NodeProto& node;
  const onnx::GraphProto& body;
  std::string prefix;
  Renaming shared;             // names that all rounds have in common
  Nodes nodes;                 // those that every round repeats
  Names state;                 // goes from round to round
  std::vector<Names> results;  // per result, a tensor of each round
};

// Inputs: how many rounds at most, whether there is a first one, what goes from round to round. The
// body makes whether there is another round, what goes on, and tensors to be stacked. A loop whose
// end depends on data runs as often as it can, if an option does not say how often.
void run_loop(Scope& scope, const onnx::NodeProto& node) {
  Tensors& tensors = scope.tensors;
  const onnx::GraphProto& body = body_of(scope, node, "body");
  const int states = std::max(0, node.input_size() - 2);
  const int stacked = body.output_size() - 1 - states;
  if (body.input_size() != states + 2 || stacked < 0) refuse_body(scope, node);
  const std::optional<std::int64_t> given = decision_of(scope, node);
  const std::optional<std::int64_t> rounds =
      given ? given : tensors.known_number(input_of(node, 0));
  Unrolling loop(scope, node, body, stacked);
  std::string condition = input_of(node, 1);
  if (condition.empty())
    tensors.add_value(condition = loop.prefix + "/first", scalar(DataType::Bool, 1));
  loop.state.assign(node.input().begin() + std::min(2, node.input_size()), node.input().end());
  for (std::int64_t round = 0; !rounds || round < *rounds; ++round) {
    const std::optional<std::int64_t> another = tensors.known_number(condition);
    if (another == 0 && !given) break;
    const bool endless = !another && rounds > kMaxRounds;  // "while" of exporters
    const bool open = endless || (!rounds && (!another || has_input(node, 0)));
    if (open || round == kMaxRounds)
      scope.refuse(node, open ? "loops as long as data say" : "runs too many rounds",
                   remedy_for(scope, node));
    const std::string number = loop.name_of(round) + "/round";
    tensors.add_value(number, whole_number(round));
    Renaming names = loop.bound_state(2);
    names[body.input(0).name()] = number;
    names[body.input(1).name()] = condition;
    condition = new_name(loop.run(round, std::move(names), 1), body.output(0).name());
  }
  loop.finish(1);
}

struct ScannedInput {
  std::string name;
  std::int64_t axis = 0, extent = 0;
  bool backwards = false;
};

std::vector<ScannedInput> scanned_inputs(const Scope& scope, const onnx::NodeProto& node,
                                         int states) {
  const Entries inputs = scope.tensors.inputs_of(node);
  std::vector<ScannedInput> scanned;
  for (int i = 0; states + i < node.input_size(); ++i) {
    const Entry* input = inputs[static_cast<std::size_t>(states + i)];
    const std::int64_t rank = input == nullptr ? 0 : std::ssize(input->facts.shape);
    std::int64_t axis = listed(node, "scan_input_axes", i);
    axis += axis < 0 ? rank : 0;
    if (axis < 0 || axis >= rank)
      scope.refuse(node, "scans an axis that is not there", kExportAgain);
    scanned.push_back({node.input(states + i), axis,
                       input->facts.shape[static_cast<std::size_t>(axis)],
                       listed(node, "scan_input_directions", i) != 0});
  }
  return scanned;
}

// Inputs: states, then tensors of which each round gets one slice. The body makes the next states
// and slices of the results.
void run_scan(Scope& scope, const onnx::NodeProto& node) {
  const onnx::GraphProto& body = body_of(scope, node, "body");
  if (scope.model.opsets.at("") < 9)
    scope.refuse(node, "is of an op set before 9: not supported",
                 "export the model with opset_version 9 or later");
  const auto scans = static_cast<int>(
      std::clamp<std::int64_t>(integer(node, "num_scan_inputs", 0), 0, node.input_size()));
  const int states = node.input_size() - scans;
  const int stacked = body.output_size() - states;
  if (scans < 1 || body.input_size() != node.input_size() || stacked < 0) refuse_body(scope, node);
  const std::vector<ScannedInput> scanned = scanned_inputs(scope, node, states);
  const std::int64_t rounds = std::ranges::min(scanned, {}, &ScannedInput::extent).extent;
  if (rounds > kMaxRounds) scope.refuse(node, "runs too many rounds", "give a shorter sequence");
  Unrolling loop(scope, node, body, stacked);
  loop.state.assign(node.input().begin(), node.input().begin() + states);
  for (std::int64_t round = 0; round < rounds; ++round) {
    Renaming names = loop.bound_state(0);
    for (int i = 0; i < scans; ++i) {
      const ScannedInput& input = scanned[static_cast<std::size_t>(i)];
      const std::string slice = fmt::format("{}/slice_{}", loop.name_of(round), i);
      const std::int64_t at = input.backwards ? rounds - 1 - round : round;
      scope.tensors.add_value(slice + "/at", whole_number(at));
      run_made(scope, "Gather", {input.name, slice + "/at"}, {slice}, input.axis);
      names[body.input(states + i).name()] = slice;
    }
    loop.run(round, std::move(names), 0);
  }
  loop.finish(0);
}

// Inputs: lists, of which each round gets one tensor, and tensors that every round gets. The
// outputs are lists.
void run_sequence_map(Scope& scope, const onnx::NodeProto& node) {
  Tensors& tensors = scope.tensors;
  const onnx::GraphProto& body = body_of(scope, node, "body");
  if (body.input_size() != node.input_size() || body.output_size() < node.output_size())
    refuse_body(scope, node);
  const std::size_t rounds = tensors.list_at(node, 0).size();
  Unrolling loop(scope, node, body, node.output_size());
  for (std::size_t round = 0; round < rounds; ++round) {
    Renaming names = loop.shared;
    for (int i = 0; i < node.input_size(); ++i) {
      const Entries* list = tensors.find_list(node.input(i));
      if (list != nullptr && round >= list->size())
        scope.refuse(node, "its lists have different lengths", kExportAgain);
      names[body.input(i).name()] =
          list == nullptr ? node.input(i) : tensors.name_of(*(*list)[round]);
    }
    loop.run(static_cast<std::int64_t>(round), std::move(names), 0);
  }
  for (int i = 0; i < node.output_size(); ++i) {
    Entries list;
    for (const std::string& made : loop.results[static_cast<std::size_t>(i)]) {
      list.push_back(tensors.find(made));
      if (list.back() == nullptr) scope.refuse(node, "its body makes no tensor", kExportAgain);
    }
    tensors.add_list(node, node.output(i), std::move(list));
  }
}

}  // namespace

bool run_control_flow(Scope& scope, const onnx::NodeProto& node) {
  using Run = void (*)(Scope&, const onnx::NodeProto&);
  static const std::unordered_map<std::string_view, Run> kinds = {
      {"If", run_if}, {"Loop", run_loop}, {"Scan", run_scan}, {"SequenceMap", run_sequence_map}};
  const auto kind = kinds.find(node.op_type());
  if (kind == kinds.end()) return false;
  kind->second(scope, node);
  return true;
}

}  // namespace strato::onnx_import
