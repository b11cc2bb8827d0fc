#include "core/store/table/launch_table.h"

#include <fmt/format.h>

#include "core/store/sqlite/connection.h"

namespace strato {

std::string_view name_of(LaunchState state) {
  switch (state) {
    case LaunchState::Finished:
      return "finished";
    case LaunchState::Failed:
      return "failed";
    case LaunchState::Cancelled:
      return "cancelled";
    case LaunchState::Running:
      return "running";
  }
  return "unknown";
}

namespace {

using store::Argument;
using store::ResultRow;

// The columns are id, strategy, launcher, options, state, predicted_ns, measured_ns, note, created,
// job, folder.
StoredLaunch launch_from(const ResultRow& row) {
  StoredLaunch launch;
  launch.id = row.integer(0);
  launch.strategy = row.integer(1);
  launch.launcher = row.text(2);
  launch.options = row.text(3);
  launch.state = row.enumerated<LaunchState>(4);
  launch.predicted_ns = row.integer(5);
  launch.measured_ns = row.integer(6);
  launch.note = row.text(7);
  launch.created = row.text(8);
  launch.job = row.text(9);
  launch.folder = row.text(10);
  return launch;
}

}  // namespace

LaunchRow LaunchTable::add(const StoredLaunch& launch) {
  const store::Packed packed = store::pack(launch.result);
  const std::optional<LaunchRow> id =
      launch.id != 0 ? std::optional<LaunchRow>(launch.id) : std::nullopt;
  return connection_.insert(
      "INSERT INTO launch (strategy, launcher, options, state, predicted_ns, measured_ns, note, "
      "created, codec, size, bytes, job, folder, id) "
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      {launch.strategy, launch.launcher, launch.options, launch.state, launch.predicted_ns,
       launch.measured_ns, launch.note, connection_.created_or_now(launch.created), packed.codec,
       packed.size, Argument::Bytes{packed.bytes}, launch.job, launch.folder, id});
}

void LaunchTable::update(const StoredLaunch& launch) {
  const store::Packed packed = store::pack(launch.result);
  const int changed = connection_.execute(
      "UPDATE launch SET state = ?, measured_ns = ?, note = ?, codec = ?, size = ?, bytes = ?, "
      "job = ?, folder = ? WHERE id = ?",
      {launch.state, launch.measured_ns, launch.note, packed.codec, packed.size,
       Argument::Bytes{packed.bytes}, launch.job, launch.folder, launch.id});
  if (changed == 0) connection_.fail_missing(fmt::format("launch {}", launch.id));
}

void LaunchTable::remove(LaunchRow launch) {
  connection_.execute("DELETE FROM launch WHERE id = ?", {launch});
}

std::vector<StoredLaunch> LaunchTable::all() const {
  return connection_.rows(
      "SELECT id, strategy, launcher, options, state, predicted_ns, measured_ns, note, created, "
      "job, folder FROM launch ORDER BY id",
      {}, launch_from);
}

std::optional<StoredLaunch> LaunchTable::find(LaunchRow id) const {
  return connection_.first(
      "SELECT id, strategy, launcher, options, state, predicted_ns, measured_ns, note, created, "
      "job, folder, codec, size, bytes FROM launch WHERE id = ?",
      {id}, [](const ResultRow& row) {
        StoredLaunch launch = launch_from(row);
        launch.result = row.unpacked(11);
        return launch;
      });
}

}  // namespace strato
