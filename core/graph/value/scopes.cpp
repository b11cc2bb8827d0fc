#include "core/graph/value/scopes.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "core/base/error.h"

namespace strato {
namespace {

constexpr std::string_view kEnds = "/.";

// The scope that starts at `at`, with the marks before it; empty at the end.
std::string_view component(std::string_view name, std::size_t at) {
  const std::size_t begin = name.find_first_not_of(kEnds, at);
  if (begin == std::string_view::npos) return {};
  return name.substr(at, name.find_first_of(kEnds, begin) - at);
}

std::size_t after(std::string_view name, std::string_view part) {
  return static_cast<std::size_t>(part.data() - name.data()) + part.size();
}

// Counts the bytes of the name of ops[0]'s layer that are scopes which all layers of `ops` share.
std::size_t shared_length(const Graph& graph, std::span<const OpId> ops, std::size_t from) {
  const std::string_view first = layer_op(graph, ops[0]).name;
  std::size_t shared = first.size();
  for (const OpId id : ops) {
    const std::string_view name = layer_op(graph, id).name;
    std::size_t at = from;
    while (at < shared) {
      const std::string_view a = component(first, at), b = component(name, at);
      if (a.empty() || a != b || after(first, a) > shared) break;
      at = after(first, a);
    }
    shared = std::min(shared, at);
  }
  return shared;
}

// Even runs of neighbours, at most `most` of them.
std::vector<ScopePart> bundled(std::vector<ScopePart> parts, std::size_t most) {
  const std::size_t count = std::min(most, (parts.size() + most - 1) / most);
  std::vector<ScopePart> result;
  for (std::size_t c = 0; c < count; ++c) {
    const std::size_t begin = c * parts.size() / count, end = (c + 1) * parts.size() / count;
    ScopePart range;
    range.name = fmt::format("{} … {}", parts[begin].name, parts[end - 1].name);
    range.range = true;
    for (std::size_t p = begin; p < end; ++p)
      range.ops.insert(range.ops.end(), parts[p].ops.begin(), parts[p].ops.end());
    std::ranges::sort(range.ops);
    result.push_back(std::move(range));
  }
  return result;
}

}  // namespace

const Op& layer_op(const Graph& graph, OpId id) {
  const Op& op = graph.op(id);
  return op.forward.valid() ? graph.op(op.forward) : op;
}

std::vector<ScopePart> split_by_scope(const Graph& graph, std::span<const OpId> ops,
                                      std::size_t flat, std::size_t most) {
  CHECK(most >= 2, "at least two parts must be allowed");
  std::vector<ScopePart> parts;
  if (ops.empty()) return parts;
  const std::size_t shared = shared_length(graph, ops, 0);
  if (ops.size() <= flat) {
    for (const OpId id : ops) parts.push_back({graph.op(id).name, {id}, false});
  } else {
    std::unordered_map<std::string_view, std::size_t> known;
    for (const OpId id : ops) {
      const std::string_view scope = component(layer_op(graph, id).name, shared);
      const auto [at, added] = known.try_emplace(scope, parts.size());
      // An op that ends where all others go on stands for itself.
      if (added || scope.empty()) parts.emplace_back(), at->second = parts.size() - 1;
      parts[at->second].ops.push_back(id);
    }
    for (ScopePart& part : parts) {
      if (part.ops.size() == 1) {
        part.name = graph.op(part.ops[0]).name;
        continue;
      }
      const std::string_view name = layer_op(graph, part.ops[0]).name;
      const std::size_t begin = name.find_first_not_of(kEnds, shared);
      part.name = name.substr(begin, shared_length(graph, part.ops, shared) - begin);
    }
  }
  return parts.size() > most ? bundled(std::move(parts), most) : parts;
}

}  // namespace strato
