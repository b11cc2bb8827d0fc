// A bar for each kind of device: what is in its memory at its peak, by cause, beside a mark for how
// much it has. Painted; a click selects the device.
#pragma once

#include <QWidget>
#include <optional>
#include <vector>

#include "views/memory/memory_use.h"

namespace strato {

QColor colour_of(MemoryCause cause, bool dark);

class MemoryBars : public QWidget {
  Q_OBJECT
 public:
  explicit MemoryBars(QWidget* parent = nullptr);
  void show_rows(const std::vector<MemoryRow>& rows);
  void mark(std::optional<DeviceId> device);  // the selected one

  // Of a point in the widget: the row, and what of its bar is there.
  struct Place {
    std::size_t row;
    std::optional<MemoryCause> cause;
  };
  std::optional<Place> place_at(const QPointF& point) const;
  QString tip_at(const QPointF& point) const;
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 signals:
  void clicked(strato::DeviceId device);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  bool event(QEvent* event) override;

 private:
  int row_height() const;
  int name_width() const;
  int figure_width() const;
  QRectF rail(std::size_t row) const;
  double bytes_per_pixel() const;
  void paint_row(QPainter& painter, std::size_t row) const;

  std::vector<MemoryRow> rows_;
  std::optional<DeviceId> marked_;
};

// What the colours mean, of the causes that there are; wraps.
QString legend_of(const std::vector<MemoryRow>& rows, bool dark);

}  // namespace strato
