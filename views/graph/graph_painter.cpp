#include "views/graph/graph_painter.h"

#include <QFontMetricsF>
#include <QPainterPath>
#include <cmath>

#include "views/style/fitting_name.h"
#include "views/style/style.h"

namespace strato {
namespace {

constexpr double kSmallestText = 9, kLargestText = 14;  // px on the screen

QColor blend(const QColor& a, const QColor& b, double part_of_b) {
  const auto mix = [&](int x, int y) {
    return static_cast<int>(std::lround(x * (1 - part_of_b) + y * part_of_b));
  };
  return QColor(mix(a.red(), b.red()), mix(a.green(), b.green()), mix(a.blue(), b.blue()));
}

class Painter {
 public:
  Painter(QPainter& painter, const GraphScene& scene, const QSize& size)
      : painter_(painter),
        scene_(scene),
        view_(QPointF(0, 0), size),
        dark_(style::is_dark(scene.palette)) {
    ground_ = scene.palette.color(QPalette::Base);
    ink_ = scene.palette.color(QPalette::Text);
    muted_ = blend(ink_, ground_, 0.4);
    text_px_ = std::clamp(12 * scene.scale, kSmallestText, kLargestText);
    for (const char s : scene.selected) any_selected_ |= s != 0;
  }

  void paint() {
    painter_.setRenderHint(QPainter::Antialiasing);
    for (const bool lit : {false, true}) {  // lit edges lie over the others
      for (std::size_t e = 0; e < scene_.content.edges.size(); ++e) {
        if (is_lit(scene_.content.edges[e]) == lit) paint_edge(e, lit);
      }
    }
    for (std::size_t n = 0; n < scene_.content.nodes.size(); ++n) paint_node(n);
  }

 private:
  bool is_lit(const GraphEdge& edge) const {
    const auto touches = [&](int n) {
      return n == scene_.hovered || scene_.selected[static_cast<std::size_t>(n)] != 0;
    };
    return touches(edge.from) || touches(edge.to);
  }

  void paint_edge(std::size_t e, bool lit) {
    const QPolygonF& points = scene_.layout.edges[e];
    if (points.size() < 4) return;
    if (!scene_.to_view(points.boundingRect()).adjusted(-4, -4, 4, 4).intersects(view_)) return;
    const GraphEdge& edge = scene_.content.edges[e];
    const double bytes = static_cast<double>(std::max(edge.bytes, edge.back).value);
    const double width = std::clamp(std::log10(std::max(1.0, bytes / 1e4)), 0.6, 5.0) *
                         std::min(1.0, 0.4 + 0.6 * scene_.scale);
    QColor colour =
        lit ? style::selection(dark_) : blend(ink_, ground_, any_selected_ ? 0.82 : 0.68);
    QPainterPath path(scene_.to_view(points[0]));
    for (qsizetype i = 1; i + 2 < points.size(); i += 3) {
      path.cubicTo(scene_.to_view(points[i]), scene_.to_view(points[i + 1]),
                   scene_.to_view(points[i + 2]));
    }
    painter_.setPen(QPen(colour, width, Qt::SolidLine, Qt::FlatCap));
    painter_.setBrush(Qt::NoBrush);
    painter_.drawPath(path);
    if (scene_.scale < 0.25) return;
    if (edge.bytes.value > 0) arrow(points[points.size() - 2], points.back(), width, colour);
    if (edge.back.value > 0) arrow(points[1], points[0], width, colour);
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
    const GraphNode& node = scene_.content.nodes[n];
    const double radius = std::min(4.0, box.height() / 5);
    QPainterPath shape;
    shape.addRoundedRect(box, radius, radius);
    painter_.fillPath(shape, ground_);
    painter_.save();
    painter_.setClipPath(shape, Qt::IntersectClip);
    paint_fill(n, box);
    painter_.restore();
    const bool selected = scene_.selected[n] != 0, hovered = static_cast<int>(n) == scene_.hovered;
    QPen pen(blend(ink_, ground_, 0.55), 1, node.boundary ? Qt::DashLine : Qt::SolidLine);
    if (scene_.found[n] != 0) pen = QPen(style::critical(dark_), 2);
    if (hovered) pen = QPen(ink_, 1.5);
    if (selected) pen = QPen(style::selection(dark_), 3);
    painter_.setPen(pen);
    painter_.setBrush(Qt::NoBrush);
    painter_.drawPath(shape);
    paint_text(n, box);
  }

