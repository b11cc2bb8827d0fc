// What a click on a cell of the placement matrix would do, shown before it is made: near the cursor
// after a moment over the cell, and in words for the cell that the keyboard is on.
#pragma once

#include <QObject>
#include <QPersistentModelIndex>
#include <QTimer>
#include <functional>

#include "views/models/drop_place.h"
#include "views/models/edit_preview.h"
#include "views/models/placement_model.h"

class QDragMoveEvent;
class QTableView;

namespace strato {

class PlacementPreview : public QObject {
  Q_OBJECT
 public:
  // The groups that a click on a cell (of the table's model) would change, and which cell of the
  // placement model it is.
  struct Target {
    std::vector<GroupId> groups;
    DeviceGroupId device_group;
    bool use = false;  // or leave
  };
  using Find = std::function<std::optional<Target>(const QModelIndex&)>;
  PlacementPreview(Session& session, PlacementModel& model, QTableView& table, Find find);

  QString text() const;  // "Leave v100: −6.1 ms (−3.2 %)"; empty: nothing to tell
  EditPreview& preview() { return preview_; }

 signals:
  void changed();

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void look_at(const QModelIndex& index, bool hovered);
  void ask();
  void drag_over(const QDragMoveEvent& event);
  void show();

  Session& session_;
  PlacementModel& model_;
  QTableView& table_;
  Find find_;
  EditPreview preview_;
  QTimer dwell_;
  QPersistentModelIndex cell_;
  bool hovered_ = false;  // by the mouse
  QString what_;
  std::optional<std::pair<Carried, DropPlace>> over_;  // what is dragged, and where it is
};

}  // namespace strato
