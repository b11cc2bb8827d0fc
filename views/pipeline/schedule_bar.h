// What the pipeline's schedule could be: its name and the number of micro-batches, from a file or
// into one. A choice is seen with its price first, and made by Apply.
#pragma once

#include <QWidget>
#include <vector>

#include "views/pipeline/pipeline_model.h"
#include "views/pipeline/schedule_prices.h"

class QComboBox;
class QLabel;
class QPushButton;

namespace strato {

class ScheduleBar : public QWidget {
  Q_OBJECT
 public:
  ScheduleBar(Session& session, PipelineModel& model, QWidget* parent = nullptr);

  QComboBox& schedule() { return *schedule_; }
  QComboBox& count() { return *count_; }
  QPushButton& apply_button() { return *apply_; }
  QPushButton& discard_button() { return *discard_; }
  QString price() const;  // as it is shown
  SchedulePrices& prices() { return *prices_; }
  // As the entries of its menu do, once a file is chosen; what is wrong with it is told beside it.
  void open_table(const QString& file);
  void save_table(const QString& file);

 private:
  void build();
  void refresh();
  void refresh_price();
  void refresh_prices();
  void choose();
  const MicroBatches* now() const;  // of what is seen; null: nothing is open

  Session& session_;
  PipelineModel& model_;
  SchedulePrices* prices_;
  QComboBox *schedule_, *count_;
  QLabel* price_;
  QPushButton *apply_, *discard_;
  std::vector<std::int32_t> counts_;  // by item
  QString file_trouble_;
};

}  // namespace strato
