#include "views/timeline/legend_strip.h"

#include <QPainter>

#include "views/style/style.h"

namespace strato {
namespace {
constexpr int kSwatch = 12, kGap = 4, kBetween = 12;
}

LegendStrip::LegendStrip(QWidget* parent) : QWidget(parent) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  setAccessibleName(tr("Legend"));
}

void LegendStrip::show_legend(const SliceColours& colours, bool hatched) {
  entries_.clear();
  hatched_ = hatched;
  QStringList names;
  for (const SliceColours::Entry& entry : colours.legend) {
    if (!entry.used) continue;
    entries_.push_back(entry);
    names << entry.name;
  }
  setToolTip(names.isEmpty()
                 ? QString()
                 : tr("%1\nComputation is solid, communication is hatched.").arg(names.join(", ")));
  updateGeometry();
  update();
}

QSize LegendStrip::sizeHint() const {
  int width = 0;
  for (const auto& entry : entries_) {
    width += kSwatch + kGap + fontMetrics().horizontalAdvance(entry.name) + kBetween;
  }
  return QSize(width, 20);
}

void LegendStrip::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const int more_width = fontMetrics().horizontalAdvance(QStringLiteral("+99"));
  int x = 0;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const SliceColours::Entry& entry = entries_[i];
    const int name_width = fontMetrics().horizontalAdvance(entry.name);
    const bool last = i + 1 == entries_.size();
    if (x + kSwatch + kGap + name_width + (last ? 0 : kBetween + more_width) > width()) {
      painter.setPen(style::muted_text(palette()));
      painter.drawText(QRect(x, 0, width() - x, height()), Qt::AlignVCenter,
                       QStringLiteral("+%1").arg(entries_.size() - i));
      return;
    }
    const QRect swatch(x, (height() - kSwatch) / 2, kSwatch, kSwatch);
    const QColor ground = palette().color(QPalette::Base);
    const SliceFill fill =
        make_fill(entry.colour, ground, palette().color(QPalette::Text), devicePixelRatioF());
    if (entry.hatched && !hatched_) {
      painter.drawTiledPixmap(swatch, fill.hatch);
    } else {
      painter.fillRect(swatch, fill.solid);
      if (hatched_) painter.drawTiledPixmap(swatch.adjusted(kSwatch / 2, 0, 0, 0), fill.hatch);
    }
    painter.setPen(palette().color(QPalette::WindowText));
    painter.drawText(QRect(x + kSwatch + kGap, 0, name_width + 2, height()), Qt::AlignVCenter,
                     entry.name);
    x += kSwatch + kGap + name_width + kBetween;
  }
}

}  // namespace strato
