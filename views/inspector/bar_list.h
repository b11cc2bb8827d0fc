// A list of labelled bars, painted: shares of a whole, largest first.
#pragma once

#include <QColor>
#include <QWidget>
#include <vector>

namespace strato {

struct Bar {
  QString label, value, tip;
  double fraction = 0;  // of the full width, 0 to 1
  QColor colour;
  bool hatched = false;  // communication
  int id = -1;           // given back by clicked(); -1: not clickable
};

class BarList : public QWidget {
  Q_OBJECT
 public:
  explicit BarList(QWidget* parent = nullptr);
  void show_bars(std::vector<Bar> bars);
  const std::vector<Bar>& bars() const { return bars_; }
  int bar_at(const QPoint& position) const;  // -1: none
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 signals:
  void clicked(int id);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  bool event(QEvent* event) override;

 private:
  int row_height() const;

  std::vector<Bar> bars_;
  int hovered_ = -1;
};

}  // namespace strato
