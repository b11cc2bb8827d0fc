// The end of a drag of op groups and ops in a view that shows devices: what the drop would do is
// simulated while it hovers and told beside the cursor; the drop is one undoable edit.
#pragma once

#include <QObject>
#include <QPoint>
#include <functional>
#include <memory>
#include <optional>

#include "views/drag/drag_note.h"
#include "views/models/drop_place.h"
#include "views/models/edit_preview.h"

class QDropEvent;

namespace strato {

class DeviceDrop : public QObject {
  Q_OBJECT
 public:
  // What is at a point of the target; none: nothing can be dropped there.
  using Find = std::function<std::optional<DropPlace>(const QPoint&, Qt::KeyboardModifiers)>;
  // `target` takes drops from now on, and shows place() as it likes. It owns this.
  DeviceDrop(Session& session, QWidget& target, Find find);

  const std::optional<DropPlace>& place() const { return place_; }  // under the drag
  EditPreview& preview() { return preview_; }
  QString text() const;  // "conv4 on v100:0: −6.1 ms (−3.2 %)"; empty: nothing is dragged here

 signals:
  void changed();

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  bool drag_over(QDropEvent& event);
  void forget();
  void tell();

  Session& session_;
  QWidget& target_;
  Find find_;
  EditPreview preview_;
  DragNote note_;
  std::optional<DropPlace> place_;
  Carried carried_;
  std::shared_ptr<const Grouping> grouping_;  // that it is of
  QPoint at_;
};

}  // namespace strato
