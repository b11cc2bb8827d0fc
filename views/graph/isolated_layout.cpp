// Nodes without an edge need no layout but a place: a grid below the others.
#include <algorithm>
#include <cmath>

#include "views/graph/graph_layout.h"

namespace strato {
namespace {
constexpr double kIsolatedGap = 16, kBelow = 36, kMargin = 8,
                 kShape = 1.6;   // width over height, of a grid alone
constexpr std::size_t kFew = 3;  // so many go with the others
}  // namespace

LayoutRequest without_isolated(const LayoutRequest& request, std::vector<int>& kept) {
  std::vector<int> place(request.nodes.size(), -1);
  for (const LayoutRequest::Edge& edge : request.edges)
    place[static_cast<std::size_t>(edge.from)] = place[static_cast<std::size_t>(edge.to)] = 0;
  if (static_cast<std::size_t>(std::ranges::count(place, -1)) <= kFew) std::ranges::fill(place, 0);
  LayoutRequest joined;
  joined.direction = request.direction;
  kept.clear();
  for (std::size_t n = 0; n < place.size(); ++n) {
    if (place[n] < 0) continue;
    place[n] = static_cast<int>(kept.size());
    kept.push_back(static_cast<int>(n));
    joined.nodes.push_back(request.nodes[n]);
  }
  joined.edges = request.edges;
  for (LayoutRequest::Edge& edge : joined.edges) {
    edge.from = place[static_cast<std::size_t>(edge.from)];
    edge.to = place[static_cast<std::size_t>(edge.to)];
  }
  return joined;
}

GraphLayout with_isolated(const GraphLayout& joined, const LayoutRequest& request,
                          const std::vector<int>& kept) {
  if (kept.size() == request.nodes.size()) return joined;
  GraphLayout layout = joined;
  layout.nodes.assign(request.nodes.size(), QRectF());
  for (std::size_t i = 0; i < kept.size(); ++i)
    layout.nodes[static_cast<std::size_t>(kept[i])] = joined.nodes[i];
  double area = 0, widest = 0;
  for (std::size_t n = 0; n < request.nodes.size(); ++n) {
    if (!layout.nodes[n].isNull()) continue;
    area += (request.nodes[n].width() + kIsolatedGap) * (request.nodes[n].height() + kIsolatedGap);
    widest = std::max(widest, request.nodes[n].width());
  }
  const QRectF above = joined.nodes.empty() ? QRectF(0, -kBelow, 0, 0) : joined.bounds;
  const double right = above.left() + std::max({widest, above.width(), std::sqrt(area * kShape)});
  QPointF at(above.left() + (joined.nodes.empty() ? 0 : kMargin), above.bottom() + kBelow);
  double deepest = 0;
  for (std::size_t n = 0; n < request.nodes.size(); ++n) {
    if (!layout.nodes[n].isNull()) continue;
    const QSizeF& size = request.nodes[n];
    if (deepest > 0 && at.x() + size.width() > right) {
      at = QPointF(above.left() + (joined.nodes.empty() ? 0 : kMargin),
                   at.y() + deepest + kIsolatedGap);
      deepest = 0;
    }
    layout.nodes[n] = QRectF(at, size);
    layout.bounds |= layout.nodes[n].adjusted(-kMargin, -kMargin, kMargin, kMargin);
    at.rx() += size.width() + kIsolatedGap;
    deepest = std::max(deepest, size.height());
  }
  return layout;
}

}  // namespace strato
