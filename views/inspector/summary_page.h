// Nothing is selected: the strategy as a whole, and why its step takes as long as it does.
#pragma once

#include <QWidget>

#include "views/models/session.h"

class QLabel;

namespace strato {

class BarList;
class Facts;

class SummaryPage : public QWidget {
  Q_OBJECT
 public:
  explicit SummaryPage(Session& session, QWidget* parent = nullptr);
  void refresh();

 private:
  void show_path(const Timeline& timeline);
  void show_memory(const Timeline& timeline);

  Session& session_;
  QLabel *title_, *insight_, *trouble_, *path_heading_, *memory_heading_;
  Facts* facts_;
  BarList *path_, *memory_;
};

}  // namespace strato
