#include "core/store/table/queue_table.h"

#include "core/store/sqlite/connection.h"

namespace strato {

using store::ResultRow;

QueuedRow QueueTable::add(const StoredQueued& queued) {
  return connection_.insert(
      "INSERT INTO queued (place, model, cluster, planner, options, groups, created) "
      "SELECT coalesce(max(place), 0) + 1, ?, ?, ?, ?, ?, ? FROM queued",
      {queued.model, queued.cluster, queued.planner, queued.options, queued.groups,
       connection_.created_or_now(queued.created)});
}

void QueueTable::remove(QueuedRow queued) {
  connection_.execute("DELETE FROM queued WHERE id = ?", {queued});
}

void QueueTable::order(const std::vector<QueuedRow>& order) {
  connection_.write([&] {
    connection_.execute("UPDATE queued SET place = place + ?", {order.size()});
    for (std::size_t i = 0; i < order.size(); ++i)
      connection_.execute("UPDATE queued SET place = ? WHERE id = ?", {i + 1, order[i]});
  });
}

std::vector<StoredQueued> QueueTable::all() const {
  return connection_.rows(
      "SELECT id, model, cluster, planner, options, groups, created FROM queued ORDER BY place, id",
      {}, [](const ResultRow& row) {
        return StoredQueued{row.integer(0), row.integer(1), row.integer(2), row.text(3),
                            row.text(4),    row.text(5),    row.text(6)};
      });
}

}  // namespace strato
