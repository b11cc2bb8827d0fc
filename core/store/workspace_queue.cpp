// Searches that wait for their turn, of a workspace.
#include "core/store/workspace.h"
#include "core/store/workspace_state.h"

namespace strato {

QueuedRow Workspace::add(const StoredQueued& queued) {
  return state_->write([&]() -> QueuedRow {
    SQLite::Statement insert = state_->prepare(
        "INSERT INTO queued (place, model, cluster, planner, options, groups, created) SELECT "
        "coalesce(max(place), 0) + 1, ?1, ?2, ?3, ?4, ?5, "
        "CASE WHEN ?6 = '' THEN strftime('%Y-%m-%dT%H:%M:%SZ', 'now') ELSE ?6 END FROM queued");
    insert.bind(1, queued.model);
    insert.bind(2, queued.cluster);
    insert.bind(3, queued.planner);
    insert.bind(4, queued.options);
    insert.bind(5, queued.groups);
    insert.bind(6, queued.created);
    insert.exec();
    return state_->database->getLastInsertRowid();
  });
}

void Workspace::remove_queued(QueuedRow queued) {
  state_->write([&] {
    SQLite::Statement remove = state_->prepare("DELETE FROM queued WHERE id = ?");
    remove.bind(1, queued);
    remove.exec();
  });
}

void Workspace::order_queued(const std::vector<QueuedRow>& order) {
  state_->write([&] {
    const auto places = static_cast<std::int64_t>(order.size());
    SQLite::Statement others = state_->prepare("UPDATE queued SET place = place + ?");
    others.bind(1, places);
    others.exec();
    SQLite::Statement put = state_->prepare("UPDATE queued SET place = ? WHERE id = ?");
    for (std::size_t i = 0; i < order.size(); ++i) {
      put.bind(1, static_cast<std::int64_t>(i) + 1);
      put.bind(2, order[i]);
      put.exec();
      put.reset();
    }
  });
}

std::vector<StoredQueued> Workspace::queued() const {
  return state_->guarded([&] {
    std::vector<StoredQueued> all;
    SQLite::Statement row = state_->prepare(
        "SELECT id, model, cluster, planner, options, groups, created FROM queued ORDER BY place, "
        "id");
    while (row.executeStep()) {
      all.push_back({row.getColumn(0).getInt64(), row.getColumn(1).getInt64(),
                     row.getColumn(2).getInt64(), row.getColumn(3).getString(),
                     row.getColumn(4).getString(), row.getColumn(5).getString(),
                     row.getColumn(6).getString()});
    }
    return all;
  });
}

}  // namespace strato
