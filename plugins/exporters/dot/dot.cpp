// The placed group graph for Graphviz: a node for every op group, filled with a colour for its set
// of devices; an edge for the tensors between two groups, as wide as their bytes.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <vector>

#include "core/base/quantity_text.h"
#include "core/plugin/api/plugin.h"

namespace strato {
namespace {

// Light fills that black text reads on and that differ for colour-blind eyes too (after Okabe and
// Ito).
constexpr std::array kFills = {"#a6d8f0", "#f7d08a", "#8fd3b6", "#f0b3d0", "#d9d9d9",
                               "#f5e663", "#9db8e8", "#f2a988", "#c9b6e4", "#c8e0a0"};

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c == '\n' || c == '\r' ? ' ' : c;
  }
  return result;
}

class PlacedGraph {
 public:
  explicit PlacedGraph(const ExportInput& input)
      : grouping_(*input.problem.grouping),
        cluster_(*input.problem.cluster),
        graph_(*input.problem.graph),
        strategy_(complete(input.strategy, cluster_)),
        score_(input.outcome.score) {}

  std::string write() {
    text_ = fmt::format("digraph \"{}\" {{\n", escaped(graph_.name()));
    text_ += fmt::format("  label=\"{} on {}: {}{}\";\n", escaped(graph_.name()),
                         escaped(cluster_.name()), time_text(score_.step_time),
                         score_.feasible ? "" : ", out of memory");
    text_ +=
        "  labelloc=t;\n  node [shape=box, style=\"filled,rounded\", fontname=\"sans-serif\"];\n";
    text_ += "  edge [fontname=\"sans-serif\", fontsize=10];\n";
    for (std::size_t i = 0; i < grouping_.size(); ++i) write_group(GroupId(i));
    for (const Grouping::Edge& edge : grouping_.edges()) write_edge(edge);
    return text_ + "}\n";
  }

 private:
  // Groups on the same devices have the same colour; colours in the order of first use.
  const char* fill_of(const Decision& decision) {
    std::vector<DeviceId> devices;
    for (const DeviceShare& share : decision.devices) devices.push_back(share.device);
    const auto [entry, fresh] = fills_.try_emplace(devices, fills_.size());
    return kFills[entry->second % kFills.size()];
  }

  void write_group(GroupId id) {
    const OpGroup& group = grouping_.group(id);
    const Decision& decision = *strategy_.groups[id];
    text_ +=
        fmt::format("  g{} [label=\"{}\\n{} ops, {}, {} of parameters\\n{}\", fillcolor=\"{}\"];\n",
                    id.value(), escaped(group.name), group.ops.size(),
                    time_text(group.compute_time), bytes_text(group.parameter_bytes),
                    escaped(describe(decision, cluster_)), fill_of(decision));
  }

  void write_edge(const Grouping::Edge& edge) {
    const double width =
        0.5 + std::max(0.0, std::log10(static_cast<double>(edge.bytes.value) / 1e5));
    text_ +=
        fmt::format("  g{} -> g{} [label=\"{}\", penwidth={:.2f}];\n", edge.from.value(),
                    edge.to.value(), bytes_text(edge.bytes), edge.bytes.value > 0 ? width : 0.5);
  }

  const Grouping& grouping_;
  const Cluster& cluster_;
  const Graph& graph_;
  Strategy strategy_;
  Score score_;
  std::map<std::vector<DeviceId>, std::size_t> fills_;
  std::string text_;
};

std::string export_dot(const ExportInput& input) { return PlacedGraph(input).write(); }

}  // namespace
}  // namespace strato

STRATOSCOPE_EXPORTER_FUNCTION(strato::export_dot)
