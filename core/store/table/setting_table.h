// The settings of a workspace: texts by key. Its errors and threads are those of the workspace.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/store/table/rows.h"

namespace strato {

class SettingTable {
 public:
  explicit SettingTable(store::Connection& connection) : connection_(connection) {}

  void set(std::string_view key, std::string_view value);
  std::optional<std::string> find(std::string_view key) const;
  std::map<std::string, std::string> with_prefix(std::string_view prefix) const;  // of the keys

 private:
  store::Connection& connection_;
};

}  // namespace strato
