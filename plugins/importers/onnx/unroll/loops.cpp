#include "plugins/importers/onnx/unroll/loops.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace strato::onnx_import {
namespace {

constexpr std::int64_t kMaxRounds = 20'000;  // of one loop

Value lone(std::int64_t number) { return scalar(DataType::I64, static_cast<double>(number)); }

void bind_state(const onnx::GraphProto& body, int first, const std::vector<std::string>& state,
                Renaming& names) {
  for (const std::string& name : state) names[body.input(first++).name()] = name;
}

}  // namespace

Loops::Loops(const Model& model, const Binding& binding, Tensors& tensors, Expansion& expansion,
             Bodies& bodies, MadeNodes& made)
    : file_(model.file),
      opset_(model.opsets.at("")),
      tensors_(tensors),
      expansion_(expansion),
      decisions_(binding, tensors),
      bodies_(bodies),
      made_(made) {}

bool Loops::run(const onnx::NodeProto& node) {
  const std::string& type = node.op_type();
  if (type == "If") return run_if(node), true;
  if (type == "Loop") return run_loop(node), true;
  if (type == "Scan") return run_scan(node), true;
  if (type == "SequenceMap") return run_sequence_map(node), true;
  return false;
}

void Loops::run_if(const onnx::NodeProto& node) {
  std::optional<std::int64_t> decided = decisions_.find(node);
  if (!decided) decided = tensors_.known_number(input_of(node, 0));
  if (!decided) refuse(file_, node, "branches on data", decisions_.remedy(node, input_of(node, 0)));
  const char* branch = *decided != 0 ? "then_branch" : "else_branch";
  bodies_.run_branch(node, bodies_.body_of(node, branch));
}

// Inputs: how many rounds at most, whether there is a first one, what goes from round to round. The
// body makes whether there is another round, what goes on, and tensors to be stacked. A loop whose
// end depends on data runs as often as it can, if an option does not say how often.
void Loops::run_loop(const onnx::NodeProto& node) {
  const onnx::GraphProto& body = bodies_.body_of(node, "body");
  const int states = std::max(0, node.input_size() - 2);
  const int stacked = body.output_size() - 1 - states;
  if (body.input_size() != states + 2 || stacked < 0)
    refuse(file_, node, "does not fit its body", kExportAgain);
  const std::optional<std::int64_t> given = decisions_.find(node);
  const std::optional<std::int64_t> rounds =
      given ? given : tensors_.known_number(input_of(node, 0));
  Unrolling loop = begin(node, body, stacked);
  std::string condition = input_of(node, 1);
  if (condition.empty())
    tensors_.add_value(condition = loop.prefix + "/first", scalar(DataType::Bool, 1));
  loop.state.assign(node.input().begin() + std::min(2, node.input_size()), node.input().end());
  for (std::int64_t round = 0; !rounds || round < *rounds; ++round) {
    const std::optional<std::int64_t> another = tensors_.known_number(condition);
    if (another == 0 && !given) break;
    const bool endless = !another && rounds > kMaxRounds;  // "while" of exporters
    const bool open = endless || (!rounds && (!another || has_input(node, 0)));
    if (open || round == kMaxRounds) {
      refuse(file_, node, open ? "loops as long as data say" : "runs too many rounds",
             decisions_.remedy(node, input_of(node, 0)));
    }
    const std::string here = fmt::format("{}/{}", loop.prefix, round);
    Renaming names = loop.shared;
    tensors_.add_value(here + "/round", lone(round));
    names[body.input(0).name()] = here + "/round";
    names[body.input(1).name()] = condition;
    bind_state(body, 2, loop.state, names);
    names = run_round(loop, here, std::move(names), 1);
    condition = new_name(names, body.output(0).name());
  }
  finish(loop, 1);
}

// Inputs: states, then tensors of which each round gets one slice. The body makes the next states
// and slices of the results.
void Loops::run_scan(const onnx::NodeProto& node) {
  const onnx::GraphProto& body = bodies_.body_of(node, "body");
  if (opset_ < 9) {
    refuse(file_, node, "is of an op set before 9: not supported",
           "export the model with opset_version 9 or later");
  }
  const auto scans = static_cast<int>(
      std::clamp<std::int64_t>(integer(node, "num_scan_inputs", 0), 0, node.input_size()));
  const int states = node.input_size() - scans;
  const int stacked = body.output_size() - states;
  if (scans < 1 || body.input_size() != node.input_size() || stacked < 0)
    refuse(file_, node, "does not fit its body", kExportAgain);
  const std::vector<ScannedInput> scanned = scanned_inputs(node, states);
  const std::int64_t rounds = rounds_of(node, scanned);
  Unrolling loop = begin(node, body, stacked);
  loop.state.assign(node.input().begin(), node.input().begin() + states);
  for (std::int64_t round = 0; round < rounds; ++round) {
    const std::string here = fmt::format("{}/{}", loop.prefix, round);
    Renaming names = loop.shared;
    bind_state(body, 0, loop.state, names);
    for (int i = 0; i < scans; ++i) {
      const ScannedInput& input = scanned[static_cast<std::size_t>(i)];
      const std::string slice = fmt::format("{}/slice_{}", here, i);
      tensors_.add_value(slice + "/at", lone(input.backwards ? rounds - 1 - round : round));
      made_.run("Gather", {input.name, slice + "/at"}, {slice}, input.axis);
      names[body.input(states + i).name()] = slice;
    }
    run_round(loop, here, std::move(names), 0);
  }
  finish(loop, 0);
}

