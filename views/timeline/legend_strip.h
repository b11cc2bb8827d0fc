// A row of colour swatches with names; entries that do not fit give way to a count.
#pragma once

#include <QWidget>

#include "views/timeline/slice_colours.h"

namespace strato {

class LegendStrip : public QWidget {
  Q_OBJECT
 public:
  explicit LegendStrip(QWidget* parent = nullptr);
  // `hatched`: swatches half solid, half hatched (computation and communication share the colour).
  void show_legend(const SliceColours& colours, bool hatched);
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return QSize(40, 20); }

 protected:
  void paintEvent(QPaintEvent*) override;

 private:
  std::vector<SliceColours::Entry> entries_;
  bool hatched_ = false;
};

}  // namespace strato
