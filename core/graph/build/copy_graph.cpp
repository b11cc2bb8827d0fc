#include "core/graph/build/copy_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/base/error.h"
#include "core/graph/ops/catalogue.h"

namespace strato {
namespace {

bool is_computed(const Tensor& tensor) {
  return tensor.role == TensorRole::Activation && tensor.producer.valid() &&
         is_floating(tensor.type);
}

bool is_result(const Graph& graph, TensorId id) {
  if (!is_computed(graph.tensor(id)) || !graph.consumers(id).empty()) return false;
  const Op& op = graph.op(graph.tensor(id).producer);
  if (op.outputs[0] == id) return true;
  // Some ops have several results (an LSTM's sequence and last state): those that nothing reads are
  // results of the graph only when nothing reads any of the others.
  const bool others_read = std::ranges::any_of(
      op.outputs, [&](TensorId other) { return !graph.consumers(other).empty(); });
  return !rule_of(op.type).side_outputs && !others_read;
}

bool ends_in_integers(const Graph& graph, TensorId id) {
  const auto is_real = [&](TensorId output) { return is_floating(graph.tensor(output).type); };
  const auto makes_integers = [&](OpId reader) {
    return std::ranges::none_of(graph.op(reader).outputs, is_real);
  };
  return is_computed(graph.tensor(id)) && std::ranges::all_of(graph.consumers(id), makes_integers);
}

// The same ops, on tensors that `change` has changed.
template <class F>
Graph with_tensors(const Graph& graph, std::int64_t batch, F change) {
  GraphBuilder builder(graph.name(), batch, graph.name());
  for (Tensor tensor : graph.tensors()) {
    change(tensor);
    builder.add_tensor(std::move(tensor));
  }
  for (const Op& op : graph.ops()) builder.add_op(op);
  Graph result = std::move(builder).build();
  CHECK(std::ranges::equal(result.ops(), graph.ops(), {}, &Op::name, &Op::name),
        "ops were in a topological order");
  return result;
}

}  // namespace

GraphBuilder builder_with_tensors(const Graph& graph) {
  GraphBuilder builder(graph.name(), graph.batch());
  for (const Tensor& tensor : graph.tensors()) builder.add_tensor(tensor);
  return builder;
}

std::vector<TensorId> results_of(const Graph& graph) {
  std::vector<TensorId> results;
  for (const auto test : {is_result, ends_in_integers}) {
    for (const TensorId id : graph.tensors().ids())
      if (test(graph, id)) results.push_back(id);
    if (!results.empty()) break;
  }
  return results;
}

Graph with_batch(const Graph& graph, std::int64_t batch) {
  constexpr std::int64_t kMost = std::int64_t{1} << 24;
  if (batch < 1 || batch > kMost)
    throw InputError(graph.name(), "", fmt::format("batch size {}", batch),
                     fmt::format("give a batch of 1 to {}", kMost));
  Graph result = with_tensors(graph, batch, [&](Tensor& tensor) {
    if (tensor.batch.kind != BatchKind::Batched) return;
    std::int64_t& extent = tensor.shape[static_cast<std::size_t>(tensor.batch.axis)];
    extent = extent / graph.batch() * batch;
    tensor.data = nullptr;  // its elements were those of the other batch
  });
  for (const TensorId id : graph.tensors().ids()) {
    const Tensor& now = result.tensor(id);
    if (graph.tensor(id).batch == now.batch) continue;
    throw InputError(
        graph.name(), now.name,
        fmt::format("follows a batch of {} otherwise than one of {}", batch, graph.batch()),
        "import the model with this batch");
  }
  return result;
}

bool has_precision(DataType type) {
  return type == DataType::F32 || type == DataType::F16 || type == DataType::BF16;
}

void check_precision(DataType type, const std::string& graph) {
  if (!has_precision(type))
    throw InputError(graph, "precision", fmt::format("\"{}\"", name_of(type)),
                     "give float32, float16 or bfloat16");
}

Graph with_precision(const Graph& graph, DataType type) {
  check_precision(type, graph.name());
  return with_tensors(graph, graph.batch(), [&](Tensor& tensor) {
    if (!has_precision(tensor.type) || tensor.type == type) return;
    tensor.type = type;
    tensor.data = nullptr;  // its elements were written otherwise
  });
}

DataType precision_of(const Graph& graph) {
  constexpr std::array types = {DataType::F32, DataType::F16, DataType::BF16, DataType::F64};
  std::array<std::int64_t, types.size()> parameters{}, others{};
  for (const Tensor& tensor : graph.tensors()) {
    const auto at = std::ranges::find(types, tensor.type);
    if (at == types.end()) continue;
    const auto number = static_cast<std::size_t>(at - types.begin());
    (tensor.role == TensorRole::Parameter ? parameters : others)[number] += tensor.elements();
  }
  const auto& counts =
      std::ranges::any_of(parameters, [](auto n) { return n > 0; }) ? parameters : others;
  return types[static_cast<std::size_t>(std::ranges::max_element(counts) - counts.begin())];
}

DataType precision_from(std::string_view name) {
  if (name == "float32" || name == "fp32") return DataType::F32;
  if (name == "float16" || name == "fp16" || name == "half") return DataType::F16;
  if (name == "bfloat16" || name == "bf16") return DataType::BF16;
  throw InputError("", "precision", fmt::format("\"{}\" is none that is known", name),
                   "give float32, float16 or bfloat16");
}

std::vector<TensorId> loss_tensors(const Graph& graph) {
  const auto goes_on = [&](TensorId tensor) {
    return std::ranges::any_of(graph.consumers(tensor), [&](OpId reader) {
      const Phase phase = graph.op(reader).phase;
      return phase == Phase::Forward || phase == Phase::Loss;
    });
  };
  std::vector<TensorId> losses;
  for (const Op& op : graph.ops()) {
    if (op.phase == Phase::Loss && !goes_on(op.outputs[0])) losses.push_back(op.outputs[0]);
  }
  if (!losses.empty()) return losses;
  for (const TensorId id : results_of(graph)) {  // made of losses: their mean, their sum
    if (graph.tensor(id).elements() == 1) losses.push_back(id);
  }
  return losses;
}

}  // namespace strato