// Inputs: lists, of which each round gets one tensor, and tensors that every round gets. The
// outputs are lists.
void Loops::run_sequence_map(const onnx::NodeProto& node) {
  const onnx::GraphProto& body = bodies_.body_of(node, "body");
  if (body.input_size() != node.input_size() || body.output_size() < node.output_size())
    refuse(file_, node, "does not fit its body", kExportAgain);
  const std::size_t rounds = tensors_.list_at(node, 0).size();
  Unrolling loop = begin(node, body, node.output_size());
  for (std::size_t round = 0; round < rounds; ++round) {
    Renaming names = loop.shared;
    for (int i = 0; i < node.input_size(); ++i) {
      const Entries* list = tensors_.find_list(node.input(i));
      if (list != nullptr && round >= list->size())
        refuse(file_, node, "its lists have different lengths", kExportAgain);
      names[body.input(i).name()] =
          list == nullptr ? node.input(i) : tensors_.name_of(*(*list)[round]);
    }
    run_round(loop, fmt::format("{}/{}", loop.prefix, round), std::move(names), 0);
  }
  for (int i = 0; i < node.output_size(); ++i) {
    Entries list;
    for (const std::string& made : loop.results[static_cast<std::size_t>(i)]) {
      list.push_back(tensors_.find(made));
      if (list.back() == nullptr) refuse(file_, node, "its body makes no tensor", kExportAgain);
    }
    tensors_.add_list(node, node.output(i), std::move(list));
  }
}

Loops::Unrolling Loops::begin(const onnx::NodeProto& node, const onnx::GraphProto& body,
                              int results) {
  Unrolling loop{node, body, expansion_.prefix_for(node)};
  loop.nodes = bodies_.add_shared(body, loop.prefix, loop.shared);
  loop.results.resize(static_cast<std::size_t>(results));
  return loop;
}

Renaming Loops::run_round(Unrolling& loop, const std::string& prefix, Renaming names, int first) {
  bodies_.run(loop.node, loop.nodes, prefix, names);
  const auto next = [&] { return new_name(names, loop.body.output(first++).name()); };
  for (std::string& name : loop.state) name = next();
  for (std::vector<std::string>& result : loop.results) result.push_back(next());
  return names;
}

void Loops::finish(Unrolling& loop, int first) {
  const onnx::NodeProto& node = loop.node;
  const auto states = static_cast<int>(loop.state.size());
  const int outputs = states + static_cast<int>(loop.results.size());
  for (int i = 0; i < node.output_size() && i < outputs; ++i) {
    if (node.output(i).empty()) continue;
    if (i < states) {
      tensors_.give_name(node, loop.state[static_cast<std::size_t>(i)], node.output(i));
      continue;
    }
    std::vector<std::string>& slices = loop.results[static_cast<std::size_t>(i - states)];
    if (listed(node, "scan_output_directions", i - states) != 0)
      std::reverse(slices.begin(), slices.end());
    made_.stack(node, loop.body.output(first + i), slices,
                listed(node, "scan_output_axes", i - states), node.output(i));
  }
}

std::vector<Loops::ScannedInput> Loops::scanned_inputs(const onnx::NodeProto& node,
                                                       int states) const {
  const Entries inputs = tensors_.inputs_of(node);
  std::vector<ScannedInput> scanned;
  for (int i = 0; states + i < node.input_size(); ++i) {
    const Entry* input = inputs[static_cast<std::size_t>(states + i)];
    const auto rank = input == nullptr ? 0 : static_cast<std::int64_t>(input->facts.shape.size());
    std::int64_t axis = listed(node, "scan_input_axes", i);
    axis += axis < 0 ? rank : 0;
    if (axis < 0 || axis >= rank)
      refuse(file_, node, "scans an axis that is not there", kExportAgain);
    scanned.push_back({node.input(states + i), axis,
                       input->facts.shape[static_cast<std::size_t>(axis)],
                       listed(node, "scan_input_directions", i) != 0});
  }
  return scanned;
}

std::int64_t Loops::rounds_of(const onnx::NodeProto& node,
                              const std::vector<ScannedInput>& scanned) const {
  std::int64_t rounds = kMaxRounds + 1;
  for (const ScannedInput& input : scanned) rounds = std::min(rounds, input.extent);
  if (rounds > kMaxRounds) refuse(file_, node, "runs too many rounds", "give a shorter sequence");
  return rounds;
}

}  // namespace strato::onnx_import
