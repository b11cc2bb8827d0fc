// The fields and sliders of the problem: batch, links, latency, devices' speed and memory,
// precision, numbers of machines and their GPUs. Two ways with ProblemWhatIf.
#pragma once

#include <QWidget>
#include <map>
#include <vector>

#include "views/models/problem_what_if.h"

class QComboBox;
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
  QComboBox* gpus(const QString& kind) const;     // its data: the GPU's name; of the first: empty
  QComboBox& precision() { return *precision_; }
  QPushButton& reset_button() { return *reset_; }
  QPushButton& save_button() { return *save_; }
  QPushButton& go_on_button() { return *go_on_; }

 signals:
  void save_wanted();   // of the changed cluster
  void go_on_wanted();  // with the changed problem

 private:
  void build();
  void build_buttons();
  void build_precision(QGridLayout* grid);
  QSpinBox* make_count(const MachineKind& kind);
  QComboBox* make_gpus(const MachineKind& kind);
  void set_gpus(const MachineKind& kind, const QString& gpu);
  void change_to(const ProblemChange& change);
  void rebuild_machines();
  void take_problem();
  void show_change();
  void set_machines(const MachineKind& kind, int count);

  Session& session_;
  ProblemWhatIf& what_if_;
  std::vector<FactorRow*> rows_;  // by WhatIfAxis
  QWidget* machines_ = nullptr;
  std::map<QString, QSpinBox*> counts_;
  std::map<QString, QComboBox*> gpus_;
  QComboBox* precision_ = nullptr;
  QPushButton *reset_ = nullptr, *save_ = nullptr, *go_on_ = nullptr;
};

}  // namespace strato
