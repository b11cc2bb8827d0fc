// What if the problem were another: a form at the left, what becomes of the strategy at the right,
// in figures, as a curve over one parameter, and as a table of scaling.
#pragma once

#include <QWidget>

#include "views/models/problem_what_if.h"

class QComboBox;
class QProgressBar;
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
  explicit WhatIfView(Session& session, QWidget* parent = nullptr);
  ProblemWhatIf& model() { return what_if_; }
  WhatIfForm& form() { return *form_; }
  FiguresTable& figures() { return *figures_; }
  QTabWidget& pages() { return *pages_; }

 protected:
  void showEvent(QShowEvent* event) override;
  void hideEvent(QHideEvent* event) override;
  void changeEvent(QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  QWidget* build_curve();
  QWidget* build_scaling();
  void take_problem();
  void refresh_curve();

  Session& session_;
  ProblemWhatIf what_if_;
  WhatIfForm* form_;
  FiguresTable* figures_;
  QTabWidget* pages_;
  WhatIfChart* chart_ = nullptr;
  QComboBox *axis_ = nullptr, *quantity_ = nullptr, *kind_ = nullptr;
  ScalingModel* scaling_ = nullptr;
  QTableView* table_ = nullptr;
  QProgressBar* working_;
};

}  // namespace strato
