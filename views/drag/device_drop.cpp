#include "views/drag/device_drop.h"

#include <QDropEvent>
#include <QWidget>

namespace strato {

DeviceDrop::DeviceDrop(Session& session, QWidget& target, Find find)
    : QObject(&target),
      session_(session),
      target_(target),
      find_(std::move(find)),
      preview_(session),
      note_(target) {
  target_.setAcceptDrops(true);
  target_.installEventFilter(this);
  connect(&preview_, &EditPreview::changed, this, &DeviceDrop::tell);
  connect(&session_, &Session::problem_changed, this, &DeviceDrop::forget);
}

// False: this cannot be dropped there.
bool DeviceDrop::drag_over(QDropEvent& event) {
  const Snapshot& snapshot = session_.snapshot();
  const QPoint at = event.position().toPoint();
  const auto place = snapshot.problem ? find_(at, event.modifiers()) : std::nullopt;
  Carried carried = place ? dragged(*event.mimeData(), *snapshot.problem) : Carried();
  if (carried.is_empty()) {
    forget();
    return false;
  }
  const bool other = place != place_, same = !other && carried == carried_ && preview_.asks();
  place_ = place;
  carried_ = std::move(carried);
  grouping_ = snapshot.problem->grouping;
  at_ = at;
  event.setDropAction(Qt::MoveAction);
  event.accept();
  if (!same) preview_.ask(onto(carried_, place_->devices));
  if (other) emit changed();
  tell();
  return true;
}

void DeviceDrop::forget() {
  const bool had = place_.has_value();
  place_.reset();
  carried_ = {};
  grouping_.reset();
  preview_.forget();
  note_.forget();
  if (had) emit changed();
}

QString DeviceDrop::text() const {
  const auto& problem = session_.snapshot().problem;
  // What was asked may tell of a change of the problem before this hears of it.
  if (!place_ || !problem || problem->grouping != grouping_) return {};
  return tr("%1 on %2: %3")
      .arg(names_of(carried_, *problem), place_->name,
           preview_.changes_nothing() ? tr("as it is") : preview_.text());
}

void DeviceDrop::tell() {
  if (!place_) return;
  const QString words = text();
  if (words.isEmpty()) return note_.forget();
  // Something else is shown, or selected, while it hovers.
  if (!preview_.asks()) return preview_.ask(onto(carried_, place_->devices));
  const auto& effect = preview_.effect();
  note_.tell(words, at_, (effect && !effect->feasible) || !preview_.error().isEmpty());
}

bool DeviceDrop::eventFilter(QObject*, QEvent* event) {
  switch (event->type()) {
    case QEvent::DragEnter: {  // to be asked again, wherever it comes in
      auto& enter = static_cast<QDropEvent&>(*event);
      const bool ours = enter.mimeData()->hasFormat(drag_type());
      if (ours && !drag_over(enter)) enter.accept();
      return ours;
    }
    case QEvent::DragMove: {
      auto& move = static_cast<QDropEvent&>(*event);
      if (!move.mimeData()->hasFormat(drag_type())) return false;
      if (drag_over(move)) return true;
      move.ignore();
      return false;  // the view may have another use for it
    }
    case QEvent::DragLeave:
      forget();
      return false;
    case QEvent::Drop: {
      auto& drop = static_cast<QDropEvent&>(*event);
      if (!drag_over(drop)) return false;
      const DropPlace place = *place_;
      const Carried carried = carried_;
      forget();
      drop_on(session_, carried, place);
      return true;
    }
    default:
      return false;
  }
}

}  // namespace strato
