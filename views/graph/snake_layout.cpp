// Chains (most vision models) are far longer than a window: like lines of text, they are wrapped.
#include <algorithm>

#include "views/graph/graph_layout.h"

namespace strato {
namespace {

constexpr double kBandGap = 40, kRankStep = 4;
constexpr std::size_t kMostBands = 16;

// Everything below flows to the right; a layout that flows down is turned and turned back.
QPointF turned(const QPointF& p) { return p.transposed(); }
QRectF turned(const QRectF& r) { return QRectF(turned(r.topLeft()), r.size().transposed()); }
QPolygonF turned(const QPolygonF& line) {
  QPolygonF result;
  for (const QPointF& p : line) result << turned(p);
  return result;
}
GraphLayout turned(const GraphLayout& layout) {
  GraphLayout result;
  for (const QRectF& node : layout.nodes) result.nodes.push_back(turned(node));
  for (const QPolygonF& edge : layout.edges) result.edges.push_back(turned(edge));
  result.bounds = turned(layout.bounds);
  result.approximate = layout.approximate;
  return result;
}

class Snake {
 public:
  Snake(const GraphLayout& layout, const LayoutRequest& request)
      : layout_(layout), request_(request) {
    for (const QRectF& node : layout.nodes) ranks_.push_back(node.center().x());
    std::sort(ranks_.begin(), ranks_.end());
    ranks_.erase(std::unique(ranks_.begin(), ranks_.end(),
                             [](double a, double b) { return b - a < kRankStep; }),
                 ranks_.end());
  }

  std::size_t rank_count() const { return ranks_.size(); }

  GraphLayout cut(std::size_t bands) const {
    std::vector<std::size_t> band_of;
    std::vector<QRectF> extent(bands);
    for (const QRectF& node : layout_.nodes) {
      const auto found = std::upper_bound(ranks_.begin(), ranks_.end(), node.center().x() + 1e-6);
      const auto rank =
          static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, found - ranks_.begin() - 1));
      band_of.push_back(std::min(bands - 1, rank * bands / ranks_.size()));
      extent[band_of.back()] |= node;
    }
    for (std::size_t e = 0; e < layout_.edges.size(); ++e) {  // edges bulge
      const std::size_t from = band_of[index(request_.edges[e].from)],
                        to = band_of[index(request_.edges[e].to)];
      if (from == to && !layout_.edges[e].isEmpty())
        extent[from] |= layout_.edges[e].boundingRect();
    }
    double length = 0;
    for (const QRectF& box : extent) length = std::max(length, box.width());
    std::vector<double> top;
    double y = 0;
    for (const QRectF& box : extent) {
      top.push_back(y);
      y += box.height() + kBandGap;
    }
    const auto moved = [&](std::size_t band, const QPointF& p) {
      const double along = p.x() - extent[band].left();
      return QPointF(band % 2 == 0 ? along : length - along,
                     p.y() - extent[band].top() + top[band]);
    };
    GraphLayout result;
    result.approximate = layout_.approximate;
    for (std::size_t n = 0; n < layout_.nodes.size(); ++n) {
      QRectF box = layout_.nodes[n];
      box.moveCenter(moved(band_of[n], box.center()));
      result.nodes.push_back(box);
    }
    for (std::size_t e = 0; e < layout_.edges.size(); ++e) {
      const std::size_t from = index(request_.edges[e].from), to = index(request_.edges[e].to);
      QPolygonF line;
      if (band_of[from] == band_of[to]) {
        for (const QPointF& p : layout_.edges[e]) line << moved(band_of[from], p);
      } else {
        line = across(result.nodes[from], result.nodes[to]);
      }
      result.edges.push_back(line);
    }
    for (const QRectF& node : result.nodes) result.bounds |= node;
    for (const QPolygonF& edge : result.edges) result.bounds |= edge.boundingRect();
    result.bounds.adjust(-8, -8, 8, 8);
    return result;
  }

 private:
  static std::size_t index(int n) { return static_cast<std::size_t>(n); }

  static QPolygonF across(const QRectF& from, const QRectF& to) {
    const bool down = to.center().y() > from.center().y();
    const QPointF a(from.center().x(), down ? from.bottom() : from.top()),
        b(to.center().x(), down ? to.top() : to.bottom());
    const QPointF pull(0, (b.y() - a.y()) / 2);
    return QPolygonF({a, a + pull, b - pull, b});
  }

  const GraphLayout& layout_;
  const LayoutRequest& request_;
  std::vector<double> ranks_;
};

}  // namespace

GraphLayout snaked(const GraphLayout& layout, const LayoutRequest& request, const QSizeF& view) {
  const bool down = request.direction == FlowDirection::Down;
  const GraphLayout flat = down ? turned(layout) : layout;
  const QSizeF room = down ? view.transposed() : view;
  const Snake snake(flat, request);
  GraphLayout best = flat;
  double scale = fit_scale(flat, room);
  for (std::size_t bands = 2; bands <= std::min(kMostBands, snake.rank_count()); ++bands) {
    GraphLayout tried = snake.cut(bands);
    if (fit_scale(tried, room) <= scale * 1.15) continue;  // bands cost some overview
    scale = fit_scale(tried, room);
    best = std::move(tried);
  }
  return down ? turned(best) : best;
}

}  // namespace strato
