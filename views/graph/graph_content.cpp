#include "views/graph/graph_content.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "views/style/style.h"

namespace strato {
namespace {

constexpr QSizeF kGroupSize(132, 44), kOpSize(132, 32), kBoundarySize(148, 32);

// Wide enough for the last part of the name, which says most; by letters, so that a layout does not
// depend on the machine's fonts.
QSizeF group_size(const QString& name) {
  const auto last = name.size() - 1 - name.lastIndexOf(QLatin1Char('/'), name.size() - 2);
  return {std::clamp(28 + 6.8 * static_cast<double>(last), kGroupSize.width(), 184.0),
          kGroupSize.height()};
}

QString text_of(const std::string& text) { return QString::fromStdString(text); }

// Where in the forward pass a group lies: the mean id of its forward ops.
std::vector<double> positions(const Problem& problem) {
  const Graph& graph = *problem.graph;
  std::vector<double> result;
  for (const OpGroup& group : problem.grouping->groups()) {
    double sum = 0;
    for (const OpId op : group.ops) {
      const OpId forward = graph.op(op).forward;
      sum += (forward.valid() ? forward : op).value();
    }
    result.push_back(group.ops.empty() ? 0 : sum / static_cast<double>(group.ops.size()));
  }
  return result;
}

class OpContent {
 public:
  OpContent(const Problem& problem, GroupId group, const std::vector<Nanos>& times,
            std::size_t most)
      : problem_(problem), graph_(*problem.graph), group_(group), times_(times) {
    const std::vector<OpId>& all = problem.grouping->group(group).ops;
    ops_ = all;
    if (all.size() > most) {
      std::stable_sort(ops_.begin(), ops_.end(), [&](OpId a, OpId b) { return time(a) > time(b); });
      ops_.resize(most);
      std::sort(ops_.begin(), ops_.end());
      content_.note = QStringLiteral("The %1 longest of %2 ops").arg(most).arg(all.size());
    }
    for (const OpId op : all) whole_ += static_cast<double>(time(op).value);
  }

  GraphContent make() {
    for (const OpId op : ops_) add_op(op);
    for (const OpId op : ops_) add_edges(op);
    for (const auto& [ends, bytes] : bytes_) {
      content_.edges.push_back({ends.first, ends.second, bytes, Bytes(0)});
    }
    return std::move(content_);
  }

 private:
  Nanos time(OpId op) const { return op.index() < times_.size() ? times_[op.index()] : Nanos(0); }

  void add_op(OpId id) {
    const Op& op = graph_.op(id);
    GraphNode node;
    node.group = group_;
    node.op = id;
    node.name = text_of(op.name);
    node.detail = text_of(op.type);
    node.share = whole_ > 0 ? static_cast<double>(time(id).value) / whole_ : 0;
    node.phase = op.phase;
    node.tooltip = QStringLiteral("<b>%1</b><br>%2, %3<br>%4 on average, %5")
                       .arg(text_of(op.name).toHtmlEscaped(), text_of(op.type),
                            QString::fromUtf8(name_of(op.phase).data()), style::time(time(id)),
                            style::flops(op.work.flops));
    index_[id] = static_cast<int>(content_.nodes.size());
    content_.nodes.push_back(std::move(node));
  }

  int boundary(GroupId group, bool before) {
    const auto [found, added] =
        boundary_.try_emplace({group, before}, static_cast<int>(content_.nodes.size()));
    if (added) {
      const OpGroup& other = problem_.grouping->group(group);
      GraphNode node;
      node.group = group;
      node.boundary = true;
      node.name = text_of(other.name);
      node.detail = before ? QStringLiteral("comes from here") : QStringLiteral("goes there");
      node.tooltip = QStringLiteral("<b>%1</b><br>%2 ops; double click opens it")
                         .arg(text_of(other.name).toHtmlEscaped())
                         .arg(other.ops.size());
      content_.nodes.push_back(std::move(node));
    }
    return found->second;
  }