  // A wide band of colour at the left, split from top to bottom by share, and a light tint of it
  // all over.
  void paint_fill(std::size_t n, const QRectF& box) {
    const GraphNode& node = scene_.content.nodes[n];
    if (node.boundary) return;
    if (node.op.valid()) {
      const QColor colour = style::phase_colour(node.phase, dark_);
      painter_.fillRect(box, blend(colour, ground_, 0.82));
      painter_.fillRect(
          QRectF(box.topLeft(), QSizeF(6 * std::min(1.0, scene_.scale), box.height())), colour);
    } else if (scene_.cluster) {
      const double band = std::max(3.0, 12 * std::min(1.0, scene_.scale));
      double y = box.top();
      for (const PlacementStripe& stripe : scene_.stripes[n]) {
        const QColor colour =
            style::device_group_colour(*scene_.cluster, stripe.device_group, dark_);
        const double height = box.height() * stripe.share;
        painter_.fillRect(QRectF(box.left(), y, box.width(), height), blend(colour, ground_, 0.84));
        painter_.fillRect(QRectF(box.left(), y, band, height), colour);
        y += height;
      }
    }
    if (node.share <= 0 || box.height() < 10) return;
    const double height = std::max(2.0, std::min(3.0, 3 * scene_.scale));
    const QRectF track(box.left(), box.bottom() - height, box.width(), height);
    painter_.fillRect(track, blend(ink_, ground_, 0.85));
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
    QFont font = scene_.font;
    font.setPixelSize(static_cast<int>(std::lround(text_px_)));
    const double band = node.op.valid() ? 12 : 18;
    const QRectF inside = box.adjusted(band * std::min(1.0, scene_.scale) + (node.boundary ? 0 : 1),
                                       1, -6 * std::min(1.0, scene_.scale), -3);
    const QString& mode = scene_.modes[n];
    const bool two = inside.height() >= 2.1 * text_px_;
    QFont strong = font;
    strong.setWeight(QFont::DemiBold);
    line(two ? QRectF(inside.topLeft(), QSizeF(inside.width(), inside.height() / 2)) : inside,
         strong, ink_, node.name, QString());
    if (!two) return;
    font.setPixelSize(static_cast<int>(std::lround(std::max(kSmallestText, text_px_ * 0.86))));
    const QRectF lower(inside.left(), inside.center().y(), inside.width(), inside.height() / 2);
    line(lower, font, muted_, node.detail, mode);
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
  bool dark_, any_selected_ = false;
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

void paint_graph(QPainter& painter, const GraphScene& scene, const QSize& size) {
  painter.fillRect(QRect(QPoint(0, 0), size), scene.palette.color(QPalette::Base));
  if (!scene.is_laid_out()) return;
  Painter(painter, scene, size).paint();
}

std::optional<MiniMap> mini_map(const GraphScene& scene, const QSize& size) {
  if (!scene.is_laid_out()) return std::nullopt;
  if (QRectF(QPointF(-2, -2), QSizeF(size) + QSizeF(4, 4))
          .contains(scene.to_view(scene.layout.bounds)))
    return std::nullopt;
  const QSizeF most(std::min(168.0, size.width() * 0.25), std::min(140.0, size.height() * 0.45));
  const double scale = std::min(most.width() / scene.layout.bounds.width(),
                                most.height() / scene.layout.bounds.height());
  const QSizeF inside = scene.layout.bounds.size() * scale;
  const QSizeF outer(std::max(32.0, inside.width()) + 8, std::max(32.0, inside.height()) + 8);
  const QRectF box(QPointF(size.width() - outer.width() - 8, size.height() - outer.height() - 8),
                   outer);
  const QPointF origin = box.center() - scene.layout.bounds.center() * scale;
  return MiniMap{box, scale, origin};
}

void paint_mini_map(QPainter& painter, const GraphScene& scene, const QSize& size) {
  const auto map = mini_map(scene, size);
  if (!map) return;
  const bool dark = style::is_dark(scene.palette);
  painter.setRenderHint(QPainter::Antialiasing, false);
  QColor ground = scene.palette.color(QPalette::Window);
  ground.setAlphaF(0.94f);
  painter.fillRect(map->box, ground);
  painter.setPen(
      blend(scene.palette.color(QPalette::Text), scene.palette.color(QPalette::Base), 0.7));
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(map->box);
  painter.save();
  painter.setClipRect(map->box);
  for (std::size_t n = 0; n < scene.layout.nodes.size(); ++n) {
    const QRectF node = scene.layout.nodes[n];
    QColor colour =
        blend(scene.palette.color(QPalette::Text), scene.palette.color(QPalette::Base), 0.5);
    if (!scene.stripes[n].empty() && scene.cluster) {
      colour =
          style::device_group_colour(*scene.cluster, scene.stripes[n].front().device_group, dark);
    }
    if (scene.selected[n] != 0) colour = style::selection(dark);
    painter.fillRect(QRectF(node.topLeft() * map->scale + map->origin,
                            QSizeF(std::max(1.5, node.width() * map->scale),
                                   std::max(1.5, node.height() * map->scale))),
                     colour);
  }
  const QRectF seen(scene.to_layout(QPointF(0, 0)) * map->scale + map->origin,
                    QSizeF(size) / scene.scale * map->scale);
  painter.setPen(QPen(style::selection(dark), 1.5));
  painter.drawRect(seen);
  painter.restore();
}

}  // namespace strato
