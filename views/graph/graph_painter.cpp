#include "views/graph/graph_painter.h"

#include <QFontMetricsF>
#include <QPainterPath>
#include <cmath>

#include "views/style/fitting_name.h"
#include "views/style/mixed.h"
#include "views/style/style.h"

namespace strato {
namespace {

constexpr double kSmallestText = 9, kLargestText = 14;  // px on the screen
constexpr double kPlainBelow = 12;                      // px: lower boxes are plain rectangles
constexpr double kFaint = 0.3;                          // what is not traced
constexpr double kAlike = 0.45;                         // what another plan decides alike
constexpr double kLeastFlag = 5, kLargestFlag = 13;     // px: the corner of what it does not

class Painter {
 public:
  Painter(QPainter& painter, const GraphScene& scene, const QSize& size)
      : painter_(painter),
        scene_(scene),
        view_(QPointF(0, 0), size),
        dark_(style::is_dark(scene.palette)) {
    ground_ = scene.palette.color(QPalette::Base);
    ink_ = scene.palette.color(QPalette::Text);
    muted_ = mixed(ink_, ground_, 0.4);
    text_px_ = std::clamp(12 * scene.scale, kSmallestText, kLargestText);
    for (const char s : scene.selected) any_selected_ |= s != 0;
    for (const char m : scene.moved) any_moved_ |= m != 0;
  }

  void paint() {
    painter_.setRenderHint(QPainter::Antialiasing);
    for (std::size_t n = 0; n < scene_.content.nodes.size(); ++n) {
      if (scene_.content.nodes[n].frame) paint_frame(n);
    }
    for (const bool lit : {false, true}) {  // lit edges lie over the others
      for (std::size_t e = 0; e < scene_.content.edges.size(); ++e) {
        if (is_lit(scene_.content.edges[e]) == lit) paint_edge(e, lit);
      }
    }
    for (std::size_t n = 0; n < scene_.content.nodes.size(); ++n) {
      if (!scene_.content.nodes[n].frame) paint_node(n);
    }
  }

 private:
  bool is_traced(int n) const {
    return scene_.traced.empty() || scene_.traced[static_cast<std::size_t>(n)] != 0;
  }

  bool is_lit(const GraphEdge& edge) const {
    const auto touches = [&](int n) {
      return n == scene_.hovered || scene_.selected[static_cast<std::size_t>(n)] != 0;
    };
    if (!scene_.traced.empty()) return is_traced(edge.from) && is_traced(edge.to);
    return touches(edge.from) || touches(edge.to);
  }

  QColor edge_colour(std::size_t e, bool lit) const {
    if (!scene_.edge_on_path.empty() && scene_.edge_on_path[e] != 0) return style::critical(dark_);
    if (lit) return style::selection(dark_);
    return mixed(ink_, ground_, any_selected_ || !scene_.traced.empty() ? 0.82 : 0.68);
  }

  void paint_edge(std::size_t e, bool lit) {
    const QPolygonF& points = scene_.layout.edges[e];
    if (points.size() < 4) return;
    if (!scene_.to_view(points.boundingRect()).adjusted(-4, -4, 4, 4).intersects(view_)) return;
    const GraphEdge& edge = scene_.content.edges[e];
    const double bytes = static_cast<double>(std::max(edge.bytes, edge.back).value);
    double width = std::clamp(std::log10(std::max(1.0, bytes / 1e4)), 0.6, 5.0) *
                   std::min(1.0, 0.4 + 0.6 * scene_.scale);
    if (!scene_.edge_on_path.empty() && scene_.edge_on_path[e] != 0) width = std::max(width, 2.0);
    const QColor colour = edge_colour(e, lit);
    painter_.setPen(QPen(colour, width, Qt::SolidLine, Qt::FlatCap));
    if (scene_.scale < 0.25) return paint_small_edge(points);
    QPainterPath path(scene_.to_view(points[0]));
    for (qsizetype i = 1; i + 2 < points.size(); i += 3) {
      path.cubicTo(scene_.to_view(points[i]), scene_.to_view(points[i + 1]),
                   scene_.to_view(points[i + 2]));
    }
    painter_.setBrush(Qt::NoBrush);
    painter_.drawPath(path);
    if (edge.bytes.value > 0) arrow(points[points.size() - 2], points.back(), width, colour);
    if (edge.back.value > 0) arrow(points[1], points[0], width, colour);
  }

  // From knot to knot: at this scale a curve is as good as straight, and costs ten times as much.
  void paint_small_edge(const QPolygonF& points) {
    QPolygonF knots;
    for (qsizetype i = 0; i < points.size(); i += 3) knots << scene_.to_view(points[i]);
    painter_.drawPolyline(knots);
  }

  void arrow(const QPointF& before, const QPointF& tip, double width, const QColor& colour) {
    const QPointF end = scene_.to_view(tip);
    QPointF way = end - scene_.to_view(before);
    const double length = std::hypot(way.x(), way.y());
    if (length < 1e-6) return;
    way /= length;
    const double size = 4 + width * 1.4;
    const QPointF side(-way.y(), way.x()), base = end - way * size;
    painter_.setPen(Qt::NoPen);
    painter_.setBrush(colour);
    painter_.drawPolygon(QPolygonF({end, base + side * size * 0.45, base - side * size * 0.45}));
  }

