#include "core/graph/build/graph_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <unordered_map>
#include <utility>

#include "core/base/error.h"
#include "core/graph/value/name_table.h"
#include "core/graph/value/op_reader.h"

namespace strato {
namespace {

using Ops = IdVector<OpId, Op>;
using Tensors = IdVector<TensorId, Tensor>;

// Bounds that keep every sum of bytes inside 63 bits.
constexpr std::int64_t max_tensor_bytes = std::int64_t{1} << 50;
constexpr std::int64_t max_total_bytes = std::int64_t{1} << 60;

void check_shapes(const Tensors& tensors, const std::string& file) {
  std::int64_t total = 0;
  for (const Tensor& tensor : tensors) {
    std::int64_t bytes = size_of(tensor.type);
    for (const std::int64_t extent : tensor.shape) {
      const auto fail = [&](const std::string& problem, const char* remedy) {
        throw InputError(file, fmt::format("tensor \"{}\"", tensor.name), problem, remedy);
      };
      if (extent < 0)
        fail(fmt::format("negative extent {}", extent),
             "bind every dimension to a positive number");
      if (extent > 0 && bytes > max_tensor_bytes / extent)
        fail("larger than 1 PiB", "check its dimensions and the batch size");
      bytes *= extent;
    }
    total += bytes;
    if (total > max_total_bytes)
      throw InputError(file, "", "the tensors need more than 1 EiB together",
                       "check dimensions and the batch size");
  }
}

void set_producers(const Ops& ops, Tensors& tensors, const std::string& file) {
  for (Tensor& tensor : tensors) tensor.producer = OpId();
  for (const OpId maker : ops.ids()) {
    const Op& op = ops[maker];
    for (const TensorId id : op.inputs)
      CHECK(!id.valid() || id.index() < tensors.size(),
            "op " + op.name + " reads a tensor that is not");
    for (const TensorId id : op.outputs) {
      CHECK(id.valid() && id.index() < tensors.size(),
            "op " + op.name + " makes a tensor that is not");
      Tensor& tensor = tensors[id];
      const bool made =
          tensor.role == TensorRole::Activation || tensor.role == TensorRole::Gradient;
      if (tensor.producer.valid() || !made)
        throw InputError(file, fmt::format("tensor \"{}\"", tensor.name),
                         fmt::format("made twice, once by op \"{}\"", op.name),
                         "give every op its own output tensor");
      tensor.producer = maker;
    }
  }
}

// The distinct ops that make an op's inputs.
std::vector<OpId> predecessors(const Op& op, const Tensors& tensors) {
  std::vector<OpId> result;
  for (const TensorId id : op.inputs)
    if (id.valid() && tensors[id].producer.valid()) result.push_back(tensors[id].producer);
  std::ranges::sort(result);
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

// Walks back through unordered ops until one repeats: that closes a cycle.
[[noreturn]] void report_cycle(const Ops& ops, const Tensors& tensors,
                               const std::vector<int>& waiting, const std::string& file) {
  std::size_t at = 0;
  while (waiting[at] == 0) ++at;
  std::vector<std::size_t> path;
  std::vector<bool> seen(ops.size(), false);
  while (!seen[at]) {
    seen[at] = true;
    path.push_back(at);
    const std::vector<OpId> before = predecessors(ops[OpId(at)], tensors);
    at = std::ranges::find_if(before, [&](OpId id) { return waiting[id.index()] > 0; })->index();
  }
  path.erase(path.begin(), std::find(path.begin(), path.end(), at));
  constexpr std::size_t shown = 4;
  std::string names;
  for (std::size_t i = 0; i < std::min(shown, path.size()); ++i) {
    const std::string& name = ops[OpId(path[path.size() - 1 - i])].name;
    names += fmt::format("{}\"{}\"", i ? " -> " : "", name);
  }
  if (path.size() > shown) names += fmt::format(" and {} more", path.size() - shown);
  throw InputError(file, "", "ops wait for each other in a cycle: " + names,
                   "remove the cycle; loops must be unrolled");
}

bool are_in_order(const Ops& ops, const Tensors& tensors) {
  for (const OpId id : ops.ids())
    for (const TensorId input : ops[id].inputs)
      if (input.valid() && tensors[input].producer >= id) return false;
  return true;
}

// Kahn's algorithm; among ready ops the one inserted first comes first.
std::vector<OpId> topological_order(const Ops& ops, const Tensors& tensors,
                                    const std::string& file) {
  std::vector<int> waiting(ops.size(), 0);
  std::vector<std::vector<OpId>> successors(ops.size());
  std::priority_queue<OpId, std::vector<OpId>, std::greater<>> ready;
  for (const OpId id : ops.ids()) {
    for (const OpId before : predecessors(ops[id], tensors)) {
      ++waiting[id.index()];
      successors[before.index()].push_back(id);
    }
    if (waiting[id.index()] == 0) ready.push(id);
  }
  std::vector<OpId> order;
  order.reserve(ops.size());
  while (!ready.empty()) {
    order.push_back(ready.top());
    ready.pop();
    for (const OpId next : successors[order.back().index()])
      if (--waiting[next.index()] == 0) ready.push(next);
  }
  if (order.size() != ops.size()) report_cycle(ops, tensors, waiting, file);
  return order;
}

Ops reordered(Ops ops, const std::vector<OpId>& order) {
  IdVector<OpId, OpId> new_id(ops.size());
  for (std::size_t i = 0; i < order.size(); ++i) new_id[order[i]] = OpId(i);
  Ops result;
  result.reserve(ops.size());
  for (const OpId old : order) {
    result.push_back(std::move(ops[old]));
    Op& op = result.back();
    if (op.forward.valid()) op.forward = new_id[op.forward];
  }
  return result;
}

void sort_attributes(Ops& ops) {
  for (Op& op : ops)
    std::ranges::sort(
        op.attributes, {}, [](const auto& each) -> const auto& { return each.first; });
}

// Gives a number to each name that is taken, and a name to what has none.
template <class List, class F>
NameTable make_names_unique(List& list, F name_of_kind) {
  NameTable names(list.size());
  std::unordered_map<std::string, int> next;
  const auto name_of = [&](std::int32_t i) -> std::string_view { return list.data()[i].name; };
  for (std::int32_t i = 0; i < std::ssize(list); ++i) {
    std::string& name = list.data()[i].name;
    if (name.empty()) name = name_of_kind(list.data()[i]);
    if (names.add(i, name_of)) continue;
    const std::string taken = name;
    int& number = next[taken];
    do {
      name = fmt::format("{}_{}", taken, ++number);
    } while (!names.add(i, name_of));
  }
  return names;
}

void hash_ids(Hasher& hasher, const std::vector<TensorId>& ids) {
  hasher.number(ids.size());
  for (const TensorId id : ids) hasher.number(id.value());
}

// The digest covers everything that callers gave: what the catalogue adds follows from it.
Digest digest_of_graph(const Graph& graph) {
  Hasher hasher;
  hasher.text("graph 1").text(graph.name()).number(graph.batch());
  hasher.number(graph.op_count()).number(graph.tensor_count());
  for (const Op& op : graph.ops()) {
    hasher.text(op.name).text(op.type).number(op.phase).number(op.forward.value());
    hash_ids(hasher, op.inputs);
    hash_ids(hasher, op.outputs);
    hasher.number(op.attributes.size());
    for (const auto& [key, value] : op.attributes) hash_attribute(hasher.text(key), value);
  }
  for (const Tensor& tensor : graph.tensors()) {
    hasher.text(tensor.name).number(tensor.type).number(tensor.role);
    hasher.numbers(std::span<const std::int64_t>(tensor.shape));
    hasher.number(tensor.batch.kind).number(tensor.batch.axis).number(tensor.batch.blocks);
    if (tensor.frozen) hasher.text("frozen");
    hasher.text(tensor.data ? std::string_view(*tensor.data) : std::string_view());
  }
  return hasher.finish();
}

}  // namespace

GraphBuilder::GraphBuilder(std::string name, std::int64_t batch, std::string file)
    : name_(std::move(name)), file_(std::move(file)), batch_(batch) {}

TensorId GraphBuilder::add_tensor(Tensor tensor) {
  tensors_.push_back(std::move(tensor));
  return TensorId(tensors_.size() - 1);
}

OpId GraphBuilder::add_op(Op op) {
  ops_.push_back(std::move(op));
  return OpId(ops_.size() - 1);
}

Graph GraphBuilder::build() && {
  if (batch_ < 1)
    throw InputError(file_, "", fmt::format("batch size {}", batch_), "give a batch of at least 1");
  check_shapes(tensors_, file_);
  set_producers(ops_, tensors_, file_);
  // What is in a topological order already is in the one that is looked for.
  if (!are_in_order(ops_, tensors_)) {
    ops_ = reordered(std::move(ops_), topological_order(ops_, tensors_, file_));
    for (const OpId maker : ops_.ids())
      for (const TensorId id : ops_[maker].outputs) tensors_[id].producer = maker;
  }
  sort_attributes(ops_);
  const NameTable op_names =
      make_names_unique(ops_, [](const Op& op) { return op.type.empty() ? "op" : op.type; });
  make_names_unique(tensors_, [](const Tensor&) { return "tensor"; });
  annotate();

  Graph graph;
  graph.name_ = std::move(name_);
  graph.batch_ = batch_;
  graph.ops_ = std::move(ops_);
  graph.tensors_ = std::move(tensors_);
  graph.ops_by_name_ = op_names.ids<OpId>();
  graph.index();
  graph.digest_ = digest_of_graph(graph);
  return graph;
}

void Graph::index() {
  update_of_.assign(tensors_.size(), OpId());
  consumer_begin_.assign(tensors_.size() + 1, 0);
  IdVector<TensorId, OpId> last;  // reader so far
  const auto each_reader = [&](auto&& what) {
    last.assign(tensors_.size(), OpId());
    for (const OpId id : ops_.ids())
      for (const TensorId input : ops_[id].inputs)
        if (input.valid() && std::exchange(last[input], id) != id) what(input, id);
  };
  each_reader([&](TensorId input, OpId) { ++consumer_begin_[input.index() + 1]; });
  std::partial_sum(consumer_begin_.begin(), consumer_begin_.end(), consumer_begin_.begin());
  consumers_.resize(at(consumer_begin_.back()));
  std::vector<std::int32_t> next = consumer_begin_;
  each_reader([&](TensorId input, OpId id) { consumers_[at(next[input.index()]++)] = id; });
  for (const OpId id : ops_.ids()) {
    const Op& op = ops_[id];
    if (op.phase != Phase::Update || op.inputs.empty() || !op.inputs[0].valid()) continue;
    update_of_[op.inputs[0]] = id;
    training_ = true;
  }
}

}  // namespace strato
