// Rows of the timeline: hidden, pinned, filtered, by menu and keys.
#include <QContextMenuEvent>
#include <QKeyEvent>
#include <QLineEdit>
#include <QMenu>

#include "views/style/own_escape.h"
#include "views/style/text.h"
#include "views/timeline/timeline_canvas.h"

namespace strato {

// Of the words that filter: all that is typed is theirs.
bool TimelineCanvas::eventFilter(QObject* watched, QEvent* event) {
  if (watched == words_ && is_own_escape(*event)) event->accept();
  if (watched != words_ || event->type() != QEvent::KeyPress)
    return QAbstractScrollArea::eventFilter(watched, event);
  const int key = static_cast<QKeyEvent*>(event)->key();
  if (key == Qt::Key_Escape) words_->clear();
  const bool done = key == Qt::Key_Escape || key == Qt::Key_Return || key == Qt::Key_Enter;
  if (done) setFocus();
  return done;
}

RowMask TimelineCanvas::rows_in_sight() const {
  RowMask mask(rows_ ? rows_->rows.size() : 0);
  for (const RowLayout::Place& place : scene_.layout.places) mask[place.row] = true;
  return mask;
}

void TimelineCanvas::hide_rows(const std::vector<RowKey>& keys) {
  for (const RowKey& key : keys) {
    scene_.filter.hidden.insert(key);
    scene_.filter.pinned.erase(key);
  }
  layout();
}

void TimelineCanvas::pin_row(RowKey key, bool on) {
  if (key.kind == RowKind::Header) return;
  if (on) {
    scene_.filter.pinned.insert(key);
    scene_.filter.hidden.erase(key);
  } else {
    scene_.filter.pinned.erase(key);
  }
  layout();
}

void TimelineCanvas::filter_rows(const QString& words) {
  if (words_->text() != words) return words_->setText(words);  // comes back here
  scene_.filter.words = words.toStdString();
  layout();
}

void TimelineCanvas::show_all_rows() {
  scene_.filter.hidden.clear();
  scene_.filter.words.clear();
  words_->clear();
  layout();
}

void TimelineCanvas::go_to(TaskId task) {
  if (!rows_ || task.index() >= rows_->timeline->tasks.size()) return;
  unhide(task);
  select_task(task);
  reveal(task);
}

// When all rows that show it are out of sight, the first comes back.
void TimelineCanvas::unhide(TaskId task) {
  const auto places = places_of(*rows_, task);
  const bool seen = std::ranges::any_of(
      places, [this](const RowSlice& at) { return scene_.layout.place_of(at.row).has_value(); });
  if (seen || places.empty()) return;
  const TimelineRow& row = rows_->rows[places.front().row];
  const auto section = static_cast<std::size_t>(row.section);
  scene_.filter.hidden.erase(key_of(row));
  scene_.filter.hidden.erase(RowKey{RowKind::Header, section});
  if (section < scene_.filter.collapsed.size()) scene_.filter.collapsed[section] = false;
  layout();
  if (!scene_.layout.place_of(places.front().row)) words_->clear();
}

std::optional<std::size_t> TimelineCanvas::chosen_row() const {
  if (scene_.task) {
    for (const RowSlice& at : places_of(*rows_, *scene_.task)) {
      if (scene_.layout.place_of(at.row)) return at.row;
    }
  }
  for (const RowLayout::Place& place : scene_.layout.places) {
    const TimelineRow& row = rows_->rows[place.row];
    if ((row.device.valid() && scene_.device == row.device) ||
        (row.link.valid() && scene_.link == row.link))
      return place.row;
  }
  return std::nullopt;
}

std::vector<RowKey> TimelineCanvas::keys_of_device(DeviceId device) const {
  return {{RowKind::Compute, device.index()},
          {RowKind::Communication, device.index()},
          {RowKind::Memory, device.index()}};
}

bool TimelineCanvas::handle_row_key(int key, bool shift) {
  switch (key) {
    case Qt::Key_H:
      if (shift) {
        show_all_rows();
      } else if (const auto row = chosen_row()) {
        hide_rows({key_of(rows_->rows[*row])});
      }
      return true;
    case Qt::Key_P:
      if (const auto row = chosen_row()) {
        const RowKey chosen = key_of(rows_->rows[*row]);
        pin_row(chosen, !scene_.filter.pinned.contains(chosen));
      }
      return true;
    case Qt::Key_L:
      words_->setFocus();
      words_->selectAll();
      return true;
    default:
      return false;
  }
}

void TimelineCanvas::add_row_actions(QMenu& menu, std::size_t index) {
  const TimelineRow row = rows_->rows[index];  // rows may be others when an action is chosen
  const RowKey key = key_of(row);
  const RowKey header{RowKind::Header, static_cast<std::size_t>(row.section)};
  if (row.kind != RowKind::Header) {
    const bool pinned = scene_.filter.pinned.contains(key);
    menu.addAction(pinned ? tr("&Unpin") : tr("&Pin on Top"), this,
                   [this, key, pinned] { pin_row(key, !pinned); });
    menu.addAction(tr("&Hide This Row"), this, [this, key] { hide_rows({key}); });
  }
  if (row.device.valid()) {
    const Cluster& cluster = *rows_->timeline->program->cluster;
    menu.addAction(tr("Hide &Device %1").arg(text(cluster.device(row.device).name)), this,
                   [this, keys = keys_of_device(row.device)] { hide_rows(keys); });
  }
  std::vector<RowKey> others;
  QString name;
  for (const TimelineRow& other : rows_->rows) {
    if (other.kind != RowKind::Header) continue;
    if (key_of(other) == header) name = text(other.label);
    if (key_of(other) != header) others.push_back(key_of(other));
  }
  menu.addAction(tr("Hide &All of %1").arg(name), this, [this, header] { hide_rows({header}); });
  QAction* only = menu.addAction(tr("Show &Only %1").arg(name), this, [this, header, others] {
    scene_.filter.hidden.erase(header);
    hide_rows(others);
  });
  only->setEnabled(!others.empty());
}

void TimelineCanvas::contextMenuEvent(QContextMenuEvent* event) {
  if (!rows_) return;
  const bool by_key = event->reason() == QContextMenuEvent::Keyboard;
  const auto found = by_key ? std::nullopt : hit(event->pos());
  auto* menu = new QMenu(this);
  menu->setAttribute(Qt::WA_DeleteOnClose);
  add_order_actions(*menu, by_key ? QPoint(-1, -1) : event->pos());
  if (found) add_row_actions(*menu, found->row);
  if (const auto row = chosen_row(); by_key && row) add_row_actions(*menu, *row);
  menu->addAction(tr("Show All &Rows"), this, &TimelineCanvas::show_all_rows)
      ->setEnabled(hidden_rows() > 0);
  menu->addAction(tr("&Filter Rows"), this, [this] { words_->setFocus(); });
  menu->addSeparator();
  menu->addAction(tr("&Search…"), this, &TimelineCanvas::search_wanted);
  menu->addAction(tr("&Totals of the Range"), this, &TimelineCanvas::totals_wanted);
  emit menu_opens(menu);
  menu->popup(by_key ? mapToGlobal(QPoint(label_width_, scene_.top())) : event->globalPos());
}

}  // namespace strato
