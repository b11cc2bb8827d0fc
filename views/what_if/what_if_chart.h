// A curve over one parameter, or over the number of machines: the strategy, data parallelism and
// what was planned anew, today and the value chosen as lines across, and what does not fit marked.
#pragma once

#include <QWidget>
#include <memory>
#include <optional>

#include "views/models/problem_what_if.h"

namespace strato {

struct ChartedCurve {
  QString title;                                 // of what it is over
  std::vector<double> values;                    // ascending
  std::vector<WhatIfPoint> points;               // by value
  std::vector<std::optional<StepFigures>> anew;  // by value; empty: nothing was planned anew
  std::vector<QString> names;  // of the values, for tips; empty: the title and the value
};
QString title_of(WhatIfAxis axis);

class WhatIfChart : public QWidget {
  Q_OBJECT
 public:
  enum class Figure { StepTime, SamplesPerSecond, Efficiency, Price };

  explicit WhatIfChart(QWidget* parent = nullptr);
  ~WhatIfChart() override;
  void show_figure(Figure quantity);
  // `here` and `today`: values of the parameter, chosen and as it is.
  void show_curve(ChartedCurve curve, double here, double today);
  const ChartedCurve& curve() const { return curve_; }
  QString tip_at(double value) const;  // of the nearest point

 protected:
  void changeEvent(QEvent* event) override;

 private:
  struct Parts;
  void recolour();
  void show_key();

  ChartedCurve curve_;
  Figure figure_ = Figure::StepTime;
  std::unique_ptr<Parts> parts_;
};

QString title_of(WhatIfChart::Figure quantity);  // with its unit
// What the chart shows of a point; nothing where it has no figures.
std::optional<double> figure_in(const StepFigures& figures, WhatIfChart::Figure quantity);

}  // namespace strato
