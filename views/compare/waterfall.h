// From one step time to another as a waterfall: a bar for the first, one for each cause that hangs
// where the ones before it ended, and a bar for the second. The mapping is apart from the painting.
#pragma once

#include <QRectF>
#include <QString>
#include <QWidget>
#include <vector>

#include "core/compare/compare_plans.h"

namespace strato {

struct WaterfallRow {
  enum class Kind { Total, Less, More } kind = Kind::Total;
  QString label, value, tip;
  Nanos begin, end;            // on the axis; begin <= end
  bool communication = false;  // hatched
};
// The first plan, the causes (at most `most` bars), the second plan. Each cause begins where the
// one before it ended.
std::vector<WaterfallRow> waterfall_rows(const PlanComparison& comparison, std::size_t most);

// Where rows are in a widget of some size. Times outside [low, high] are not drawn; low is 0 unless
// all causes are so small beside the step that they would not be seen.
struct WaterfallMapping {
  Nanos low, high;
  double label_width = 0, value_width = 0, width = 0, row_height = 0, top = 0;

  static WaterfallMapping of(const std::vector<WaterfallRow>& rows);  // low and high
  double x(Nanos time) const;
  QRectF bar(const WaterfallRow& row, std::size_t index) const;  // at least 1 wide
  int row_at(double y, std::size_t count) const;                 // -1: none
};

class Waterfall : public QWidget {
  Q_OBJECT
 public:
  explicit Waterfall(QWidget* parent = nullptr);
  void show_comparison(const PlanComparison* comparison);  // null: nothing
  const std::vector<WaterfallRow>& rows() const { return rows_; }
  WaterfallMapping mapping() const;
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;
  bool event(QEvent* event) override;

 private:
  double row_height() const;
  void paint_row(QPainter& painter, const WaterfallMapping& mapping, std::size_t index) const;
  void paint_axis(QPainter& painter, const WaterfallMapping& mapping) const;

  std::vector<WaterfallRow> rows_;
};

}  // namespace strato
