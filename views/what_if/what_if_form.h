// The fields and sliders of the problem: batch, links, latency, devices' speed and memory, numbers
// of machines. Two ways with ProblemWhatIf.
#pragma once

#include <QWidget>
#include <map>
#include <vector>

#include "views/models/problem_what_if.h"

class QGridLayout;
class QLabel;
class QPushButton;
class QSpinBox;

namespace strato {

class FactorRow;

class WhatIfForm : public QWidget {
  Q_OBJECT
 public:
  WhatIfForm(Session& session, ProblemWhatIf& what_if, QWidget* parent = nullptr);
  FactorRow& row(WhatIfAxis axis) { return *rows_[static_cast<std::size_t>(axis)]; }
  QSpinBox* machines(const QString& kind) const;  // null: no such kind

 private:
  void build();
  void rebuild_machines();
  void take_problem();
  void show_change();
  void set_machines(const MachineKind& kind, int count);

  Session& session_;
  ProblemWhatIf& what_if_;
  std::vector<FactorRow*> rows_;  // by WhatIfAxis
  QWidget* machines_ = nullptr;
  std::map<QString, QSpinBox*> counts_;
  QPushButton* reset_ = nullptr;
};

}  // namespace strato
