// The launches that the workspace has. One that is clicked is shown again in all views; one that
// was left running is followed; one that is deleted comes back by undo.
#pragma once

#include <QWidget>

#include "views/models/launch_model.h"
#include "views/models/stored_launches_model.h"

class QLabel;
class QPushButton;
class QSortFilterProxyModel;
class QStackedWidget;
class QTableView;

namespace strato {

class HistoryPage : public QWidget {
  Q_OBJECT
 public:
  HistoryPage(Session& session, LaunchModel& model, QWidget* parent = nullptr);
  void refresh();
  StoredLaunchesModel& launches() { return *launches_; }
  QTableView& table() { return *table_; }

 protected:
  void changeEvent(QEvent* event) override;

 private:
  QWidget* build_list();
  int chosen() const;  // row of the model; -1: none
  void show_chosen();
  void follow();
  void remove_chosen();
  void tint();

  Session& session_;
  LaunchModel& model_;
  StoredLaunchesModel* launches_;
  QSortFilterProxyModel* sorted_;
  QStackedWidget* pages_;
  QLabel *hint_, *note_;
  QTableView* table_;
  QPushButton *follow_, *remove_;
};

}  // namespace strato
