// The rows of a workspace that have all of the words somewhere: in their name, their figures, their
// tags, their note or their tip (planner, state, file). "tag:slow": a tag that begins so. What is
// above such a row stays, and so does what is below it.
#pragma once

#include <QSortFilterProxyModel>
#include <QStringList>

namespace strato {

class WorkspaceFilter : public QSortFilterProxyModel {
  Q_OBJECT
 public:
  explicit WorkspaceFilter(QObject* parent = nullptr);
  void look_for(const QString& words);
  bool looks() const { return !words_.isEmpty() || !tags_.isEmpty(); }

 protected:
  bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

 private:
  QStringList words_, tags_;
};

}  // namespace strato
