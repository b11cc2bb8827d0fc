#include "core/store/table/strategy_table.h"

#include "core/store/sqlite/connection.h"

namespace strato {
namespace {

using store::ResultRow;

// The columns are id, model, cluster, parent, run, origin, label, digest, step_time_ns, feasible,
// created.
StoredStrategy strategy_from(const ResultRow& row) {
  StoredStrategy strategy;
  strategy.id = row.integer(0);
  strategy.model = row.integer(1);
  strategy.cluster = row.integer(2);
  strategy.parent = row.optional_integer(3);
  strategy.run = row.optional_integer(4);
  strategy.origin = row.enumerated<Origin>(5);
  strategy.label = row.text(6);
  strategy.digest = Digest::from_hex(row.text(7));
  strategy.step_time_ns = row.integer(8);
  strategy.feasible = row.integer(9) != 0;
  strategy.created = row.text(10);
  return strategy;
}

}  // namespace

// What a run only had on its way is nobody's: it becomes what is stored now. Not where the parent
// comes from it.
void StrategyTable::take_over(StrategyRow row, const StoredStrategy& strategy) {
  connection_.execute(
      "WITH RECURSIVE above(id) AS (SELECT ?2 WHERE ?2 IS NOT NULL UNION "
      "SELECT s.parent FROM strategy s JOIN above ON s.id = above.id WHERE s.parent IS NOT NULL) "
      "UPDATE strategy SET run = NULL, parent = ?2, origin = ?3, label = ?4, created = ?5 "
      "WHERE id = ?1 AND run IS NOT NULL "
      "AND id NOT IN (SELECT best FROM run WHERE best IS NOT NULL) "
      "AND id NOT IN (SELECT id FROM above)",
      {row, strategy.parent, strategy.origin, strategy.label,
       connection_.created_or_now(strategy.created)});
}

StrategyRow StrategyTable::add(const StoredStrategy& strategy) {
  StrategyRow result = 0;
  connection_.write([&] {
    const std::string digest = strategy.digest.hex();
    const auto known =
        connection_.first("SELECT id FROM strategy WHERE model = ? AND cluster = ? AND digest = ?",
                          {strategy.model, strategy.cluster, digest},
                          [](const ResultRow& row) { return row.integer(0); });
    if (known && !strategy.run) take_over(*known, strategy);
    result = known
                 ? *known
                 : connection_.insert(
                       "INSERT INTO strategy (model, cluster, parent, run, origin, label, digest, "
                       "json, step_time_ns, feasible, created) "
                       "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                       {strategy.model, strategy.cluster, strategy.parent, strategy.run,
                        strategy.origin, strategy.label, digest,
                        connection_.put_value(strategy.json), strategy.step_time_ns,
                        strategy.feasible, connection_.created_or_now(strategy.created)});
  });
  return result;
}

void StrategyTable::rename(StrategyRow strategy, std::string_view label) {
  connection_.execute("UPDATE strategy SET label = ? WHERE id = ?", {label, strategy});
}

std::vector<StoredStrategy> StrategyTable::all() const {
  return connection_.rows(
      "SELECT id, model, cluster, parent, run, origin, label, digest, step_time_ns, feasible, "
      "created FROM strategy ORDER BY id",
      {}, strategy_from);
}

std::optional<StoredStrategy> StrategyTable::find(StrategyRow id) const {
  return connection_.first(
      "SELECT id, model, cluster, parent, run, origin, label, strategy.digest, step_time_ns, "
      "feasible, created, codec, size, bytes FROM strategy "
      "JOIN value ON value.digest = strategy.json WHERE id = ?",
      {id}, [](const ResultRow& row) {
        StoredStrategy strategy = strategy_from(row);
        strategy.json = row.unpacked(11);
        return strategy;
      });
}

}  // namespace strato
