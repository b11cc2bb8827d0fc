// Beside the timeline: a line to search in, and the slices found, longest first. Up, Down, Enter
// and clicks go to them. Searches off the GUI thread.
#pragma once

#include <QAbstractTableModel>
#include <QWidget>
#include <memory>

#include "views/models/session.h"
#include "views/timeline/latest_job.h"
#include "views/timeline/slice_search.h"

class QLabel;
class QLineEdit;
class QTableView;

namespace strato {

class TimelineCanvas;

class FoundModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column { Name, Device, Time, ColumnCount };
  using QAbstractTableModel::QAbstractTableModel;
  void show(std::shared_ptr<const Timeline> timeline, FoundSlices found);
  const FoundSlices& found() const { return found_; }
  const std::shared_ptr<const Timeline>& timeline() const { return timeline_; }

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation,
                      int role = Qt::DisplayRole) const override;

 private:
  std::shared_ptr<const Timeline> timeline_;
  FoundSlices found_;
};

class SearchPanel : public QWidget {
  Q_OBJECT
 public:
  SearchPanel(Session& session, TimelineCanvas& canvas, QWidget* parent = nullptr);

  void refresh();  // other rows: searches again; only while it is seen
  void focus_query();
  FoundModel& model() { return model_; }

 signals:
  void close_wanted();

 protected:
  void showEvent(QShowEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  struct Made {
    std::shared_ptr<const Timeline> timeline;
    FoundSlices found;
  };
  void show_made(const Made& made);
  void step(int direction);  // to the next or previous slice, around the ends
  void go_to(int row);

  Session& session_;
  TimelineCanvas& canvas_;
  QLineEdit* query_;
  QLabel* count_;
  QTableView* table_;
  FoundModel model_;
  LatestJob<Made> job_;
};

}  // namespace strato
