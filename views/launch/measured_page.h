// What a launch took beside what was predicted: the step, then ops, links and devices by the effect
// of their difference. A click on a row selects it in all views.
#pragma once

#include <QWidget>
#include <array>

#include "views/models/difference_model.h"
#include "views/models/launch_model.h"

class QLabel;
class QPushButton;
class QStackedWidget;
class QTabWidget;
class QTableView;

namespace strato {

class MeasuredPage : public QWidget {
  Q_OBJECT
 public:
  MeasuredPage(Session& session, LaunchModel& model, QWidget* parent = nullptr);
  void refresh();
  QTableView& table(DifferenceModel::Of of) { return *tables_[static_cast<std::size_t>(of)]; }

 protected:
  void changeEvent(QEvent* event) override;

 private:
  QTableView* make_table(DifferenceModel& model, const QString& name);
  QWidget* build_result();
  void select_row(const QTableView& table, const DifferenceModel& model);
  QString summary() const;
  QString learned_text() const;
  void tint();

  Session& session_;
  LaunchModel& model_;
  std::array<DifferenceModel*, 3> differences_;  // by Of
  std::array<QTableView*, 3> tables_;
  QStackedWidget* pages_;
  QTabWidget* tabs_;
  QLabel *hint_, *summary_, *learned_;
  QPushButton *learn_, *use_;
  std::shared_ptr<const MeasuredStep> shown_;
};

}  // namespace strato
