#include "core/store/table/setting_table.h"

#include "core/store/sqlite/connection.h"

namespace strato {

using store::ResultRow;

void SettingTable::set(std::string_view key, std::string_view value) {
  connection_.execute(
      "INSERT INTO setting (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = "
      "excluded.value",
      {key, value});
}

std::optional<std::string> SettingTable::find(std::string_view key) const {
  return connection_.first("SELECT value FROM setting WHERE key = ?", {key},
                           [](const ResultRow& row) { return row.text(0); });
}

std::map<std::string, std::string> SettingTable::with_prefix(std::string_view prefix) const {
  std::map<std::string, std::string> found;
  connection_.each("SELECT key, value FROM setting WHERE substr(key, 1, length(?1)) = ?1", {prefix},
                   [&](const ResultRow& row) { found.emplace(row.text(0), row.text(1)); });
  return found;
}

}  // namespace strato
