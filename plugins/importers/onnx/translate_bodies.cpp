// Nodes with nodes inside: functions are written out, decided branches taken, loops unrolled.
#include <algorithm>

#include "plugins/importers/onnx/newer_fields.h"
#include "plugins/importers/onnx/node_view.h"
#include "plugins/importers/onnx/order.h"
#include "plugins/importers/onnx/translator.h"

namespace strato::onnx_import {
namespace {

constexpr int kMaxNesting = 32;              // of functions and branches
constexpr std::int64_t kMaxRounds = 20'000;  // of one loop
constexpr std::size_t kMostSteps = 500'000;  // of all bodies; a step is about a kilobyte at most
constexpr const char* kExportAgain = "export the model again";

std::string input_of(const onnx::NodeProto& node, int slot) {
  return slot < node.input_size() ? node.input(slot) : std::string();
}

std::string new_name(const Renaming& names, const std::string& inside) {
  const auto found = names.find(inside);
  return found == names.end() ? inside : found->second;
}

std::int64_t listed(const onnx::NodeProto& node, std::string_view attribute, int i) {
  const auto list = integer_list(node, attribute);
  return list && i < static_cast<int>(list->size()) ? (*list)[static_cast<std::size_t>(i)] : 0;
}

}  // namespace

// ---- functions

bool Translator::inlined_function(const onnx::NodeProto& node, const std::string& domain) {
  const auto found = functions_.find(domain + ":" + node.op_type() + ":" + overload_of(node));
  if (found == functions_.end()) return false;
  const onnx::FunctionProto& function = *found->second;
  Renaming names;
  for (int i = 0; i < function.input_size(); ++i) names[function.input(i)] = input_of(node, i);
  Results results;
  for (int i = 0; i < function.output_size() && i < node.output_size(); ++i) {
    if (!node.output(i).empty()) results.emplace_back(function.output(i), node.output(i));
  }
  constexpr std::size_t kDefaultBytes = 512;
  charge(node, default_bytes(function) / kDefaultBytes);
  Nodes body = function.node();
  bind_attributes(body, with_defaults(node, function));
  run_body(node, body, std::move(names), results);
  return true;
}

void Translator::run_body(const onnx::NodeProto& node, const Nodes& body, const std::string& prefix,
                          Renaming& names) {
  if (++nesting_ > kMaxNesting) {
    fail(label_of(node), "functions or branches are nested too deeply",
         "inline them in the exporter");
  }
  charge_body(node, body, prefix);
  const Nodes nodes = renamed(body, prefix, names);
  run_nodes(nodes);
  --nesting_;
}

// Results that the body makes get the names that they have outside.
void Translator::run_body(const onnx::NodeProto& node, const Nodes& body, Renaming names,
                          const Results& results) {
  std::unordered_set<std::string> made;
  for (const auto& inner : body) made.insert(inner.output().begin(), inner.output().end());
  for (const auto& [inside, outside] : results) {
    if (made.contains(inside)) names.try_emplace(inside, outside);
  }
  run_body(node, body, unique_prefix(node), names);
  for (const auto& [inside, outside] : results) give_name(node, new_name(names, inside), outside);
}

// For the names inside a body. Op names may repeat.
std::string Translator::unique_prefix(const onnx::NodeProto& node) {
  std::string prefix = node.name().empty() ? unnamed(node) : node.name();
  if (!prefixes_.insert(prefix).second) prefix += "_" + std::to_string(nodes_);
  return prefix;
}

void Translator::charge(const onnx::NodeProto& node, std::size_t steps) {
  written_out_ += steps;
  if (written_out_ <= kMostSteps) return;
  fail(label_of(node), "its rounds, branches and functions make too many ops when written out",
       "export the model with shorter loops");
}

// Tensors, their names, what nodes hold, and the names that are looked up for each round.
void Translator::charge_body(const onnx::NodeProto& node, const Nodes& body,
                             const std::string& prefix) {
  constexpr std::size_t kNameBytes = 128, kNodeBytes = 512, kInputs = 8;
  std::size_t steps = 1 + prefix.size() / kNameBytes;
  for (const onnx::NodeProto& inner : body) {
    steps += 1 + prefix.size() / kNameBytes + inner.ByteSizeLong() / kNodeBytes +
             static_cast<std::size_t>(inner.output_size()) +
             static_cast<std::size_t>(inner.input_size()) / kInputs;
  }
  charge(node, steps);
}

Nodes Translator::add_shared(const onnx::GraphProto& body, const std::string& prefix,
                             Renaming& names) {
  add_body_initializers(body, prefix, names);
  Nodes rest;
  for (const onnx::NodeProto& inner : body.node()) {
    const bool constant = inner.op_type() == "Constant" && inner.domain().empty() &&
                          inner.output_size() == 1 && !inner.output(0).empty();
    if (!constant) {
      *rest.Add() = inner;
      continue;
    }
    onnx::NodeProto once = inner;
    once.set_output(0, prefix + "/" + inner.output(0));
    names[inner.output(0)] = once.output(0);
    run_node(once);
  }
  return rest;
}

// ---- control flow

bool Translator::control_flow(const onnx::NodeProto& node) {
  const std::string& type = node.op_type();
  if (type == "If") return run_if(node), true;
  if (type == "Loop") return run_loop(node), true;
  if (type == "Scan") return run_scan(node), true;
  if (type == "SequenceMap") return run_sequence_map(node), true;
  return false;
}

const onnx::GraphProto& Translator::body_of(const onnx::NodeProto& node,
                                            std::string_view attribute) const {
  const onnx::AttributeProto* body = find_attribute(node, attribute);
  if (body == nullptr || !body->has_g())
    fail(label_of(node), "lacks its " + std::string(attribute), kExportAgain);
  return body->g();
}

void Translator::add_body_initializers(const onnx::GraphProto& body, const std::string& prefix,
                                       Renaming& names) {
  for (const auto& tensor : body.initializer()) {
    names[tensor.name()] = prefix + "/" + tensor.name();
    add_initializer(tensor, names[tensor.name()]);
  }
}

// What a person can do about a branch or a loop that an input decides.
std::string Translator::data_decides(const onnx::NodeProto& node, const std::string& input) const {
  const auto found = out_.by_name.find(input);
  const Entry* entry = found != out_.by_name.end() ? found->second : nullptr;
  const bool lone = entry != nullptr && entry->role == TensorRole::Input && entry->batch_axis < 0 &&
                    element_count(entry->facts.shape) == 1 && !is_floating(entry->facts.type);
  const bool branches = node.op_type() == "If";
  if (lone && branches) return "choose with --set-dim " + entry->name + "=1 or =0";
  if (lone) return "give it with --set-dim " + entry->name + "=N";
  const std::string name = name_in_file(node);
  if (name.empty()) return kExportAgain;
  return branches ? "choose with --set-dim " + name + "=1 (then) or =0 (else)"
                  : "give its rounds with --set-dim " + name + "=N";
}

// Bodies that are written out put their own names before it.
std::string Translator::name_in_file(const onnx::NodeProto& node) const {
  const std::string here = decision_name(node);
  std::string longest;
  for (const std::string& name : binding_.control_flow) {
    const bool same = here == name || here.ends_with("/" + name);
    if (same && name.size() > longest.size()) longest = name;
  }
  return longest;
}

std::optional<std::int64_t> Translator::decision(const onnx::NodeProto& node) const {
  if (binding_.decisions.empty()) return std::nullopt;
  const auto given = binding_.decisions.find(name_in_file(node));
  return given == binding_.decisions.end() ? std::nullopt : std::optional(given->second);
}

void Translator::run_if(const onnx::NodeProto& node) {
  std::optional<std::int64_t> decided = decision(node);
  if (!decided) decided = known_number(input_of(node, 0));
  if (!decided) {
    fail(label_of(node), "branches on data", data_decides(node, input_of(node, 0)));
  }
  const onnx::GraphProto& branch = body_of(node, *decided != 0 ? "then_branch" : "else_branch");
  Renaming names;
  add_body_initializers(branch, unnamed(node), names);
  Results results;
  for (int i = 0; i < branch.output_size() && i < node.output_size(); ++i) {
    if (!node.output(i).empty()) results.emplace_back(branch.output(i).name(), node.output(i));
  }
  run_body(node, branch.node(), std::move(names), results);
}

// Inputs: how many rounds at most, whether there is a first one, what goes from round to round. The
// body makes whether there is another round, what goes on, and tensors to be stacked. A loop whose
// end depends on data runs as often as it can, if an option does not say how often.
void Translator::run_loop(const onnx::NodeProto& node) {
  const onnx::GraphProto& body = body_of(node, "body");
  const int carried = std::max(0, node.input_size() - 2);
  const int stacked = body.output_size() - 1 - carried;
  if (body.input_size() != carried + 2 || stacked < 0)
    fail(label_of(node), "does not fit its body", kExportAgain);
  const std::optional<std::int64_t> given = decision(node);
  const std::optional<std::int64_t> rounds = given ? given : known_number(input_of(node, 0));
  const std::string prefix = unique_prefix(node);
  Renaming shared;
  const Nodes nodes = add_shared(body, prefix, shared);
  std::string condition = input_of(node, 1);
  if (condition.empty()) add_value(condition = prefix + "/first", scalar(DataType::Bool, 1));
  std::vector<std::string> state(node.input().begin() + std::min(2, node.input_size()),
                                 node.input().end());
  std::vector<std::vector<std::string>> stacks(static_cast<std::size_t>(stacked));
  for (std::int64_t round = 0; !rounds || round < *rounds; ++round) {
    const std::optional<std::int64_t> another = known_number(condition);
    if (another == 0 && !given) break;
    const bool endless = !another && rounds > kMaxRounds;  // "while" of exporters
    const bool open = endless || (!rounds && (!another || has_input(node, 0)));
    if (open || round == kMaxRounds) {
      fail(label_of(node), open ? "loops as long as data say" : "runs too many rounds",
           data_decides(node, input_of(node, 0)));
    }
    const std::string here = prefix + "/" + std::to_string(round);
    Renaming names = shared;
    add_value(here + "/round", scalar(DataType::I64, static_cast<double>(round)));
    names[body.input(0).name()] = here + "/round";
    names[body.input(1).name()] = condition;
    for (int i = 0; i < carried; ++i)
      names[body.input(2 + i).name()] = state[static_cast<std::size_t>(i)];
    run_body(node, nodes, here, names);
    const auto result = [&](int i) { return new_name(names, body.output(i).name()); };
    condition = result(0);
    for (int i = 0; i < carried; ++i) state[static_cast<std::size_t>(i)] = result(1 + i);
    for (int i = 0; i < stacked; ++i)
      stacks[static_cast<std::size_t>(i)].push_back(result(1 + carried + i));
  }
  for (int i = 0; i < node.output_size() && i < carried + stacked; ++i) {
    if (node.output(i).empty()) continue;
    if (i < carried) {
      give_name(node, state[static_cast<std::size_t>(i)], node.output(i));
    } else {
      stack(node, body.output(1 + i), stacks[static_cast<std::size_t>(i - carried)], 0,
            node.output(i));
    }
  }
}

// Inputs: states, then tensors of which each round gets one slice. The body makes the next states
// and slices of the results.
void Translator::run_scan(const onnx::NodeProto& node) {
  const onnx::GraphProto& body = body_of(node, "body");
  const auto opset = model_.opsets.find("");
  if (opset == model_.opsets.end() || opset->second < 9) {
    fail(label_of(node), "is of an op set before 9: not supported",
         "export the model with opset_version 9 or later");
  }
  const auto scanned = static_cast<int>(
      std::clamp<std::int64_t>(integer(node, "num_scan_inputs", 0), 0, node.input_size()));
  const int states = node.input_size() - scanned;
  const int stacked = body.output_size() - states;
  if (scanned < 1 || body.input_size() != node.input_size() || stacked < 0)
    fail(label_of(node), "does not fit its body", kExportAgain);
  const Entries inputs = inputs_of(node);
  std::vector<std::int64_t> axes;
  std::int64_t rounds = kMaxRounds + 1;
  for (int i = 0; i < scanned; ++i) {
    const Entry* input = inputs[static_cast<std::size_t>(states + i)];
    const auto rank = input == nullptr ? 0 : static_cast<std::int64_t>(input->facts.shape.size());
    std::int64_t axis = listed(node, "scan_input_axes", i);
    axis += axis < 0 ? rank : 0;
    if (axis < 0 || axis >= rank)
      fail(label_of(node), "scans an axis that is not there", kExportAgain);
    axes.push_back(axis);
    rounds = std::min(rounds, input->facts.shape[static_cast<std::size_t>(axis)]);
  }
  if (rounds > kMaxRounds) fail(label_of(node), "runs too many rounds", "give a shorter sequence");
  const std::string prefix = unique_prefix(node);
  Renaming shared;
  const Nodes nodes = add_shared(body, prefix, shared);
  std::vector<std::string> state(node.input().begin(), node.input().begin() + states);
  std::vector<std::vector<std::string>> stacks(static_cast<std::size_t>(stacked));
  for (std::int64_t round = 0; round < rounds; ++round) {
    const std::string here = prefix + "/" + std::to_string(round);
    Renaming names = shared;
    for (int i = 0; i < states; ++i)
      names[body.input(i).name()] = state[static_cast<std::size_t>(i)];
    for (int i = 0; i < scanned; ++i) {
      const bool backwards = listed(node, "scan_input_directions", i) != 0;
      const std::string slice = here + "/slice_" + std::to_string(i);
      const std::int64_t at = backwards ? rounds - 1 - round : round;
      add_value(slice + "/at", scalar(DataType::I64, static_cast<double>(at)));
      run_made("Gather", {node.input(states + i), slice + "/at"}, {slice},
               axes[static_cast<std::size_t>(i)]);
      names[body.input(states + i).name()] = slice;
    }
    run_body(node, nodes, here, names);
    for (int i = 0; i < states; ++i)
      state[static_cast<std::size_t>(i)] = new_name(names, body.output(i).name());
    for (int i = 0; i < stacked; ++i)
      stacks[static_cast<std::size_t>(i)].push_back(
          new_name(names, body.output(states + i).name()));
  }
  for (int i = 0; i < node.output_size() && i < states + stacked; ++i) {
    if (node.output(i).empty()) continue;
    if (i < states) {
      give_name(node, state[static_cast<std::size_t>(i)], node.output(i));
      continue;
    }
    std::vector<std::string>& slices = stacks[static_cast<std::size_t>(i - states)];
    if (listed(node, "scan_output_directions", i - states) != 0)
      std::reverse(slices.begin(), slices.end());
    stack(node, body.output(i), slices, listed(node, "scan_output_axes", i - states),
          node.output(i));
  }
}

void Translator::stack(const onnx::NodeProto& node, const onnx::ValueInfoProto& of,
                       const std::vector<std::string>& rounds, std::int64_t axis,
                       const std::string& name) {
  if (rounds.empty()) {  // no elements
    const auto& type = of.type().tensor_type();
    Shape shape;
    for (const auto& dim : type.shape().dim())
      shape.push_back(std::max<std::int64_t>(dim.dim_value(), 1));
    shape.insert(shape.begin(), 0);
    add(name, TensorRole::Constant,
        {data_type_of(type.elem_type()).value_or(DataType::F32), std::move(shape), nullptr});
    return;
  }
  std::vector<std::string> slices;
  for (const std::string& slice : rounds) {
    if (sequences_.contains(slice))
      fail(label_of(node), "stacks lists of tensors", "export the model without sequences");
    const std::string one = name + "/" + std::to_string(slices.size());
    run_made("Unsqueeze", {slice}, {one}, {}, {axis});
    slices.push_back(one);
  }
  run_made("Concat", slices, {name}, axis);
}

void Translator::run_sequence_map(const onnx::NodeProto& node) {
  const onnx::GraphProto& body = body_of(node, "body");
  if (body.input_size() != node.input_size() || body.output_size() < node.output_size())
    fail(label_of(node), "does not fit its body", kExportAgain);
  const std::size_t rounds = sequence_at(node, 0).size();
  const std::string prefix = unique_prefix(node);
  Renaming shared;
  const Nodes nodes = add_shared(body, prefix, shared);
  std::vector<Entries> lists(static_cast<std::size_t>(node.output_size()));
  for (std::size_t round = 0; round < rounds; ++round) {
    Renaming names = shared;
    for (int i = 0; i < node.input_size(); ++i) {
      const auto list = sequences_.find(node.input(i));
      if (list != sequences_.end() && round >= list->second.size())
        fail(label_of(node), "its lists have different lengths", kExportAgain);
      names[body.input(i).name()] =
          list == sequences_.end() ? node.input(i) : name_of(*list->second[round]);
    }
    run_body(node, nodes, prefix + "/" + std::to_string(round), names);
    for (int i = 0; i < node.output_size(); ++i) {
      const auto made = out_.by_name.find(new_name(names, body.output(i).name()));
      if (made == out_.by_name.end())
        fail(label_of(node), "its body makes no tensor", kExportAgain);
      lists[static_cast<std::size_t>(i)].push_back(made->second);
    }
  }
  for (int i = 0; i < node.output_size(); ++i)
    keep_list(node, node.output(i), std::move(lists[static_cast<std::size_t>(i)]));
}

}  // namespace strato::onnx_import
