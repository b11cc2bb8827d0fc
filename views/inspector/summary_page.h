// Nothing is selected: the strategy as a whole, and why its step takes as long as it does.
#pragma once

#include <QWidget>

#include "views/models/session.h"

class QLabel;
class QSortFilterProxyModel;
class QTableView;
class QToolButton;

namespace strato {

class BarList;
class Facts;
class MicroBatchField;
class WhatIfModel;

class SummaryPage : public QWidget {
  Q_OBJECT
 public:
  explicit SummaryPage(Session& session, QWidget* parent = nullptr);
  void refresh();
  MicroBatchField& micro_batches() { return *micro_batches_; }

 private:
  void show_facts();
  void show_why();
  void show_what_ifs();
  void show_memory(const Timeline& timeline);

  Session& session_;
  std::shared_ptr<const Explanation> explanation_;  // shown; the last one while the next is made
  QLabel *title_, *trouble_, *advice_, *path_heading_, *why_, *why_more_, *what_if_heading_,
      *what_if_note_, *memory_heading_;
  QToolButton* more_;  // shows what else is to be said
  Facts* facts_;
  MicroBatchField* micro_batches_;
  BarList *path_, *memory_;
  WhatIfModel* what_if_;
  QSortFilterProxyModel* sorted_;
  QTableView* table_;
};

}  // namespace strato
