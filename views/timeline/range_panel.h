// Beside the timeline: what fills the selected range of time (without one: the whole step), by
// kind, op type, group, link and cause of idle time. A click on a group or link selects it in all
// views. Computed off the GUI thread.
#pragma once

#include <QWidget>
#include <memory>

#include "views/models/session.h"
#include "views/timeline/latest_job.h"
#include "views/timeline/range_model.h"

class QComboBox;
class QLabel;
class QSortFilterProxyModel;
class QTabBar;
class QTableView;

namespace strato {

class TimelineCanvas;

class RangePanel : public QWidget {
  Q_OBJECT
 public:
  RangePanel(Session& session, TimelineCanvas& canvas, QWidget* parent = nullptr);

  void refresh();  // the range, the rows, or what is known of them changed; only while it is seen
  void focus_table();
  const RangeTotals* totals() const { return totals_.get(); }  // null: nothing is shown

 signals:
  void close_wanted();

 protected:
  void showEvent(QShowEvent* event) override;
  bool event(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  enum class Rows { All, InSight, Selected };
  struct Made {
    std::shared_ptr<const TimelineRows> rows;
    std::shared_ptr<const Grouping> grouping;
    bool measured = false;
    RangeTotals totals;
  };

  QWidget* make_title();
  QTableView* make_table();
  RowMask mask() const;
  void show_made(const Made& made);
  void show_page();
  void activate(const QModelIndex& index);

  Session& session_;
  TimelineCanvas& canvas_;
  QLabel *length_, *facts_;
  QComboBox* rows_;
  QTabBar* pages_;
  RangeModel model_;
  QSortFilterProxyModel* sorted_;
  QTableView* table_;
  std::shared_ptr<const TimelineRows> shown_rows_;
  std::shared_ptr<const Grouping> grouping_;
  std::unique_ptr<RangeTotals> totals_;
  LatestJob<Made> job_;
};

}  // namespace strato
