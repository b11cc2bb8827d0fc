// Inside this folder only: a workspace file as an open SQLite database, and the mapping of SQLite's
// errors to InputError.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <filesystem>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

namespace strato::store {

// Brings a file from schema version `to - 1` to `to`. Entries ascend by one from 1.
struct Migration {
  int to;
  const char* sql;
};
std::span<const Migration> migrations();

// "STRT": marks the file as ours, also for file(1).
inline constexpr int kApplicationId = 0x53545254;

// Opens (creates unless `read_only`), migrates to the last of `steps`: with `read_only` a copy in
// memory, never the file. Throws InputError.
std::unique_ptr<SQLite::Database> open_database(const std::filesystem::path& file, bool read_only,
                                                std::span<const Migration> steps = migrations());

[[noreturn]] void fail(const std::filesystem::path& file, const SQLite::Exception& error);

// Runs `body`, and turns what SQLite throws into an InputError that names the file.
template <class Body>
auto guarded(const std::filesystem::path& file, Body&& body) -> std::invoke_result_t<Body> {
  try {
    return std::forward<Body>(body)();
  } catch (const SQLite::Exception& error) {
    fail(file, error);
  }
}

}  // namespace strato::store
