#include "views/style/row_ranges.h"

#include <algorithm>

namespace strato {

QItemSelection row_ranges(std::vector<int> rows, const QAbstractItemModel& model) {
  std::ranges::sort(rows);
  const auto apart = [](int a, int b) { return b > a + 1; };
  QItemSelection ranges;
  for (auto first = rows.begin(); first != rows.end();) {
    const auto gap = std::adjacent_find(first, rows.end(), apart);
    const auto end = gap == rows.end() ? gap : gap + 1;
    ranges.append(QItemSelectionRange(model.index(*first, 0),
                                      model.index(*(end - 1), model.columnCount() - 1)));
    first = end;
  }
  return ranges;
}

}  // namespace strato
