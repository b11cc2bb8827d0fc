#include "views/inspector/part_list.h"

#include <QKeyEvent>
#include <QSignalBlocker>
#include <algorithm>

#include "views/models/variable_edits.h"
#include "views/style/style.h"

namespace strato {
namespace {

constexpr int kRowsShown = 5;
constexpr int kMostLines = 256;  // more parts are changed together

}  // namespace

PartList::PartList(QWidget* parent) : QListWidget(parent) {
  setSelectionMode(QAbstractItemView::ExtendedSelection);
  setUniformItemSizes(true);
  setTextElideMode(Qt::ElideRight);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setAccessibleName(tr("Parts of the variable"));
}

void PartList::show_parts(const std::vector<VariableSync>& syncs, const Problem& problem) {
  const QSignalBlocker block(this);
  std::size_t most = 0;
  for (const VariableSync& sync : syncs) most = std::max(most, sync.parts.size());
  const int rows = most > 1 ? static_cast<int>(std::min<std::size_t>(most, kMostLines)) : 0;
  while (count() > rows) delete takeItem(count() - 1);
  while (count() < rows) addItem(QString());
  for (int row = 0; row < rows; ++row) {
    const auto part = static_cast<std::size_t>(row);
    const SyncPart* like = nullptr;
    QString indices;
    bool same_part = true, same_indices = true;
    for (const VariableSync& sync : syncs) {
      if (part >= sync.parts.size()) continue;
      const QString here = part_range_words(sync, *problem.graph, part);
      if (like == nullptr) {
        like = &sync.parts[part];
        indices = here;
      }
      same_part = same_part && *like == sync.parts[part];
      same_indices = same_indices && indices == here;
    }
    const QString words = same_part ? part_words(*like, *problem.cluster) : tr("differs");
    const QString range = same_indices ? indices : tr("differs");
    item(row)->setText(QStringLiteral("%1   %2").arg(row).arg(words));
    item(row)->setToolTip(tr("Part %1, indices %2: %3").arg(row).arg(range, words));
  }
  const int height = fontMetrics().height() + style::kGrid;
  for (int row = 0; row < rows; ++row) item(row)->setSizeHint(QSize(0, height));
  setFixedHeight(std::clamp(rows, 1, kRowsShown) * height + 2 * frameWidth());
}

std::vector<int> PartList::only() const {
  std::vector<int> rows;
  for (const QModelIndex& index : selectedIndexes()) rows.push_back(index.row());
  std::ranges::sort(rows);
  return rows;
}

// Escape is the list's first, and the window's when nothing is selected here.
bool PartList::event(QEvent* event) {
  const bool escape = event->type() == QEvent::ShortcutOverride &&
                      static_cast<QKeyEvent*>(event)->key() == Qt::Key_Escape;
  if (escape && !selectedIndexes().isEmpty()) event->accept();
  return QListWidget::event(event);
}

void PartList::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Escape && !selectedIndexes().isEmpty()) {
    clearSelection();
    event->accept();
    return;
  }
  QListWidget::keyPressEvent(event);
}

}  // namespace strato
