// Today, then, planned anew and data parallelism then, in a few figures beside each other.
#pragma once

#include <QWidget>
#include <vector>

#include "views/models/problem_what_if.h"
#include "views/models/what_if_replan.h"

class QGridLayout;
class QLabel;

namespace strato {

class FiguresTable : public QWidget {
  Q_OBJECT
 public:
  explicit FiguresTable(QWidget* parent = nullptr);
  enum Row { Today, Then, Change, PlannedAnew, DataParallel, kRows };
  enum Column { Step, Rate, Efficiency, Memory, Price, kColumns };

  // `replanned`: for the same change; null: its row is not there.
  void show_found(const std::optional<WhatIfFound>& found, const ReplanFound* replanned = nullptr);
  QString text_at(int row, int column) const;

 private:
  QLabel& cell(int row, int column) const;
  void show_row(int row, const StepFigures& figures, const QString& fullest);
  void show_change(int column, double now, double before, bool more_is_better);
  void show_columns(const WhatIfFound& found, bool replanned);
  QString note_of(const WhatIfFound& found, const ReplanFound* replanned) const;

  QGridLayout* grid_;
  std::vector<QLabel*> cells_;  // by row and column
  std::vector<QLabel*> heads_, names_;
  QLabel* note_;
};

}  // namespace strato
