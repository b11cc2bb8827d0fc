// Will it fit? The memory of each kind of device at its peak, by cause; and the changes of one or
// two decisions that make the step fit, or that are faster and still do, with their price.
#pragma once

#include <QWidget>

#include "views/memory/fitting.h"
#include "views/memory/memory_use.h"

class QGridLayout;
class QLabel;
class QPushButton;
class QScrollArea;

namespace strato {

class MemoryBars;

class MemoryView : public QWidget {
  Q_OBJECT
 public:
  explicit MemoryView(Session& session, QWidget* parent = nullptr);
  MemoryUse& use() { return *use_; }
  Fitting& fitting() { return *fitting_; }
  MemoryBars& bars() { return *bars_; }

 protected:
  void showEvent(QShowEvent* event) override;
  void hideEvent(QHideEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  struct Row {
    QLabel *words, *time, *price, *peak;
    QPushButton* apply;
  };
  void refresh_use();
  void refresh_fitting();
  Row& row(std::size_t number);
  void show_row(const Row& row, const ChangedPlan& plan, bool fits);
  QString headline() const;
  QString note() const;

  Session& session_;
  MemoryUse* use_;
  Fitting* fitting_;
  MemoryBars* bars_;
  QLabel *headline_, *moment_, *legend_, *heading_, *note_;
  QPushButton *look_, *stop_;
  QGridLayout* grid_;
  std::vector<Row> rows_;
};

}  // namespace strato
