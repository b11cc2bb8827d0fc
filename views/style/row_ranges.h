// Rows of a table as a selection.
#pragma once

#include <QItemSelection>
#include <vector>

namespace strato {

// The rows, whole, in as few ranges as there are: QItemSelection::select() compares what it adds
// with all that it has, so that rows one by one cost the square of their number. In any order, each
// as often as it comes; all of them rows of the model's top level.
QItemSelection row_ranges(std::vector<int> rows, const QAbstractItemModel& model);

}  // namespace strato
