// Several plans side by side: a table of them with their figures, and one of what each decides for
// the op groups or variables. Two of them can be chosen for the waterfall. GUI thread only.
#pragma once

#include <QWidget>

#include "views/compare/plan_set.h"

class QComboBox;
class QLabel;
class QMenu;
class QProgressBar;
class QPushButton;
class QTableView;
class QToolButton;

namespace strato {

class ChangeFilter;
class ChangeTable;

class PlansPage : public QWidget {
  Q_OBJECT
 public:
  // `offers` says what can be added.
  PlansPage(Session& session, SecondPlan& offers, QWidget* parent = nullptr);
  PlanSet& plans() { return plans_; }
  QTableView& table() { return *table_; }
  QTableView& rows() { return *rows_view_; }
  QComboBox& what() { return *what_; }
  QMenu& add_menu() { return *add_menu_; }
  QPushButton& compare_button() { return *compare_; }
  QPushButton& remove_button() { return *remove_; }
  void show_all(bool all);  // what is alike, too

 signals:
  void file_wanted();  // to be added
  // From the first to the second; nothing: the plan that is shown.
  void pair_chosen(const std::optional<SecondChoice>& from, const std::optional<SecondChoice>& to);

 protected:
  void showEvent(QShowEvent* event) override;
  void hideEvent(QHideEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  QWidget* build_bar();
  QTableView* build_table(ChangeTable*& table, ChangeFilter*& filter, const QString& name);
  void fill_menu();
  void refresh();
  void show_rows();
  void refresh_buttons();
  std::vector<std::size_t> selected() const;  // plans of the matrix, as the table lists them
  std::optional<SecondChoice> choice_of(std::size_t plan) const;  // nothing: the plan shown
  void compare();
  void remove();
  void select_row(const QModelIndex& index);

  Session& session_;
  QPointer<SecondPlan> offers_;
  PlanSet plans_;
  std::shared_ptr<const ShownMatrix> shown_;
  QMenu* add_menu_ = nullptr;
  QToolButton* add_ = nullptr;
  QPushButton *remove_ = nullptr, *compare_ = nullptr;
  QComboBox* what_ = nullptr;
  QLabel* note_ = nullptr;
  ChangeTable *plan_table_ = nullptr, *row_table_ = nullptr;
  ChangeFilter *plan_filter_ = nullptr, *row_filter_ = nullptr;
  QTableView *table_ = nullptr, *rows_view_ = nullptr;
};

}  // namespace strato
