// The ops of two graphs that are the same.
#include <fmt/format.h>

#include <map>

#include "core/compare/compare_plans.h"
#include "core/graph/value/op_reader.h"

namespace strato {
namespace {

void add_tensors(Hasher& hasher, const Graph& graph, const std::vector<TensorId>& tensors) {
  hasher.number(tensors.size());
  for (const TensorId id : tensors) {
    if (!id.valid()) {
      hasher.number(-1);
      continue;
    }
    const Tensor& tensor = graph.tensor(id);
    hasher.number(tensor.type).numbers(std::span<const std::int64_t>(tensor.shape));
  }
}

Digest fingerprint(const Graph& graph, const Op& op) {
  Hasher hasher;
  hasher.text(op.type).number(op.phase).number(op.attributes.size());
  for (const auto& [key, value] : op.attributes) {
    hasher.text(key);
    hash_attribute(hasher, value);
  }
  add_tensors(hasher, graph, op.inputs);
  add_tensors(hasher, graph, op.outputs);
  return hasher.finish();
}

std::vector<OpId> without_partner(const IdVector<OpId, OpId>& partner) {
  std::vector<OpId> ops;
  for (std::size_t i = 0; i < partner.size(); ++i)
    if (!partner[OpId(i)].valid()) ops.emplace_back(i);
  return ops;
}

std::map<Digest, std::vector<OpId>> unmatched_by_fingerprint(const Graph& graph,
                                                             const IdVector<OpId, OpId>& partner) {
  std::map<Digest, std::vector<OpId>> ops;
  for (const OpId op : without_partner(partner))
    ops[fingerprint(graph, graph.op(op))].push_back(op);
  return ops;
}

void join(OpMatch& match, OpId from, OpId to) {
  match.to_of_from[from] = to;
  match.from_of_to[to] = from;
}

void match_by_name(const Graph& from, const Graph& to, OpMatch& match) {
  for (std::size_t i = 0; i < from.op_count(); ++i) {
    const Op& op = from.op(OpId(i));
    const OpId other = to.find_op(op.name);
    if (!other.valid() || to.op(other).type != op.type) continue;
    join(match, OpId(i), other);
    const bool same = fingerprint(from, op) == fingerprint(to, to.op(other));
    ++(same ? match.same : match.changed);
  }
}

void match_by_fingerprint(const Graph& from, const Graph& to, OpMatch& match) {
  const auto others = unmatched_by_fingerprint(to, match.from_of_to);
  for (const auto& [print, ops] : unmatched_by_fingerprint(from, match.to_of_from)) {
    const auto found = others.find(print);
    if (found == others.end() || found->second.size() != ops.size()) continue;
    for (std::size_t i = 0; i < ops.size(); ++i) join(match, ops[i], found->second[i]);
    match.renamed += ops.size();
  }
}

}  // namespace

OpMatch match_ops(const Graph& from, const Graph& to) {
  OpMatch match;
  match.to_of_from.resize(from.op_count());
  match.from_of_to.resize(to.op_count());
  match.same_graph = from.digest() == to.digest();
  if (match.same_graph) {
    for (std::size_t i = 0; i < from.op_count(); ++i) join(match, OpId(i), OpId(i));
    match.same = from.op_count();
    return match;
  }
  match_by_name(from, to, match);
  match_by_fingerprint(from, to, match);
  match.only_from = without_partner(match.to_of_from);
  match.only_to = without_partner(match.from_of_to);
  return match;
}

std::string text_of(const OpMatch& match) {
  std::string text = fmt::format("{} op{} the same", match.same, match.same == 1 ? " is" : "s are");
  const auto add = [&](std::size_t count, const char* what) {
    if (count > 0) text += fmt::format(", {} {}", count, what);
  };
  add(match.changed, "changed");
  add(match.renamed, "renamed");
  add(match.only_from.size(), "only in the first");
  add(match.only_to.size(), "only in the second");
  return text;
}

}  // namespace strato
