#include "plugins/importers/exported_program/translate/translate.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "core/base/error.h"
#include "core/base/utf8.h"
#include "core/graph/build/graph_builder.h"
#include "plugins/importers/exported_program/translate/lowering.h"
#include "plugins/importers/exported_program/translate/rules_elementwise.h"
#include "plugins/importers/exported_program/translate/rules_layers.h"
#include "plugins/importers/exported_program/translate/rules_layout.h"
#include "plugins/importers/exported_program/translate/rules_reductions.h"

namespace strato::exported_program_import {
namespace {

constexpr int kMostDepth = 16;  // of graphs in graphs
constexpr std::size_t kMostTensors = 4'000'000;

using Names = std::unordered_map<std::string, TensorId>;

const Rules& rules() {
  static const Rules all = [] {
    Rules rules = elementwise_rules();
    for (const auto family : {layer_rules, layout_rules, reduction_rules}) rules.merge(family());
    return rules;
  }();
  return all;
}

// Calls that make no tensor, or check something: numbers are known from what the file says of them.
bool makes_no_tensor(const std::vector<std::string>& results, const Block& block) {
  return std::ranges::none_of(
      results, [&block](const std::string& name) { return block.tensors.contains(name); });
}

class Translator {
 public:
  Translator(const Program& program, const Binding& binding)
      : program_(program), binding_(binding) {}

  Graph run(const std::string& name) {
    add_inputs();
    run_block(program_.block, names_, 0);
    return build(name);
  }

 private:
  TensorId add(const std::string& name, const TensorMeta& meta, TensorRole role) {
    if (out_.tensors.size() >= kMostTensors)
      throw InputError(program_.file, "", "has too many tensors", "export a smaller program");
    const TensorId id = out_.tensors.next_id();
    out_.tensors.push_back({.name = shown_text(name),
                            .type = meta.type,
                            .role = role,
                            .shape = binding_.shape(meta, shown_text(name))});
    return id;
  }

  void add_inputs() {
    static const std::map<InputKind, TensorRole> roles = {
        {InputKind::Data, TensorRole::Input},
        {InputKind::Parameter, TensorRole::Parameter},
        {InputKind::Constant, TensorRole::Constant}};
    for (std::size_t i = 0; i < program_.inputs.size(); ++i) {
      const auto& [kind, called] = program_.inputs[i];
      const std::string& name = program_.block.inputs[i];
      const auto meta = program_.block.tensors.find(name);
      if (meta == program_.block.tensors.end()) continue;  // a number, or None
      const TensorId id = add(called.empty() ? name : called, meta->second, roles.at(kind));
      const int axis = kind == InputKind::Data ? binding_.batch_axis(meta->second.sizes) : -1;
      if (axis >= 0) out_.tensors[id].batch = {BatchKind::Batched, axis};
      if (!names_.emplace(name, id).second)
        throw InputError(program_.file, "input \"" + shown_text(name) + "\"", "is defined twice",
                         kExportAgain);
    }
  }

  void run_block(const Block& block, Names& names, int depth) {
    const NumberOf number_of = [&](const std::string& name) {
      const auto found = block.numbers.find(name);
      const std::string place = "number \"" + shown_text(name) + "\"";
      if (found == block.numbers.end())
        throw InputError(program_.file, place, "is not in the program", kExportAgain);
      return binding_.number(found->second, place);
    };
    for (const JsonView& node : block.nodes) {
      const Call call(node, number_of);
      const std::vector<std::string> results = call.results();
      if (const auto graph = call.graph()) {
        run_inside(call, read_block(*graph), names, depth);
      } else if (!makes_no_tensor(results, block)) {
        lower(call, results, block, names);
      }
    }
  }

  void lower(const Call& call, const std::vector<std::string>& results, const Block& block,
             Names& names) {
    Ids made;
    for (const std::string& name : results) {
      const auto meta = block.tensors.find(name);
      made.push_back(meta == block.tensors.end() ? TensorId()
                                                 : add(name, meta->second, TensorRole::Activation));
    }
    Lowering to(call, out_, names, made);
    const auto rule = rules().find(call.op());
    if (rule != rules().end())
      rule->second(to);
    else
      to.unknown(tensors_read(call, names));
    for (std::size_t i = 0; i < results.size(); ++i)
      if (made[i].valid() && !names.emplace(results[i], made[i]).second)
        call.refuse(fmt::format("makes tensor \"{}\", which exists already", call.name()),
                    kExportAgain);
  }

