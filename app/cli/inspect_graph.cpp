#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <tuple>

#include "app/cli/inspection.h"
#include "app/cli/output.h"
#include "core/base/quantity_text.h"
#include "core/graph/axes/batch_stop.h"

namespace strato::cli {
namespace {

void count_split(TypeCount& type, GraphInspection& all, Splittability split) {
  switch (split) {
    case Splittability::Concat:
      ++type.concat;
      ++all.concat;
      break;
    case Splittability::Sum:
      ++type.sum;
      ++all.sum;
      break;
    case Splittability::None:
      ++type.whole;
      ++all.whole;
      break;
  }
}

void count_ops(const Graph& graph, GraphInspection& all, std::map<std::string, TypeCount>& types) {
  for (const Op& op : graph.ops()) {
    TypeCount& type = types[op.type];
    type.type = op.type;
    ++type.ops;
    type.flops += op.work.flops;
    all.flops += op.work.flops;
    if (op.phase == Phase::Forward || op.phase == Phase::Loss) all.forward_flops += op.work.flops;
    type.estimated = type.estimated || op.estimated;
    count_split(type, all, op.split);
    if (op.view) continue;
    for (const TensorId output : op.outputs) {
      if (output.valid()) type.activation_bytes += graph.tensor(output).bytes();
    }
  }
}

// Running means and variances: nobody trains them.
bool is_statistic(const Graph& graph, TensorId id) {
  const auto reads_it_as_such = [&](OpId reader) {
    const Op& op = graph.op(reader);
    const auto slot = std::ranges::find(op.inputs, id) - op.inputs.begin();
    return op.type == "BatchNormalization" && slot >= 3;
  };
  const std::span<const OpId> readers = graph.consumers(id);
  return !readers.empty() && std::ranges::all_of(readers, reads_it_as_such);
}

void count_tensors(const Graph& graph, GraphInspection& all) {
  for (const TensorId id : graph.tensors().ids()) {
    const Tensor& tensor = graph.tensor(id);
    switch (tensor.role) {
      case TensorRole::Parameter:
        if (is_statistic(graph, id)) break;
        all.parameter_count += tensor.elements();
        if (tensor.frozen) all.frozen_count += tensor.elements();
        all.parameter_bytes += tensor.bytes();
        break;
      case TensorRole::OptimizerState:
        all.optimizer_bytes += tensor.bytes();
        break;
      case TensorRole::Activation:
        if (tensor.producer.valid() && !graph.op(tensor.producer).view)
          all.activation_bytes += tensor.bytes();
        break;
      default:
        break;
    }
  }
}

}  // namespace

GraphInspection inspect_graph(const Graph& imported, const Graph& graph, bool batch_assumed) {
  GraphInspection all;
  all.name = graph.name();
  all.batch = graph.batch();
  all.batch_assumed = batch_assumed;
  all.training = graph.is_training();
  all.file_ops = imported.op_count();
  all.ops = graph.op_count();
  all.tensors = graph.tensor_count();
  std::map<std::string, TypeCount> types;
  count_ops(graph, all, types);
  count_tensors(graph, all);
  all.batch_stop = describe_batch_stop(graph);
  for (auto& [name, type] : types) {
    if (type.estimated) all.estimated_types.push_back(name);
    all.types.push_back(std::move(type));
  }
  std::stable_sort(all.types.begin(), all.types.end(), [](const TypeCount& a, const TypeCount& b) {
    return std::tuple(b.flops, b.ops) < std::tuple(a.flops, a.ops);
  });
  return all;
}

Json inspection_json(const GraphInspection& all) {
  Json types = Json::array();
  for (const TypeCount& type : all.types) {
    types.push_back({{"type", type.type},
                     {"ops", type.ops},
                     {"flops", type.flops},
                     {"output_bytes", type.activation_bytes.value},
                     {"split_concat", type.concat},
                     {"split_sum", type.sum},
                     {"split_none", type.whole},
                     {"estimated", type.estimated}});
  }
  Json json = {{"kind", "graph"},
               {"name", all.name},
               {"batch", all.batch},
               {"batch_assumed", all.batch_assumed},
               {"training", all.training},
               {"imported_ops", all.file_ops},
               {"ops", all.ops},
               {"tensors", all.tensors},
               {"forward_flops", all.forward_flops},
               {"flops", all.flops},
               {"parameters", all.parameter_count},
               {"parameter_bytes", all.parameter_bytes.value},
               {"optimizer_state_bytes", all.optimizer_bytes.value},
               {"activation_bytes", all.activation_bytes.value},
               {"split_concat", all.concat},
               {"split_sum", all.sum},
               {"split_none", all.whole},
               {"estimated_types", all.estimated_types},
               {"types", types}};
  if (all.untrainable) json["untrainable"] = true;
  if (all.frozen_count > 0) json["frozen_parameters"] = all.frozen_count;
  if (!all.remarks.empty()) json["remarks"] = all.remarks;
  if (!all.batch_stop.empty()) json["batch_stop"] = all.batch_stop;
  return json;
}

std::string inspection_text(const GraphInspection& all) {
  std::string text = fmt::format("{}, batch {}{}, {} graph\n", all.name, all.batch,
                                 all.batch_assumed ? " (assumed: give --batch)" : "",
                                 all.training ? "training" : "forward");
  if (all.untrainable) text += "  training       nothing in it can be trained\n";
  text += fmt::format("  ops            {} ({} in the file)\n", all.ops, all.file_ops);
  text += fmt::format("  tensors        {}\n", all.tensors);
  text += fmt::format("  work           {} ({} forward)\n", flops_text(all.flops),
                      flops_text(all.forward_flops));
  text += fmt::format(
      "  parameters     {} ({}){}\n", count_text(static_cast<double>(all.parameter_count)),
      bytes_text(all.parameter_bytes),
      all.frozen_count > 0
          ? fmt::format(", {} of them frozen", count_text(static_cast<double>(all.frozen_count)))
          : std::string());
  text += fmt::format("  optimizer      {}\n", bytes_text(all.optimizer_bytes));
  text += fmt::format("  activations    {}\n", bytes_text(all.activation_bytes));
  text += fmt::format("  splittable     {} with concatenation, {} with sum, {} not\n", all.concat,
                      all.sum, all.whole);
  if (!all.batch_stop.empty()) text += fmt::format("  not split      {}\n", all.batch_stop);
  for (const std::string& remark : all.remarks)
    text += fmt::format("  note           {}\n", remark);
  if (!all.estimated_types.empty()) {
    text += fmt::format("  estimated      {} (unknown op types)\n",
                        fmt::join(all.estimated_types, ", "));
  }
  Table table({"type", "ops", "work", "outputs", "concat", "sum", "whole", ""});
  for (const TypeCount& type : all.types) {
    table.add({type.type, std::to_string(type.ops), flops_text(type.flops),
               bytes_text(type.activation_bytes), std::to_string(type.concat),
               std::to_string(type.sum), std::to_string(type.whole),
               type.estimated ? "estimated" : ""});
  }
  return text + "\n" + table.text();
}

}  // namespace strato::cli
