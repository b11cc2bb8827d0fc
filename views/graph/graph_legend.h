// What the colours mean: one line under the graph, so that it never lies over it.
#pragma once

#include <QPainter>
#include <QPalette>
#include <QWidget>

#include "views/graph/overlay.h"

namespace strato {

// Entries that find no room are counted.
void paint_legend(QPainter& painter, const Legend& legend, const QPalette& palette,
                  const QFont& font, const QRectF& box);

class GraphLegend : public QWidget {
  Q_OBJECT
 public:
  explicit GraphLegend(QWidget* parent = nullptr);
  void show_legend(const Legend& legend);
  QSize sizeHint() const override;

 protected:
  void paintEvent(QPaintEvent*) override;

 private:
  Legend legend_;
};

}  // namespace strato
