// The curve over one parameter: the strategy and data parallelism, today and the value chosen as
// lines across, and what does not fit marked.
#pragma once

#include <QWidget>
#include <memory>
#include <optional>

#include "views/models/problem_what_if.h"

namespace strato {

class WhatIfChart : public QWidget {
  Q_OBJECT
 public:
  enum class Figure { StepTime, SamplesPerSecond, Efficiency, Price };

  explicit WhatIfChart(const ProblemWhatIf& what_if, QWidget* parent = nullptr);
  ~WhatIfChart() override;
  void show_figure(Figure quantity);
  void refresh(double here, double today);  // values of the parameter: chosen, and as it is

 protected:
  void changeEvent(QEvent* event) override;

 private:
  struct Parts;
  QString tip_at(double value) const;
  void recolour();

  const ProblemWhatIf& what_if_;
  Figure figure_ = Figure::StepTime;
  std::unique_ptr<Parts> parts_;
};

// What the chart shows of a point; nothing where it has no figures.
std::optional<double> figure_in(const StepFigures& figures, WhatIfChart::Figure quantity);

}  // namespace strato
