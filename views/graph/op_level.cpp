#include "views/graph/op_level.h"

#include <QCoreApplication>
#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "core/graph/value/scopes.h"
#include "views/style/style.h"
#include "views/style/text.h"

namespace strato {
namespace {

constexpr qsizetype kLongestTip = 200;

class OpLevel {
  Q_DECLARE_TR_FUNCTIONS(OpLevel)
 public:
  OpLevel(const Problem& problem, const GraphLevel& level, const std::vector<Nanos>& times)
      : problem_(problem), graph_(*problem.graph), level_(level), times_(times) {}

  GraphContent make(std::size_t most) {
    for (const OpId op : level_.ops) whole_ += static_cast<double>(time(op).value);
    for (ScopePart& part : split_by_scope(graph_, level_.ops, kFewOps, most)) {
      for (const OpId op : part.ops) index_[op] = static_cast<int>(content_.nodes.size());
      content_.nodes.push_back(part.ops.size() == 1 ? op_node(part.ops[0])
                                                    : scope_node(std::move(part)));
    }
    for (const OpId op : level_.ops) add_edges(op);
    add_boundary(before_, true);
    add_boundary(after_, false);
    for (const auto& [ends, bytes] : bytes_)
      content_.edges.push_back({ends.first, ends.second, bytes, Bytes(0)});
    return std::move(content_);
  }

 private:
  // The bytes between a group beside the level and each node in it.
  using Beside = std::map<GroupId, std::map<int, Bytes>>;

  Nanos time(OpId op) const { return op.index() < times_.size() ? times_[op.index()] : Nanos(0); }
  double share(Nanos part) const {
    return whole_ > 0 ? static_cast<double>(part.value) / whole_ : 0;
  }

  GraphNode op_node(OpId id) const {
    const Op& op = graph_.op(id);
    GraphNode node;
    node.group = level_.group;
    node.op = id;
    node.name = text(op.name);
    node.detail = text(op.type);
    node.share = share(time(id));
    node.tooltip =
        tr("<b>%1</b><br>%2, %3<br>%4 on average, %5")
            .arg(node.name.left(kLongestTip).toHtmlEscaped(), node.detail.toHtmlEscaped(),
                 text(name_of(op.phase)), style::time(time(id)), style::flops(op.work.flops));
    return node;
  }

  GraphNode scope_node(ScopePart part) const {
    GraphNode node;
    node.group = level_.group;
    node.name = text(part.name);
    node.detail = tr("%1 ops").arg(part.ops.size());
    Nanos sum;
    for (const OpId op : part.ops) sum += time(op);
    node.share = share(sum);
    node.tooltip = tr("<b>%1</b><br>%2 ops, %3 on average; double click opens them")
                       .arg(node.name.left(kLongestTip).toHtmlEscaped())
                       .arg(part.ops.size())
                       .arg(style::time(sum));
    node.ops = std::move(part.ops);
    return node;
  }

  void add_edges(OpId id) {
    const int self = index_.at(id);
    const auto& inputs = graph_.op(id).inputs;
    for (const TensorId tensor : std::set<TensorId>(inputs.begin(), inputs.end())) {
      if (!tensor.valid()) continue;
      const OpId producer = graph_.tensor(tensor).producer;
      if (!producer.valid()) continue;
      const Bytes bytes = graph_.tensor(tensor).bytes();
      const auto known = index_.find(producer);
      if (known == index_.end()) {
        before_[problem_.grouping->group_of(producer)][self] += bytes;
      } else if (known->second != self) {
        bytes_[{known->second, self}] += bytes;
      }
    }
    for (const TensorId tensor : graph_.op(id).outputs) {
      if (!tensor.valid()) continue;
      std::set<GroupId> targets;
      for (const OpId consumer : graph_.consumers(tensor)) {
        if (!index_.contains(consumer)) targets.insert(problem_.grouping->group_of(consumer));
      }
      for (const GroupId to : targets) after_[to][self] += graph_.tensor(tensor).bytes();
    }
  }

  // The groups with most bytes each; the others together.
  void add_boundary(const Beside& beside, bool before) {
    std::vector<std::pair<Bytes, GroupId>> order;
    for (const auto& [group, nodes] : beside) {
      Bytes sum;
      for (const auto& [node, bytes] : nodes) sum += bytes;
      order.emplace_back(sum, group);
    }
    std::ranges::sort(order, [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    const std::size_t own = order.size() > kMostBoundary ? kMostBoundary - 1 : order.size();
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (i < own) content_.nodes.push_back(boundary_node(order[i].second, before));
      if (i == own) content_.nodes.push_back(other_groups(order.size() - own, before));
      const int node = static_cast<int>(content_.nodes.size()) - 1;
      for (const auto& [inside, bytes] : beside.at(order[i].second))
        bytes_[before ? std::pair(node, inside) : std::pair(inside, node)] += bytes;
    }
  }

  GraphNode boundary_node(GroupId group, bool before) const {
    const OpGroup& other = problem_.grouping->group(group);
    GraphNode node;
    node.group = group;
    node.boundary = true;
    node.name = text(other.name);
    node.detail = group == level_.group ? tr("the rest of this group")
                  : before              ? tr("comes from here")
                                        : tr("goes there");
    node.tooltip = tr("<b>%1</b><br>%2 ops; double click opens it")
                       .arg(node.name.left(kLongestTip).toHtmlEscaped())
                       .arg(other.ops.size());
    return node;
  }

  static GraphNode other_groups(std::size_t count, bool before) {
    GraphNode node;
    node.boundary = true;
    node.name = tr("%1 other groups").arg(count);
    node.detail = before ? tr("come from there") : tr("go there");
    node.tooltip = tr("%1 groups with fewer bytes than those shown").arg(count);
    return node;
  }

  const Problem& problem_;
  const Graph& graph_;
  const GraphLevel& level_;
  const std::vector<Nanos>& times_;
  double whole_ = 0;
  GraphContent content_;
  std::unordered_map<OpId, int> index_;
  Beside before_, after_;
  std::map<std::pair<int, int>, Bytes> bytes_;
};

}  // namespace

GraphContent content_of_ops(const Problem& problem, const GraphLevel& level,
                            const std::vector<Nanos>& op_times, std::size_t most) {
  return OpLevel(problem, level, op_times).make(most);
}

}  // namespace strato
