// Planners side by side on the open problem: choose who takes part and for how long, watch the
// table fill, click a row to see its strategy in all views, Enter or a double click keeps it in the
// workspace.
#pragma once

#include <QWidget>

#include "views/models/tournament_model.h"
#include "views/tournament/planner_menu.h"

class QCheckBox;
class QComboBox;
class QLabel;
class QProgressBar;
class QPushButton;
class QSortFilterProxyModel;
class QStackedWidget;
class QTableView;

namespace strato {

class TournamentDelegate;

class TournamentView : public QWidget {
  Q_OBJECT
 public:
  // With the planners that the session's plugins offer.
  explicit TournamentView(Session& session, QWidget* parent = nullptr);
  TournamentView(Session& session, const std::vector<PluginInfo>& planners, PlannerFactory make,
                 QWidget* parent = nullptr);

  void run_or_stop();  // what the button says
  TournamentModel& model() { return *model_; }
  PlannerMenu& planner_menu() { return *planners_; }
  QTableView& table() { return *table_; }
  void set_budget(const QString& text);

 protected:
  void changeEvent(QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void build();
  void build_table();
  QWidget* build_bar();
  QWidget* build_empty_page();
  void refresh();
  void refresh_words();
  void resize_columns();
  void tint();
  void show_current();
  void mark_shown();
  void keep(const QModelIndex& index);
  int current_row() const;  // of the model; -1: none
  QString status_text() const;
  QString legend_text() const;

  Session& session_;
  TournamentModel* model_;
  QSortFilterProxyModel* proxy_;
  PlannerMenu* planners_;
  QComboBox* budget_;
  QCheckBox* floor_;
  QPushButton* run_;
  QProgressBar* progress_;
  QLabel *status_, *legend_, *words_, *hint_;
  QStackedWidget* pages_;
  QTableView* table_;
  TournamentDelegate* delegate_;
  bool syncing_ = false;
  QString told_;  // of the latest keep
};

}  // namespace strato
