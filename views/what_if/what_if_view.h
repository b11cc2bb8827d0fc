// What if the problem were another: a form at the left, what becomes of the strategy at the right,
// in figures, as a curve over one parameter, and as a table of scaling. The changed problem can be
// planned anew, kept as a file, and gone on with.
#pragma once

#include <QWidget>

#include "views/models/problem_what_if.h"
#include "views/models/scaling_replan.h"
#include "views/models/what_if_replan.h"

class QComboBox;
class QDoubleSpinBox;
class QLabel;
class QProgressBar;
class QPushButton;
class QTableView;
class QTabWidget;

namespace strato {

class FiguresTable;
class ScalingModel;
class WhatIfChart;
class WhatIfForm;

class WhatIfView : public QWidget {
  Q_OBJECT
 public:
  // `planners`: of the session's plugins when `make` is empty.
  explicit WhatIfView(Session& session, QWidget* parent = nullptr,
                      const std::vector<PluginInfo>& planners = {}, PlannerFactory make = {});
  ProblemWhatIf& model() { return what_if_; }
  WhatIfReplan& replan() { return replan_; }
  QPushButton& replan_button() { return *replan_button_; }
  QComboBox& planner() { return *planner_; }
  WhatIfForm& form() { return *form_; }
  FiguresTable& figures() { return *figures_; }
  QTabWidget& pages() { return *pages_; }
  ScalingReplan& scaling_replan() { return scaling_replan_; }
  WhatIfChart& chart() { return *chart_; }
  QComboBox& axis() { return *axis_; }
  QComboBox& quantity() { return *quantity_; }
  QPushButton& each_button() { return *each_button_; }

 protected:
  void showEvent(QShowEvent* event) override;
  void hideEvent(QHideEvent* event) override;
  void changeEvent(QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  QWidget* build_curve();
  QWidget* build_scaling();
  QWidget* build_replan(const std::vector<PluginInfo>& planners);
  void take_problem();
  void show_figures();
  void refresh_curve();
  bool over_machines() const;
  bool is_weak() const;
  void show_machines();
  void refresh_each();
  void choose_axis(int index);
  void refresh_replan();
  QString replan_text() const;
  // For the change that the form shows; null: none.
  std::shared_ptr<const ReplanFound> replanned() const;
  void save_cluster();  // asks where
  void go_on();

  Session& session_;
  ProblemWhatIf what_if_;
  WhatIfReplan replan_;
  ScalingReplan scaling_replan_;
  WhatIfForm* form_;
  FiguresTable* figures_;
  QTabWidget* pages_;
  WhatIfChart* chart_ = nullptr;
  QComboBox *axis_ = nullptr, *quantity_ = nullptr, *kind_ = nullptr, *curve_kind_ = nullptr;
  QPushButton* each_button_ = nullptr;
  QLabel* each_note_ = nullptr;
  ScalingModel* scaling_ = nullptr;
  QTableView* table_ = nullptr;
  QProgressBar* working_;
  QComboBox* planner_ = nullptr;
  QDoubleSpinBox* seconds_ = nullptr;
  QPushButton* replan_button_ = nullptr;
  QLabel* replan_note_ = nullptr;
};

}  // namespace strato