  void paint_node(std::size_t n) {
    const QRectF box = scene_.to_view(scene_.layout.nodes[n]);
    if (!box.adjusted(-4, -4, 4, 4).intersects(view_)) return;
    painter_.setOpacity(opacity(n));
    if (box.height() < kPlainBelow) {
      painter_.fillRect(box, ground_);
      paint_fill(n, box);
      painter_.setPen(outline(n));
      painter_.setBrush(Qt::NoBrush);
      painter_.drawRect(box);
    } else {
      const double radius = std::min(4.0, box.height() / 5);
      QPainterPath shape;
      shape.addRoundedRect(box, radius, radius);
      painter_.fillPath(shape, ground_);
      painter_.save();
      painter_.setClipPath(shape, Qt::IntersectClip);
      paint_fill(n, box);
      painter_.restore();
      painter_.setPen(outline(n));
      painter_.setBrush(Qt::NoBrush);
      painter_.drawPath(shape);
      paint_text(n, box);
    }
    if (is_moved(n)) paint_flag(box);
    painter_.setOpacity(1);
  }

  bool is_moved(std::size_t n) const { return !scene_.moved.empty() && scene_.moved[n] != 0; }

  // Categories only: a faint quantity would be another one. What is chosen or found is in full.
  double opacity(std::size_t n) const {
    if (!is_traced(static_cast<int>(n))) return kFaint;
    const bool called = scene_.selected[n] != 0 || scene_.found[n] != 0 ||
                        static_cast<int>(n) == scene_.hovered ||
                        static_cast<int>(n) == scene_.echoed;
    return any_moved_ && !is_moved(n) && !called && !is_quantity(scene_.overlay) ? kAlike : 1;
  }

  static double flag_side(const QRectF& box) {
    return std::min({std::max(kLeastFlag, box.height() * 0.4), kLargestFlag, box.width()});
  }

  // A full corner, as of a page that is turned down: seen without colours, too.
  void paint_flag(const QRectF& box) {
    const double side = flag_side(box);
    painter_.setPen(QPen(ground_, 1));
    painter_.setBrush(ink_);
    painter_.drawPolygon(QPolygonF(
        {box.topRight() - QPointF(side, 0), box.topRight(), box.topRight() + QPointF(0, side)}));
  }

  // Of a node that was opened in place: a ground for its parts, and its name.
  void paint_frame(std::size_t n) {
    const QRectF box = scene_.to_view(scene_.layout.nodes[n]);
    if (!box.adjusted(-4, -4, 4, 4).intersects(view_)) return;
    painter_.setPen(outline(n));
    painter_.setBrush(mixed(ground_, ink_, 0.05));
    painter_.drawRoundedRect(box, 4, 4);
    if (box.width() < 36 || 26 * scene_.scale < kSmallestText) return;
    QFont font = scene_.font;
    font.setPixelSize(static_cast<int>(std::lround(text_px_)));
    font.setWeight(QFont::DemiBold);
    line(QRectF(box.left() + 10 * scene_.scale, box.top(), box.width() - 20 * scene_.scale,
                26 * scene_.scale),
         font, ink_, scene_.content.nodes[n].name, scene_.content.nodes[n].detail);
  }

  QPen outline(std::size_t n) const {
    const GraphNode& node = scene_.content.nodes[n];
    if (scene_.selected[n] != 0) return QPen(style::selection(dark_), 3);
    if (static_cast<int>(n) == scene_.hovered || static_cast<int>(n) == scene_.echoed)
      return QPen(ink_, 1.5);
    if (scene_.found[n] != 0) return QPen(style::selection(dark_), 2, Qt::DotLine);
    if (!scene_.on_path.empty() && scene_.on_path[n] != 0) return QPen(style::critical(dark_), 2.5);
    const bool twin = is_twin(node);
    return QPen(mixed(ink_, ground_, twin ? 0.2 : 0.55), twin ? 1.5 : 1,
                node.boundary || twin ? Qt::DashLine : Qt::SolidLine);
  }

  // The same block as the one under the cursor.
  bool is_twin(const GraphNode& node) const {
    if (scene_.hovered < 0 || node.equals < 2) return false;
    return scene_.content.nodes[static_cast<std::size_t>(scene_.hovered)].block == node.block;
  }

  // The colour that fills the whole box; none: the overlay is a category, or has no value here.
  std::optional<QColor> quantity_fill(std::size_t n) const {
    if (!is_quantity(scene_.overlay) || scene_.values.empty() || scene_.content.nodes[n].boundary)
      return std::nullopt;
    return overlay_colour(scene_.overlay, scene_.values[n], scene_.most_value, dark_);
  }

