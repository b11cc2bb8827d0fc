// What planners drew of their own course (PlanResult::curves): a chart for every title, a line for
// every name, as many charts side by side as there is room for. Hidden while there is none.
#pragma once

#include <QWidget>
#include <vector>

#include "core/search/api/planner.h"
#include "views/charts/series.h"

class QChartView;
class QGridLayout;

namespace strato {

// Curves with one title, in their order.
struct CurveChart {
  QString title, x, y;
  struct Line {
    QString name;
    std::vector<QPointF> points;  // decimated, finite
  };
  std::vector<Line> lines;
  // What the axes show: all points; from 0 on where that is no farther away than the points are
  // apart.
  StepRange x_range, y_range;
};
std::vector<CurveChart> charts_of(const std::vector<PlanResult::Curve>& curves);

class CourseCharts : public QWidget {
  Q_OBJECT
 public:
  explicit CourseCharts(QWidget* parent = nullptr);
  ~CourseCharts() override;

  void show_curves(const std::vector<PlanResult::Curve>& curves);
  void recolour();
  int chart_count() const { return static_cast<int>(views_.size()); }

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void arrange();

  std::vector<CurveChart> charts_;
  std::vector<QChartView*> views_;
  QGridLayout* layout_;
  int columns_ = 0;
};

}  // namespace strato
