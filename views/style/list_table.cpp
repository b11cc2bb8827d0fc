#include "views/style/list_table.h"

#include <QHeaderView>
#include <QTableView>

#include "views/style/style.h"

namespace strato::style {

void as_list(QTableView& table) {
  table.horizontalHeader()->setHighlightSections(false);
  table.verticalHeader()->hide();
  table.verticalHeader()->setDefaultSectionSize(table.fontMetrics().height() + 2 * kGrid);
  table.setShowGrid(false);
  table.setWordWrap(false);  // a name that is cut says so once
  table.setFrameShape(QFrame::NoFrame);
  table.setSelectionBehavior(QAbstractItemView::SelectRows);
  table.setSelectionMode(QAbstractItemView::SingleSelection);
  table.setEditTriggers(QAbstractItemView::NoEditTriggers);
}

}  // namespace strato::style
