#include "views/drag/group_drop.h"

#include <QDropEvent>
#include <QWidget>

#include "views/models/strategy_edits.h"

namespace strato {

GroupDrop::GroupDrop(Session& session, QWidget& target, Find find)
    : QObject(&target),
      session_(session),
      target_(target),
      find_(std::move(find)),
      preview_(session),
      note_(target) {
  target_.setAcceptDrops(true);
  target_.installEventFilter(this);
  connect(&preview_, &EditPreview::changed, this, &GroupDrop::tell);
  connect(&session_, &Session::problem_changed, this, &GroupDrop::forget);
}

// False: these groups cannot be dropped there.
bool GroupDrop::drag_over(QDropEvent& event) {
  const Snapshot& snapshot = session_.snapshot();
  const QPoint at = event.position().toPoint();
  const auto place = snapshot.problem ? find_(at, event.modifiers()) : std::nullopt;
  auto groups = place ? dragged_groups(*event.mimeData(), *snapshot.problem)
                      : std::vector<GroupId>();
  if (groups.empty()) {
    forget();
    return false;
  }
  const bool other = place != place_;
  place_ = place;
  groups_ = std::move(groups);
  grouping_ = snapshot.problem->grouping;
  at_ = at;
  event.setDropAction(Qt::MoveAction);
  event.accept();
  preview_.ask(with_only_devices(snapshot.strategy, groups_, place_->devices));
  if (other) emit changed();
  tell();
  return true;
}

void GroupDrop::forget() {
  const bool had = place_.has_value();
  place_.reset();
  groups_.clear();
  grouping_.reset();
  preview_.forget();
  note_.forget();
  if (had) emit changed();
}

QString GroupDrop::text() const {
  const auto& problem = session_.snapshot().problem;
  // What was asked may tell of a change of the problem before this hears of it.
  if (!place_ || !problem || problem->grouping != grouping_) return {};
  const bool same = !preview_.waits() && !preview_.effect() && preview_.error().isEmpty();
  return tr("%1 on %2: %3")
      .arg(names_of(groups_, *problem->grouping), place_->name,
           same ? tr("as it is") : preview_.text());
}

void GroupDrop::tell() {
  if (!place_) return;
  const QString words = text();
  if (words.isEmpty()) return note_.forget();
  const auto& effect = preview_.effect();
  note_.tell(words, at_, (effect && !effect->feasible) || !preview_.error().isEmpty());
}

bool GroupDrop::eventFilter(QObject*, QEvent* event) {
  switch (event->type()) {
    case QEvent::DragEnter: {  // to be asked again, wherever it comes in
      auto& enter = static_cast<QDropEvent&>(*event);
      const bool ours = enter.mimeData()->hasFormat(group_drag_type());
      if (ours && !drag_over(enter)) enter.accept();
      return ours;
    }
    case QEvent::DragMove: {
      auto& move = static_cast<QDropEvent&>(*event);
      if (!move.mimeData()->hasFormat(group_drag_type())) return false;
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
      const std::vector<GroupId> groups = groups_;
      forget();
      drop_on(session_, groups, place);
      return true;
    }
    default:
      return false;
  }
}

}  // namespace strato