  void add_edges(OpId id) {
    const int self = index_.at(id);
    std::vector<TensorId> inputs = graph_.op(id).inputs;
    std::sort(inputs.begin(), inputs.end());
    inputs.erase(std::unique(inputs.begin(), inputs.end()), inputs.end());
    for (const TensorId tensor : inputs) {
      if (!tensor.valid()) continue;
      const OpId producer = graph_.tensor(tensor).producer;
      if (!producer.valid()) continue;
      const GroupId from = problem_.grouping->group_of(producer);
      if (from != group_) {
        bytes_[{boundary(from, true), self}] += graph_.tensor(tensor).bytes();
      } else if (const auto known = index_.find(producer); known != index_.end()) {
        bytes_[{known->second, self}] += graph_.tensor(tensor).bytes();
      }
    }
    for (const TensorId tensor : graph_.op(id).outputs) {
      if (!tensor.valid()) continue;
      std::vector<GroupId> targets;
      for (const OpId consumer : graph_.consumers(tensor)) {
        const GroupId to = problem_.grouping->group_of(consumer);
        if (to != group_ && std::find(targets.begin(), targets.end(), to) == targets.end())
          targets.push_back(to);
      }
      for (const GroupId to : targets)
        bytes_[{self, boundary(to, false)}] += graph_.tensor(tensor).bytes();
    }
  }

  const Problem& problem_;
  const Graph& graph_;
  GroupId group_;
  const std::vector<Nanos>& times_;
  std::vector<OpId> ops_;
  double whole_ = 0;
  GraphContent content_;
  std::map<OpId, int> index_;
  std::map<std::pair<GroupId, bool>, int> boundary_;
  std::map<std::pair<int, int>, Bytes> bytes_;
};

}  // namespace

GraphContent content_of_groups(const Problem& problem) {
  const Grouping& grouping = *problem.grouping;
  GraphContent content;
  double whole = 0;
  for (const OpGroup& group : grouping.groups())
    whole += static_cast<double>(group.compute_time.value);
  for (std::size_t g = 0; g < grouping.size(); ++g) {
    const OpGroup& group = grouping.group(GroupId(g));
    GraphNode node;
    node.group = GroupId(g);
    node.name = text_of(group.name);
    node.detail = QStringLiteral("%1 ops").arg(group.ops.size());
    node.share = whole > 0 ? static_cast<double>(group.compute_time.value) / whole : 0;
    node.tooltip =
        QStringLiteral("<b>%1</b><br>%2 ops, %3 of all compute time (%4)<br>parameters %5")
            .arg(node.name.toHtmlEscaped())
            .arg(group.ops.size())
            .arg(style::percent(node.share), style::time(group.compute_time),
                 style::bytes(group.parameter_bytes));
    content.nodes.push_back(std::move(node));
  }
  const std::vector<double> position = positions(problem);
  std::map<std::pair<int, int>, GraphEdge> edges;
  for (const Grouping::Edge& edge : grouping.edges()) {
    if (edge.from == edge.to) continue;
    const bool along = std::pair(position[edge.from.index()], edge.from) <
                       std::pair(position[edge.to.index()], edge.to);
    const int first = (along ? edge.from : edge.to).value(),
              second = (along ? edge.to : edge.from).value();
    GraphEdge& merged =
        edges.try_emplace({first, second}, GraphEdge{first, second, Bytes(0), Bytes(0)})
            .first->second;
    (along ? merged.bytes : merged.back) += edge.bytes;
  }
  for (const auto& [ends, edge] : edges) content.edges.push_back(edge);
  return content;
}

GraphContent content_of_group(const Problem& problem, GroupId group,
                              const std::vector<Nanos>& op_times, std::size_t most) {
  return OpContent(problem, group, op_times, most).make();
}

std::vector<PlacementStripe> stripes_of(const Decision& decision, const Cluster& cluster) {
  const bool weighted =
      decision.mode == Mode::ReplicateAllReduce || decision.mode == Mode::ReplicatePs;
  std::map<DeviceGroupId, double> sums;
  double whole = 0;
  for (const DeviceShare& share : decision.devices) {
    const double weight = weighted ? share.weight : 1;
    sums[cluster.device(share.device).group] += weight;
    whole += weight;
  }
  std::vector<PlacementStripe> stripes;
  for (const auto& [group, sum] : sums) stripes.push_back({group, sum / whole});
  return stripes;
}

LayoutRequest layout_request(const GraphContent& content, FlowDirection direction) {
  LayoutRequest request;
  request.direction = direction;
  for (const GraphNode& node : content.nodes) {
    request.nodes.push_back(node.boundary ? kBoundarySize : node.op.valid() ? kOpSize : group_size(node.name));
  }
  for (const GraphEdge& edge : content.edges) {
    const double bytes = static_cast<double>((edge.bytes + edge.back).value);
    request.edges.push_back(
        {edge.from, edge.to, std::clamp(2 * std::log10(std::max(1.0, bytes / 1e5)), 1.0, 10.0)});
  }
  return request;
}

}  // namespace strato
