// The plan that is shown beside another one: what makes the difference, in a sentence, as a
// waterfall of the step time, and by group, variable, device and link; and beside several others,
// in tables.
#pragma once

#include <QWidget>

#include "views/compare/comparison_model.h"

class QCheckBox;
class QComboBox;
class QLabel;
class QProgressBar;
class QPushButton;
class QStackedWidget;
class QTableView;
class QTabWidget;

namespace strato {

class ChangeFilter;
class ChangeTable;
class PlansPage;
class Waterfall;

class CompareView : public QWidget {
  Q_OBJECT
 public:
  CompareView(Session& session, SecondPlan& second, QWidget* parent = nullptr);
  ComparisonModel& model() { return model_; }
  Waterfall& waterfall() { return *waterfall_; }
  QTabWidget& pages() { return *pages_; }
  QTableView& groups() { return *groups_.view; }
  QTableView& variables() { return *variables_.view; }
  PlansPage& plans() { return *plans_; }
  QComboBox& choices() { return *choices_; }
  QPushButton& report_button() { return *report_; }
  QString sentence() const;
  void choose_file();  // asks for a plan file
  void add_file();     // to the plans, asks for it
  // From one plan of the page of plans to another; nothing: the plan that is shown.
  void choose_pair(const std::optional<SecondChoice>& from, const std::optional<SecondChoice>& to);
  void save_report();  // of the pair or, from the page of plans, of all; asks where

 signals:
  void graphs_wanted();  // of both plans, side by side

 protected:
  void showEvent(QShowEvent* event) override;
  void hideEvent(QHideEvent* event) override;

 private:
  struct Page {
    ChangeTable* table = nullptr;
    ChangeFilter* filter = nullptr;
    QTableView* view = nullptr;
    int index = 0;  // of the tab
  };
  QWidget* build_choice();
  Page build_page(const QString& name, const QString& accessible_name);
  void fill_choices();
  void fill_targets();
  void take_choice(int index);
  void take_target(int index);
  void refresh();
  void refresh_report();
  bool shows_plans() const;  // several, not a pair
  void refresh_sentence();
  void refresh_notes();
  void show_tables(const PlanComparison& comparison);
  void fit_columns();
  void select_row(const Page& page, const QModelIndex& index);
  void show_selection();
  QString figures_text(const PlanComparison& comparison) const;
  QString price_text_of(const PlanComparison& comparison) const;

  Session& session_;
  QPointer<SecondPlan> second_;
  ComparisonModel model_;
  QComboBox *choices_, *targets_ = nullptr;
  QLabel* targets_label_ = nullptr;
  SecondChoice listed_;  // that the list was filled for, with its name
  QString listed_name_;
  QCheckBox* all_;
  QPushButton* report_;
  QLabel *sentence_, *figures_, *notes_, *links_;
  QProgressBar* working_;
  Waterfall* waterfall_;
  QTabWidget* pages_;
  PlansPage* plans_;
  Page groups_, variables_, devices_, traffic_;
  std::shared_ptr<const ShownComparison> shown_;
  bool selecting_ = false;
};

}  // namespace strato
