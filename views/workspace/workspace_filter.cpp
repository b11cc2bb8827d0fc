#include "views/workspace/workspace_filter.h"

#include <algorithm>

#include "views/models/workspace_model.h"

namespace strato {

WorkspaceFilter::WorkspaceFilter(QObject* parent) : QSortFilterProxyModel(parent) {
  setRecursiveFilteringEnabled(true);
  setAutoAcceptChildRows(true);
}

void WorkspaceFilter::look_for(const QString& words) {
  words_.clear();
  tags_.clear();
  for (const QString& word : words.split(QLatin1Char(' '), Qt::SkipEmptyParts)) {
    if (word.startsWith(QStringLiteral("tag:"), Qt::CaseInsensitive)) {
      tags_ << word.mid(4);
    } else {
      words_ << word;
    }
  }
  invalidateFilter();
}

bool WorkspaceFilter::filterAcceptsRow(int row, const QModelIndex& parent) const {
  if (!looks()) return true;
  const QModelIndex name = sourceModel()->index(row, WorkspaceModel::Name, parent);
  if (!parent.isValid()) return false;  // a section: for what is in it
  const QStringList tags = name.data(WorkspaceModel::TagsRole).toStringList();
  const QString all =
      QStringList{name.data().toString(),
                  name.siblingAtColumn(WorkspaceModel::Step).data().toString(),
                  name.data(Qt::ToolTipRole).toString(),
                  name.data(WorkspaceModel::NoteRole).toString(), tags.join(QLatin1Char('\n'))}
          .join(QLatin1Char('\n'));
  const bool has_words = std::ranges::all_of(
      words_, [&](const QString& word) { return all.contains(word, Qt::CaseInsensitive); });
  return has_words && std::ranges::all_of(tags_, [&](const QString& wanted) {
           return std::ranges::any_of(tags, [&](const QString& tag) {
             return tag.startsWith(wanted, Qt::CaseInsensitive);
           });
         });
}

}  // namespace strato
