// The parts of the variables chosen, one a line; those selected are what the form changes. No
// selection: all of them.
#pragma once

#include <QListWidget>
#include <vector>

#include "core/search/api/problem.h"
#include "core/strategy/value/variable_sync.h"

namespace strato {

class PartList : public QListWidget {
  Q_OBJECT
 public:
  explicit PartList(QWidget* parent = nullptr);

  // Part i of all that have it. The selection stays, by number.
  void show_parts(const std::vector<VariableSync>& syncs, const Problem& problem);
  std::vector<int> only() const;  // ascending; empty: all

 protected:
  bool event(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;  // Escape: all again
};

}  // namespace strato
