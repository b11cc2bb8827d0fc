#include "views/graph/graph_legend.h"

#include <QCoreApplication>
#include <QFontMetricsF>

#include "views/style/style.h"

namespace strato {
namespace {

constexpr double kSide = 8, kSwatch = 12, kGap = 16, kRampWidth = 140, kLongestEntry = 160;

class LegendPainter {
  Q_DECLARE_TR_FUNCTIONS(LegendPainter)
 public:
  LegendPainter(QPainter& painter, const QPalette& palette, const QFont& font, const QRectF& box)
      : painter_(painter), palette_(palette), metrics_(font), box_(box), x_(box.left() + kSide) {
    painter_.setFont(font);
  }

  void title(const QString& text) {
    painter_.setPen(style::muted_text(palette_));
    words(text, kGap);
    painter_.setPen(palette_.color(QPalette::WindowText));
  }

  void entries(const std::vector<Legend::Entry>& entries) {
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const QString name =
          metrics_.elidedText(entries[i].text.left(80), Qt::ElideMiddle, kLongestEntry);
      const double rest = i + 1 < entries.size() ? metrics_.horizontalAdvance(more(0)) + kGap : 0;
      if (x_ + kSwatch + 6 + metrics_.horizontalAdvance(name) + rest > box_.right() - kSide)
        return words(more(entries.size() - i), 0);
      swatch(kSwatch, entries[i].colour);
      x_ += 6;
      words(name, kGap);
    }
  }

  void ramp(const Legend& legend) {
    words(legend.least, 6);
    const double step = kRampWidth / static_cast<double>(legend.ramp.size());
    for (const QColor& colour : legend.ramp) swatch(step, colour);
    x_ += 6;
    words(legend.most, 0);
  }

 private:
  static QString more(std::size_t count) { return tr("and %1 more").arg(count); }

  void swatch(double width, const QColor& colour) {
    painter_.fillRect(QRectF(x_, box_.center().y() - kSwatch / 2, width + 0.5, kSwatch), colour);
    x_ += width;
  }

  void words(const QString& text, double gap) {
    const double width = metrics_.horizontalAdvance(text);
    painter_.drawText(QRectF(x_, box_.top(), width + 2, box_.height()),
                      Qt::AlignLeft | Qt::AlignVCenter, text);
    x_ += width + gap;
  }

  QPainter& painter_;
  const QPalette& palette_;
  QFontMetricsF metrics_;
  QRectF box_;
  double x_;
};

}  // namespace

void paint_legend(QPainter& painter, const Legend& legend, const QPalette& palette,
                  const QFont& font, const QRectF& box) {
  if (legend.title.isEmpty()) return;
  LegendPainter line(painter, palette, font, box);
  line.title(legend.title);
  if (legend.ramp.empty()) {
    line.entries(legend.entries);
  } else {
    line.ramp(legend);
  }
}

GraphLegend::GraphLegend(QWidget* parent) : QWidget(parent) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  setAccessibleName(tr("What the colours mean"));
}

void GraphLegend::show_legend(const Legend& legend) {
  legend_ = legend;
  update();
}

QSize GraphLegend::sizeHint() const { return {160, fontMetrics().height() + 6}; }

void GraphLegend::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  paint_legend(painter, legend_, palette(), font(), QRectF(rect()));
}

}  // namespace strato
