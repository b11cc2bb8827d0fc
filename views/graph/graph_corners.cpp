// What lies over the corners of the drawn graph: the overview map and the legend.
#include <QFontMetricsF>
#include <algorithm>

#include "views/graph/graph_painter.h"
#include "views/style/style.h"

namespace strato {
namespace {

constexpr double kMargin = 8, kPad = 8, kSwatch = 12, kRampWidth = 120;
constexpr int kLegendText = 11;  // px
constexpr std::size_t kMostEntries = 12;

QColor faint(const QPalette& palette, float part) {
  QColor colour = palette.color(QPalette::Text);
  colour.setAlphaF(part);
  return colour;
}

class LegendPainter {
 public:
  LegendPainter(QPainter& painter, const GraphScene& scene, const QSize& size)
      : painter_(painter), scene_(scene), font_(scene.font), room_(size) {
    font_.setPixelSize(kLegendText);
    line_ = QFontMetricsF(font_).height() + 3;
  }

  void paint() {
    const QSizeF size(width() + 2 * kPad, height() + 2 * kPad - 4);
    const double map = mini_map(scene_, room_.toSize()) ? room_.width() * 0.25 + 16 : 0;
    if (size.width() + map > room_.width() - 2 * kMargin || size.height() > room_.height() * 0.6)
      return;
    const QRectF box(QPointF(kMargin, room_.height() - size.height() - kMargin), size);
    QColor ground = scene_.palette.color(QPalette::Window);
    ground.setAlphaF(0.94f);
    painter_.fillRect(box, ground);
    painter_.setFont(font_);
    QPointF at = box.topLeft() + QPointF(kPad, kPad - 2);
    QFont strong = font_;
    strong.setWeight(QFont::DemiBold);
    painter_.setFont(strong);
    text(at, scene_.legend.title);
    painter_.setFont(font_);
    at.ry() += line_;
    if (!scene_.legend.ramp.empty()) return paint_ramp(at);
    for (std::size_t i = 0; i < shown(); ++i, at.ry() += line_) {
      painter_.fillRect(QRectF(at + QPointF(0, 1), QSizeF(kSwatch, kSwatch)),
                        scene_.legend.entries[i].colour);
      text(at + QPointF(kSwatch + 6, 0), label(i));
    }
  }

 private:
  std::size_t shown() const { return std::min(kMostEntries, scene_.legend.entries.size()); }

  QString label(std::size_t i) const {
    const std::size_t all = scene_.legend.entries.size();
    if (i + 1 == kMostEntries && all > kMostEntries)
      return QStringLiteral("and %1 more").arg(all - i);
    return QFontMetricsF(font_).elidedText(scene_.legend.entries[i].text.left(80), Qt::ElideMiddle, 140);
  }

  double width() const {
    const QFontMetricsF metrics(font_);
    double widest = metrics.horizontalAdvance(scene_.legend.title) * 1.1;
    for (std::size_t i = 0; i < shown(); ++i)
      widest = std::max(widest, kSwatch + 6 + metrics.horizontalAdvance(label(i)));
    if (!scene_.legend.ramp.empty()) {
      widest = std::max({widest, kRampWidth,
                         metrics.horizontalAdvance(scene_.legend.least + scene_.legend.most) + 16});
    }
    return widest;
  }
  double height() const {
    return line_ * static_cast<double>(scene_.legend.ramp.empty() ? 1 + shown() : 3);
  }

  void text(const QPointF& at, const QString& words) {
    painter_.setPen(scene_.palette.color(QPalette::WindowText));
    painter_.drawText(QRectF(at, QSizeF(400, line_)), Qt::AlignLeft | Qt::AlignTop, words);
  }

  void paint_ramp(const QPointF& at) {
    const auto& ramp = scene_.legend.ramp;
    const double all = width(), step = all / static_cast<double>(ramp.size());
    for (std::size_t i = 0; i < ramp.size(); ++i) {
      painter_.fillRect(
          QRectF(at + QPointF(step * static_cast<double>(i), 1), QSizeF(step + 0.5, kSwatch)),
          ramp[i]);
    }
    text(at + QPointF(0, line_), scene_.legend.least);
    painter_.drawText(QRectF(at + QPointF(0, line_), QSizeF(all, line_)),
                      Qt::AlignRight | Qt::AlignTop, scene_.legend.most);
  }

  QPainter& painter_;
  const GraphScene& scene_;
  QFont font_;
  QSizeF room_;
  double line_;
};

}  // namespace

void paint_legend(QPainter& painter, const GraphScene& scene, const QSize& size) {
  if (!scene.is_laid_out() || (scene.legend.entries.empty() && scene.legend.ramp.empty())) return;
  LegendPainter(painter, scene, size).paint();
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
  const QColor plain = faint(scene.palette, 0.5);
  painter.setPen(faint(scene.palette, 0.3));
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(map->box);
  painter.save();
  painter.setClipRect(map->box);
  for (std::size_t n = 0; n < scene.layout.nodes.size(); ++n) {
    const QRectF node = scene.layout.nodes[n];
    QColor colour = plain;
    if (is_quantity(scene.overlay) && !scene.values.empty()) {
      colour = overlay_colour(scene.overlay, scene.values[n], scene.most_value, dark);
    } else if (scene.overlay == Overlay::Phase && !scene.content.nodes[n].boundary) {
      const auto& phases = scene.content.nodes[n].phases;
      const auto most = std::ranges::max_element(phases) - phases.begin();
      colour = style::phase_colour(static_cast<Phase>(most), dark);
    } else if (!scene.stripes[n].empty() && scene.cluster) {
      colour =
          style::device_group_colour(*scene.cluster, scene.stripes[n].front().device_group, dark);
    }
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