  static Ids tensors_read(const Call& call, const Names& names) {
    Ids ids;
    for (const std::string& name : call.read())
      if (const auto found = names.find(name); found != names.end()) ids.push_back(found->second);
    return ids;
  }

  // wrap_with_set_grad_enabled, wrap_with_autocast: the graph that the call runs is written out in
  // its place.
  void run_inside(const Call& call, const Block& inner, Names& names, int depth) {
    if (call.target().find(".wrap") == std::string::npos)
      call.refuse(fmt::format("runs \"{}\", which data decide", shown_text(call.target())),
                  "export the program without branches and loops over data");
    if (depth >= kMostDepth) call.refuse("nests graphs too deeply", kExportAgain);
    const std::vector<std::string> operands = call.operands(), results = call.results();
    if (operands.size() != inner.inputs.size() || results.size() > inner.outputs.size())
      call.refuse("does not fit the graph that it runs", kExportAgain);
    Names inside;
    const auto hand = [&call](const Names& from, const std::string& name, Names& into,
                              const std::string& as) {
      if (name.empty() || as.empty()) return;
      const auto found = from.find(name);
      if (found == from.end())
        call.refuse(fmt::format("hands on tensor \"{}\", which nothing makes", shown_text(name)),
                    kExportAgain);
      into.emplace(as, found->second);
    };
    for (std::size_t i = 0; i < operands.size(); ++i)
      if (inner.tensors.contains(inner.inputs[i]))
        hand(names, operands[i], inside, inner.inputs[i]);
    run_block(inner, inside, depth + 1);
    for (std::size_t i = 0; i < results.size(); ++i)
      if (inner.tensors.contains(inner.outputs[i]))
        hand(inside, inner.outputs[i], names, results[i]);
  }

  // ---- what the results depend on

  std::vector<bool> needed_tensors() const {
    std::vector<bool> needed(out_.tensors.size(), false);
    for (const std::string& name : program_.results) {
      const auto found = names_.find(name);
      if (found != names_.end()) needed[found->second.index()] = true;
    }
    const auto is_needed = [&](TensorId id) { return needed[id.index()]; };
    for (std::size_t i = out_.ops.size(); i-- > 0;) {
      const Op& op = out_.ops[i];
      if (std::ranges::none_of(op.outputs, is_needed)) continue;
      needed[op.outputs[0].index()] = true;
      for (const TensorId id : op.inputs)
        if (id.valid()) needed[id.index()] = true;
    }
    return needed;
  }

  Graph build(const std::string& name) {
    const std::vector<bool> needed = needed_tensors();
    GraphBuilder graph(shown_text(name), binding_.batch(), program_.file);
    std::vector<TensorId> ids(out_.tensors.size());
    for (const TensorId id : out_.tensors.ids())
      if (needed[id.index()]) ids[id.index()] = graph.add_tensor(std::move(out_.tensors[id]));
    for (Op& op : out_.ops) {
      const auto is_needed = [&](TensorId id) { return needed[id.index()]; };
      if (std::ranges::none_of(op.outputs, is_needed)) continue;
      // By-products at the end that nobody reads (masks, statistics) are no results.
      while (!is_needed(op.outputs.back())) op.outputs.pop_back();
      for (Ids* list : {&op.inputs, &op.outputs})
        for (TensorId& id : *list) id = with_id(graph, ids, id);
      graph.add_op(std::move(op));
    }
    if (graph.op_count() == 0)
      throw InputError(program_.file, "graph", "its results do not depend on any input",
                       "export a program that computes something");
    return std::move(graph).build();
  }

  // By-products in front of what is needed are results all the same.
  TensorId with_id(GraphBuilder& graph, std::vector<TensorId>& ids, TensorId id) {
    if (id.valid() && !ids[id.index()].valid())
      ids[id.index()] = graph.add_tensor(std::move(out_.tensors[id]));
    return id.valid() ? ids[id.index()] : TensorId();
  }

  const Program& program_;
  const Binding& binding_;
  Translation out_;
  Names names_;
};

}  // namespace

Graph translate(const Program& program, const Binding& binding, const std::string& name) {
  return Translator(program, binding).run(name);
}

}  // namespace strato::exported_program_import
