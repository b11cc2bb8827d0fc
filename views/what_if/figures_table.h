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
  QString text_at(int row, int column) const;  // rows: today, then, change, data parallel

 private:
  enum Row { Today, Then, Change, DataParallel, kRows };
  enum Column { Step, Rate, Efficiency, Memory, kColumns };
  QLabel& cell(int row, int column) const;
  void show_row(int row, const StepFigures& figures, const QString& fullest);
  void show_change(int column, double now, double before, bool more_is_better);
  QString note_of(const WhatIfFound& found) const;

  QGridLayout* grid_;
  std::vector<QLabel*> cells_;  // by row and column
  std::vector<QLabel*> heads_;
  QLabel* note_;
};

}  // namespace strato
