// The rows of a workspace that have all of the words somewhere: in their name, their figures or their
// tip (planner, state, note, file). What is above such a row stays, and so does what is below it.
#pragma once

#include <QSortFilterProxyModel>
#include <QStringList>

namespace strato {

class WorkspaceFilter : public QSortFilterProxyModel {
  Q_OBJECT
 public:
  explicit WorkspaceFilter(QObject* parent = nullptr);
  void look_for(const QString& words);
  bool looks() const { return !words_.isEmpty(); }

 protected:
  bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

 private:
  QStringList words_;
};

}  // namespace strato
