// The overview map, over a corner of the drawn graph.
#include <algorithm>

#include "views/graph/graph_painter.h"
#include "views/style/style.h"

namespace strato {
namespace {

constexpr QSize kLeast(440, 240);  // of a view: in a smaller one the map would hide what it shows

QColor faint(const QPalette& palette, float part) {
  QColor colour = palette.color(QPalette::Text);
  colour.setAlphaF(part);
  return colour;
}

}  // namespace

bool all_in_sight(const GraphScene& scene, const QSize& size) {
  return !scene.is_laid_out() || QRectF(QPointF(-2, -2), QSizeF(size) + QSizeF(4, 4))
                                     .contains(scene.to_view(scene.layout.bounds));
}

std::optional<MiniMap> mini_map(const GraphScene& scene, const QSize& size) {
  if (!scene.is_laid_out()) return std::nullopt;
  if (size.width() < kLeast.width() || size.height() < kLeast.height()) return std::nullopt;
  if (all_in_sight(scene, size)) return std::nullopt;
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
  const QColor plain = faint(scene.palette, 0.5);
  painter.setPen(faint(scene.palette, 0.3));
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(map->box);
  painter.save();
  painter.setClipRect(map->box);
  const bool any_moved = std::ranges::find(scene.moved, 1) != scene.moved.end();
  for (std::size_t n = 0; n < scene.layout.nodes.size(); ++n) {
    const QRectF node = scene.layout.nodes[n];
    QColor colour = scene.content.nodes[n].frame ? faint(scene.palette, 0.12) : plain;
    if (is_quantity(scene.overlay) && !scene.values.empty()) {
      colour = overlay_colour(scene.overlay, scene.values[n], scene.most_value, dark);
    } else if (scene.overlay == Overlay::Phase && !scene.content.nodes[n].boundary) {
      const auto& phases = scene.content.nodes[n].phases;
      const auto most = std::ranges::max_element(phases) - phases.begin();
      colour = style::phase_colour(static_cast<Phase>(most), dark);
    } else if (!scene.stripes[n].empty() && scene.cluster && !scene.content.nodes[n].frame) {
      colour =
          style::device_group_colour(*scene.cluster, scene.stripes[n].front().device_group, dark);
    }
    if (any_moved && scene.moved[n] == 0 && !is_quantity(scene.overlay))
      colour.setAlphaF(colour.alphaF() * 0.35f);
    if (scene.selected[n] != 0 || scene.found[n] != 0) colour = style::selection(dark);
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
