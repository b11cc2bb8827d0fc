// Private to core/store: the state of a Workspace, and small helpers around statements.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/store/connection.h"
#include "core/store/packed.h"
#include "core/store/workspace.h"

namespace strato {

struct Workspace::State {
  std::filesystem::path file;
  std::unique_ptr<SQLite::Database> database;

  SQLite::Statement prepare(const char* sql) const { return {*database, sql}; }
  template <class Body>
  auto guarded(Body&& body) const {
    return store::guarded(file, std::forward<Body>(body));
  }
  // Runs `body` in one transaction that takes the write lock at once, so that writers queue and
  // never clash.
  template <class Body>
  auto write(Body&& body) const {
    return guarded([&] {
      SQLite::Transaction transaction(*database, SQLite::TransactionBehavior::IMMEDIATE);
      if constexpr (std::is_void_v<std::invoke_result_t<Body>>) {
        body();
        transaction.commit();
      } else {
        auto result = body();
        transaction.commit();
        return result;
      }
    });
  }
  // Unpacks columns codec, size, bytes, which start at `first`.
  std::string unpacked(SQLite::Statement& row, int first) const;
};

}  // namespace strato
