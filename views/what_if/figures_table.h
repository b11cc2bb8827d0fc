// Today, then, and data parallelism then, in a few figures beside each other.
#pragma once

#include <QWidget>
#include <vector>

#include "views/models/problem_what_if.h"

class QGridLayout;
class QLabel;

namespace strato {

class FiguresTable : public QWidget {
  Q_OBJECT
 public:
  explicit FiguresTable(QWidget* parent = nullptr);
  void show_found(const std::optional<WhatIfFound>& found);
  QString text_at(int row, int column) const;  // row 0: today, 1: then, 2: data parallel

 private:
  enum Column { Step, Rate, Efficiency, Memory, kColumns };
  void show_row(int row, const StepFigures& figures, const QString& fullest,
                const StepFigures* before);
  void clear_row(int row);
  QString change(double now, double before, bool more_is_better) const;

  QGridLayout* grid_;
  std::vector<QLabel*> cells_;  // by row and column
  std::vector<QLabel*> heads_;
  QLabel* note_;
};

}  // namespace strato