  // Categories: a wide band of colour at the left, split from top to bottom by share, and a light
  // tint of it all over. Quantities: the whole box.
  void paint_fill(std::size_t n, const QRectF& box) {
    const GraphNode& node = scene_.content.nodes[n];
    if (node.boundary) return;
    if (const auto fill = quantity_fill(n)) return painter_.fillRect(box, *fill);
    double y = box.top();
    const auto stripe = [&](const QColor& colour, double share) {
      const double band = std::max(3.0, 12 * std::min(1.0, scene_.scale));
      const double height = box.height() * share;
      painter_.fillRect(QRectF(box.left(), y, box.width(), height), mixed(colour, ground_, 0.84));
      painter_.fillRect(QRectF(box.left(), y, band, height), colour);
      y += height;
    };
    for (std::size_t p = 0; scene_.overlay == Overlay::Phase && p < node.phases.size(); ++p) {
      if (node.phases[p] > 0)
        stripe(style::phase_colour(static_cast<Phase>(p), dark_), node.phases[p]);
    }
    if (scene_.overlay == Overlay::Device && scene_.cluster) {
      for (const PlacementStripe& part : scene_.stripes[n])
        stripe(style::device_group_colour(*scene_.cluster, part.device_group, dark_), part.share);
    }
    if (node.share <= 0 || box.height() < 10) return;
    const double height = std::max(2.0, std::min(3.0, 3 * scene_.scale));
    const QRectF track(box.left(), box.bottom() - height, box.width(), height);
    painter_.fillRect(track, mixed(ink_, ground_, 0.85));
    painter_.fillRect(QRectF(track.topLeft(), QSizeF(track.width() * bar_part(node.share), height)),
                      muted_);
  }

  // The longest node's bar is full: shares of 60 groups would be slivers.
  double bar_part(double share) {
    if (most_ <= 0) {
      for (const GraphNode& node : scene_.content.nodes) most_ = std::max(most_, node.share);
    }
    return share / most_;
  }

  void paint_text(std::size_t n, const QRectF& box) {
    const GraphNode& node = scene_.content.nodes[n];
    if (box.height() < kSmallestText + 3 || box.width() < 36) return;
    const auto fill = quantity_fill(n);
    const QColor ink = fill ? style::text_on(*fill) : ink_;
    const QColor faint = fill ? ink : muted_;
    QFont font = scene_.font;
    font.setPixelSize(static_cast<int>(std::lround(text_px_)));
    const double band = fill ? 6 : 18;
    const double flag = is_moved(n) ? flag_side(box) : 0;
    const QRectF inside =
        box.adjusted(band * std::min(1.0, scene_.scale), 1, -6 * std::min(1.0, scene_.scale), -3);
    const QString times = node.equals > 1 ? QStringLiteral("×%1").arg(node.equals) : QString();
    const bool two = inside.height() >= 2.1 * text_px_;
    QFont strong = font;
    strong.setWeight(QFont::DemiBold);
    const QRectF beside_flag = inside.adjusted(0, 0, -flag, 0);
    line(two ? QRectF(beside_flag.topLeft(), QSizeF(beside_flag.width(), inside.height() / 2))
             : beside_flag,
         strong, ink, node.name, two ? times : QString());
    if (!two) return;
    font.setPixelSize(static_cast<int>(std::lround(std::max(kSmallestText, text_px_ * 0.86))));
    const QRectF lower(inside.left(), inside.center().y(), inside.width(), inside.height() / 2);
    line(lower, font, faint, node.detail, scene_.marks[n]);
  }

  void line(const QRectF& box, const QFont& font, const QColor& colour, const QString& left,
            const QString& right) {
    const QFontMetricsF metrics(font);
    double room = box.width();
    painter_.setFont(font);
    painter_.setPen(colour);
    if (!right.isEmpty()) {
      const double wanted = metrics.horizontalAdvance(right);
      if (wanted < box.width() * 0.6) {
        painter_.drawText(box, Qt::AlignRight | Qt::AlignVCenter, right);
        room -= wanted + 6;
      }
    }
    painter_.drawText(box, Qt::AlignLeft | Qt::AlignVCenter,
                      style::fitting_name(left, metrics, room));
  }

  QPainter& painter_;
  const GraphScene& scene_;
  QRectF view_;
  bool dark_, any_selected_ = false, any_moved_ = false;
  QColor ground_, ink_, muted_;
  double text_px_, most_ = 0;
};

}  // namespace

int GraphScene::node_at(const QPointF& view) const {
  if (!is_laid_out()) return -1;
  const QPointF at = to_layout(view);
  for (std::size_t n = layout.nodes.size(); n-- > 0;) {
    if (layout.nodes[n].contains(at)) return static_cast<int>(n);
  }
  return -1;
}

void GraphScene::mark_values() {
  if (!is_quantity(overlay)) return;
  for (std::size_t n = 0; n < values.size(); ++n) {
    const bool tells = !content.nodes[n].boundary && values[n] != 0;
    marks[n] = tells ? overlay_value_text(overlay, values[n]) : QString();
  }
}

void paint_graph(QPainter& painter, const GraphScene& scene, const QSize& size) {
  painter.fillRect(QRect(QPoint(0, 0), size), scene.palette.color(QPalette::Base));
  if (!scene.is_laid_out()) return;
  Painter(painter, scene, size).paint();
}

}  // namespace strato
