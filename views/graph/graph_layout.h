// Where nodes and edges of a drawn graph lie: what is asked of Graphviz's dot, its answer read, and
// a plain layered layout of our own for when it is missing or too slow. Values only; coordinates in
// pixels at scale 1, y down.
#pragma once

#include <QByteArray>
#include <QPolygonF>
#include <QRectF>
#include <QSizeF>
#include <optional>
#include <vector>

namespace strato {

enum class FlowDirection { Down, Right };

struct LayoutRequest {
  struct Edge {
    int from, to;       // indices of nodes
    double weight = 1;  // heavier edges are kept shorter and straighter
  };
  std::vector<QSizeF> nodes;
  std::vector<Edge> edges;
  FlowDirection direction = FlowDirection::Down;
};

struct GraphLayout {
  std::vector<QRectF> nodes;     // as in the request
  std::vector<QPolygonF> edges;  // cubic Bezier chain: 1 + 3 n points; empty when not drawn
  QRectF bounds;
  bool approximate = false;  // made by layered_layout
};

QByteArray to_dot(const LayoutRequest& request);
// The answer of `dot -Tplain`; nothing when it is not complete or does not fit the request.
std::optional<GraphLayout> parse_plain(const QByteArray& answer, const LayoutRequest& request);

// Longest-path layers, ordered by the mean of the neighbours; cycles are cut where a depth-first
// walk closes them.
GraphLayout layered_layout(const LayoutRequest& request);

// Where many nodes have no edge: the request without them, and which nodes were kept; and the
// layout of what was kept with the others in a grid below it.
LayoutRequest without_isolated(const LayoutRequest& request, std::vector<int>& kept);
GraphLayout with_isolated(const GraphLayout& joined, const LayoutRequest& request,
                          const std::vector<int>& kept);

// A long, narrow layout cut into bands that lie beside each other and run to and fro, where that is
// drawn larger in `view`; else the layout as it is.
GraphLayout snaked(const GraphLayout& layout, const LayoutRequest& request, const QSizeF& view);

inline constexpr double kLegibleScale = 0.62;  // below, a label says too little

// How large the layout is drawn when it just fits into the view.
double fit_scale(const GraphLayout& layout, const QSizeF& view);

}  // namespace strato
