// What the step time would be if one op, device or link were faster: a table for sorting and
// selecting, of what would save at least half a percent. Follows the session's explanation.
#pragma once

#include <QAbstractTableModel>

#include "core/sim/explain/what_if.h"
#include "views/models/explanation.h"
#include "views/models/session.h"

namespace strato {

class WhatIfModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column { Name, Faster, Free, kColumns };
  static constexpr int SortRole = Qt::UserRole;

  explicit WhatIfModel(Session& session, QObject* parent = nullptr);

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  void select(int row) const;  // the op, device or link, in all views

 private:
  void refresh();
  QString change(Nanos time) const;
  const WhatIf& at(int row) const;

  Session& session_;
  std::shared_ptr<const Explanation> explanation_;  // null: nothing is known
  std::size_t rows_ = 0;  // the first what-ifs: they are sorted by what they save
};

}  // namespace strato
