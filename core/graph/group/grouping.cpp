#include "core/graph/group/grouping.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "core/base/error.h"
#include "core/graph/value/scopes.h"

namespace strato {
namespace {

constexpr std::string_view kEnds = "/.";  // of scopes

// The common beginning of `a` and `b`, cut back to whole scopes ("layer.1/conv").
std::string_view common_scope(std::string_view a, std::string_view b) {
  const auto [end, other] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  const auto ends_scope = [](char c) { return kEnds.find(c) != kEnds.npos; };
  std::size_t length = static_cast<std::size_t>(end - a.begin());
  if (length == a.size() && (length == b.size() || ends_scope(b[length]))) return a;
  while (length > 0 && !ends_scope(a[length - 1])) --length;
  return a.substr(0, length);
}

// The part of `name` that follows `scope`, to the next end of a scope.
std::string_view child_of(std::string_view name, std::string_view scope) {
  name.remove_prefix(std::min(name.find_first_not_of(kEnds, scope.size()), name.size()));
  return name.substr(0, name.find_first_of(kEnds));
}

// The group's scope, or its first and last scope below that ("layers.3..4"), and its slowest op's
// type.
std::string name_for(const Graph& graph, const OpGroup& group, std::span<const Nanos> op_time) {
  constexpr std::size_t longest = 48;
  OpId slowest = group.ops[0];
  OpId first = OpId(graph.op_count()), last;
  std::string_view scope = layer_op(graph, group.ops[0]).name;
  for (const OpId id : group.ops) {
    const OpId forward = graph.op(id).forward.valid() ? graph.op(id).forward : id;
    if (op_time[id.index()] > op_time[slowest.index()]) slowest = id;
    first = std::min(first, forward);
    last = std::max(last, forward);
    scope = common_scope(scope, graph.op(forward).name);
  }
  const std::string_view from = child_of(graph.op(first).name, scope);
  const std::string_view to = child_of(graph.op(last).name, scope);
  std::string name(scope.substr(std::min(scope.find_first_not_of(kEnds), scope.size())));
  if (!from.empty()) {
    if (!name.empty() && kEnds.find(name.back()) == kEnds.npos) name += '/';
    name += from;
  }
  if (!to.empty() && to != from) name += fmt::format("..{}", to);
  if (name.size() > longest) {
    std::size_t cut = name.size() - longest;  // never inside a letter
    while (cut < name.size() && (static_cast<unsigned char>(name[cut]) & 0xc0) == 0x80) ++cut;
    name.erase(0, cut);
  }
  const std::string& type = layer_op(graph, slowest).type;
  return name.find(type) != std::string::npos ? name : fmt::format("{} {}", name, type);
}

void make_unique(IdVector<GroupId, OpGroup>& groups) {
  std::set<std::string> taken;
  for (OpGroup& group : groups) {
    std::string name = group.name;
    for (int i = 2; !taken.insert(name).second; ++i) name = fmt::format("{} #{}", group.name, i);
    group.name = group.own_name = std::move(name);
  }
}

void check_name(std::string_view name) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (name.size() > kLongestGroupName)
    throw InputError("", "name", fmt::format("has {} bytes", name.size()),
                     fmt::format("use at most {}", kLongestGroupName));
  if (std::ranges::any_of(name, is_control) || name.front() == ' ' || name.back() == ' ')
    throw InputError("", "name", "has line breaks, or blanks at an end", "write it in one line");
}

// Updated here; in a graph that is not trained: read here first.
Bytes parameters_in(const Graph& graph, const OpGroup& group) {
  Bytes sum;
  for (const OpId id : group.ops) {
    const Op& op = graph.op(id);
    if (graph.is_training()) {
      if (op.phase == Phase::Update) sum += graph.tensor(op.inputs[0]).bytes();
      continue;
    }
    std::set<TensorId> seen;
    for (const TensorId input : op.inputs) {
      if (!input.valid() || graph.tensor(input).role != TensorRole::Parameter) continue;
      if (graph.consumers(input)[0] == id && seen.insert(input).second)
        sum += graph.tensor(input).bytes();
    }
  }
  return sum;
}

std::vector<OpGroup> collect(const Graph& graph, std::span<const std::int32_t> group_of,
                             std::span<const Nanos> op_time) {
  std::unordered_map<std::int32_t, std::size_t> index;
  std::vector<OpGroup> groups;
  for (const OpId id : graph.ops().ids()) {
    const auto [at, is_new] = index.try_emplace(group_of[id.index()], groups.size());
    if (is_new) groups.emplace_back();
    groups[at->second].ops.push_back(id);
    groups[at->second].compute_time += op_time[id.index()];
  }
  std::ranges::sort(groups, std::less<>(), [](const OpGroup& group) {
    return std::pair(-group.compute_time.value, group.ops[0]);
  });
  return groups;
}

}  // namespace

Grouping::Grouping(const Graph& graph, std::span<const std::int32_t> group_of,
                   std::span<const Nanos> op_time)
    : groups_(collect(graph, group_of, op_time)), group_of_(graph.op_count()) {
  for (const GroupId id : groups_.ids()) {
    OpGroup& group = groups_[id];
    group.name = name_for(graph, group, op_time);
    group.parameter_bytes = parameters_in(graph, group);
    for (const OpId op : group.ops) group_of_[op] = id;
  }
  make_unique(groups_);

  std::map<std::pair<GroupId, GroupId>, Bytes> bytes;
  std::set<GroupId> readers;  // of one tensor, in other groups
  for (const TensorId id : graph.tensors().ids()) {
    const Tensor& tensor = graph.tensor(id);
    if (!tensor.producer.valid()) continue;
    const GroupId from = group_of_[tensor.producer];
    readers.clear();
    for (const OpId reader : graph.consumers(id))
      if (group_of_[reader] != from) readers.insert(group_of_[reader]);
    for (const GroupId to : readers) bytes[{from, to}] += tensor.bytes();
  }
  for (const auto& [pair, sum] : bytes) edges_.push_back({pair.first, pair.second, sum});

  Hasher hasher;
  hasher.text("grouping 1").digest(graph.digest());
  for (const GroupId group : group_of_) hasher.number(group.value());
  for (const OpGroup& group : groups_) hasher.number(group.compute_time.value);
  digest_ = hasher.finish();
}

Grouping Grouping::renamed(GroupId id, std::string_view name) const {
  const std::string& own = groups_[id].own_name;
  if (name.empty()) name = own;
  if (name != own) check_name(name);
  for (const OpGroup& other : groups_) {
    // Own names stay free, so that every group can go back to its own.
    if (&other == &groups_[id] || (other.name != name && other.own_name != name)) continue;
    throw InputError("", "name", fmt::format("another group is called \"{}\"", name),
                     "choose another name");
  }
  Grouping result = *this;
  result.groups_[id].name = name;
  return result;
}

bool operator==(const Grouping& a, const Grouping& b) {
  return a.digest_ == b.digest_ &&
         std::ranges::equal(a.groups_, b.groups_, {}, &OpGroup::name, &OpGroup::name);
}

GroupId Grouping::find(std::string_view name) const {
  const auto found = std::ranges::find(groups_, name, &OpGroup::name);
  return found == groups_.end() ? GroupId() : GroupId(std::size_t(found - groups_.begin()));
}

}  // namespace strato
