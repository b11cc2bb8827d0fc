// The tree of edits of the open problem (views/models/edit_history.h): a click or Enter shows a
// state, F2 renames it.
#pragma once

#include <QWidget>

#include "views/models/edit_history.h"

class QLabel;
class QTableView;

namespace strato {

class HistoryView : public QWidget {
  Q_OBJECT
 public:
  explicit HistoryView(Session& session, QWidget* parent = nullptr);
  QTableView* table() { return table_; }
  EditHistory& model() { return *model_; }

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void refresh();

  EditHistory* model_;
  QTableView* table_;
  QLabel* empty_;
};

}  // namespace strato
