#include "views/workspace/workspace_filter.h"

#include <algorithm>

#include "views/models/workspace_model.h"

namespace strato {

WorkspaceFilter::WorkspaceFilter(QObject* parent) : QSortFilterProxyModel(parent) {
  setRecursiveFilteringEnabled(true);
  setAutoAcceptChildRows(true);
}

void WorkspaceFilter::look_for(const QString& words) {
  words_ = words.split(QLatin1Char(' '), Qt::SkipEmptyParts);
  invalidateFilter();
}

bool WorkspaceFilter::filterAcceptsRow(int row, const QModelIndex& parent) const {
  if (words_.isEmpty()) return true;
  const QModelIndex name = sourceModel()->index(row, WorkspaceModel::Name, parent);
  if (!parent.isValid()) return false;  // a section: for what is in it
  const QString all = name.data().toString() + QLatin1Char('\n') +
                      name.siblingAtColumn(WorkspaceModel::Step).data().toString() +
                      QLatin1Char('\n') + name.data(Qt::ToolTipRole).toString();
  return std::ranges::all_of(
      words_, [&](const QString& word) { return all.contains(word, Qt::CaseInsensitive); });
}

}  // namespace strato
