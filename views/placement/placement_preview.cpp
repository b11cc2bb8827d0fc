#include "views/placement/placement_preview.h"

#include <QCursor>
#include <QDragMoveEvent>
#include <QHelpEvent>
#include <QMouseEvent>
#include <QTableView>
#include <QToolTip>

#include "views/models/drop_place.h"
#include "views/models/strategy_edits.h"
#include "views/style/text.h"

namespace strato {
namespace {

constexpr int kDwell = 150;  // ms

}  // namespace

PlacementPreview::PlacementPreview(Session& session, PlacementModel& model, QTableView& table,
                                   Find find)
    : QObject(&table),
      session_(session),
      model_(model),
      table_(table),
      find_(std::move(find)),
      preview_(session) {
  dwell_.setSingleShot(true);
  dwell_.setInterval(kDwell);
  table_.viewport()->installEventFilter(this);
  connect(&dwell_, &QTimer::timeout, this, &PlacementPreview::ask);
  connect(&preview_, &EditPreview::changed, this, &PlacementPreview::show);
  connect(table_.selectionModel(), &QItemSelectionModel::currentChanged, this,
          [this](const QModelIndex& index) { look_at(index, false); });
  // The same cell means the opposite once it was clicked.
  connect(&session_, &Session::outcome_changed, this, [this] {
    if (cell_.isValid()) dwell_.start();
  });
}

void PlacementPreview::look_at(const QModelIndex& index, bool hovered) {
  const bool nothing_told = index.isValid() || what_.isEmpty();  // a drop that came to nothing
  if (index == cell_ && hovered == hovered_ && nothing_told) return;
  cell_ = index;
  hovered_ = hovered;
  what_.clear();
  over_.reset();
  preview_.forget();
  if (index.isValid()) dwell_.start();
  emit changed();
}

void PlacementPreview::ask() {
  const auto target = cell_.isValid() ? find_(cell_) : std::nullopt;
  const Snapshot& snapshot = session_.snapshot();
  if (!target || !snapshot.problem) return;
  const Strategy wanted = model_.toggled(target->groups, target->device_group, target->use);
  const QString device =
      strato::text(snapshot.problem->cluster->groups()[target->device_group].name);
  if (wanted == snapshot.strategy) {
    what_.clear();
    return preview_.forget();
  }
  what_ = target->use ? tr("Use %1").arg(device) : tr("Leave %1").arg(device);
  if (target->groups.size() > 1) what_ += tr(" (%1 groups)").arg(target->groups.size());
  preview_.ask(wanted);
}

// What the drop would do; at once, for the cursor says the rest.
void PlacementPreview::drag_over(const QDragMoveEvent& event) {
  const QModelIndex index = table_.indexAt(event.position().toPoint());
  const Snapshot& snapshot = session_.snapshot();
  const auto target = index.isValid() ? find_(index) : std::nullopt;
  if (!target || !snapshot.problem) return look_at({}, false);
  const Carried carried = dragged(*event.mimeData(), *snapshot.problem);
  if (carried.is_empty()) return;
  const DropPlace place = place_of(*snapshot.problem->cluster, target->device_group);
  cell_ = QPersistentModelIndex();
  dwell_.stop();
  const bool same = over_ == std::pair(carried, place) && preview_.asks();
  what_ = tr("%1 on %2").arg(names_of(carried, *snapshot.problem), place.name);
  over_ = {carried, place};
  if (!same) preview_.ask(onto(carried, place.devices));
}

QString PlacementPreview::text() const {
  const QString effect = preview_.changes_nothing() ? tr("as it is") : preview_.text();
  return what_.isEmpty() || effect.isEmpty() ? QString()
                                             : QStringLiteral("%1: %2").arg(what_, effect);
}

void PlacementPreview::show() {
  emit changed();
  const bool told = preview_.effect() || !preview_.error().isEmpty();
  if (!hovered_ || !told || !table_.isVisible() || !table_.viewport()->underMouse()) return;
  const QRect cell = table_.visualRect(cell_);
  QToolTip::showText(QCursor::pos(),
                     text() + QLatin1Char('\n') + cell_.data(Qt::ToolTipRole).toString(),
                     table_.viewport(), cell);
}

bool PlacementPreview::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::MouseMove) {
    const auto* mouse = static_cast<QMouseEvent*>(event);
    const QModelIndex index = table_.indexAt(mouse->position().toPoint());
    const bool cell = index.isValid() && find_(index).has_value();
    if (cell) look_at(index, true);
    if (!cell && hovered_) look_at({}, false);
  } else if (event->type() == QEvent::DragMove) {
    drag_over(*static_cast<QDragMoveEvent*>(event));
  } else if (event->type() == QEvent::DragLeave || event->type() == QEvent::Drop) {
    look_at({}, false);
  } else if (event->type() == QEvent::Leave && hovered_) {
    look_at({}, false);
  } else if (event->type() == QEvent::ToolTip && hovered_ && !text().isEmpty()) {
    show();
    return true;
  }
  return QObject::eventFilter(watched, event);
}

}  // namespace strato
