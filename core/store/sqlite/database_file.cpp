#include "core/store/sqlite/database_file.h"

#include <SQLiteCpp/Backup.h>
#include <fmt/format.h>
#include <sqlite3.h>

#include <chrono>
#include <string_view>
#include <thread>

#include "core/base/error.h"
#include "core/base/utf8.h"
#include "core/io/read_part.h"

namespace strato::store {
namespace fs = std::filesystem;
namespace {

constexpr int kBusyMilliseconds = 10'000;

// A view, a trigger or a column that is made of others could make rows and values without an end
// when it is used.
void refuse_what_is_made(SQLite::Database& database, const fs::path& file) {
  SQLite::Statement made(
      database,
      "SELECT name FROM sqlite_schema WHERE (type NOT IN ('table', 'index') AND name <> "
      "'annotation_of_run') OR sql LIKE 'CREATE VIRTUAL%' UNION ALL SELECT of.name FROM "
      "sqlite_schema of, pragma_table_xinfo(of.name) WHERE of.type = 'table' AND hidden <> 0");
  if (!made.executeStep()) return;
  const std::string name = shown_text(made.getColumn(0).getString().substr(0, 64));
  throw InputError(file.string(), "", fmt::format("has \"{}\" in it, which no workspace has", name),
                   "restore a copy, or choose a new workspace");
}

// The schema version, after checking that the file is ours or brand new (0).
int checked_version(SQLite::Database& database, const fs::path& file, int newest) {
  // One statement, hence one moment: another program may be creating the file right now.
  SQLite::Statement row(database,
                        "SELECT (SELECT application_id FROM pragma_application_id), "
                        "(SELECT user_version FROM pragma_user_version), "
                        "(SELECT count(*) = 0 FROM sqlite_schema)");
  row.executeStep();
  const int application = row.getColumn(0), version = row.getColumn(1);
  const bool empty = row.getColumn(2).getInt() != 0;
  if (application == 0 && version == 0 && empty) return 0;
  if (application != kApplicationId)
    throw InputError(file.string(), "", "is an SQLite file of another program, not a workspace",
                     "give a .strata file, or a new name");
  if (version > newest) {
    throw InputError(
        file.string(), "",
        fmt::format("was made by a newer Stratoscope: schema {}, this one reads up to {}", version,
                    newest),
        "update Stratoscope, or choose another workspace");
  }
  refuse_what_is_made(database, file);
  return version;
}

// Runs the missing steps in one transaction; of two programs that open a new file at once, one
// waits.
void migrate(SQLite::Database& database, const fs::path& file, std::span<const Migration> steps) {
  const int newest = steps.back().to;
  if (checked_version(database, file, newest) == newest) return;
  SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
  const int version = checked_version(database, file, newest);
  for (const Migration& step : steps) {
    if (step.to > version) database.exec(step.sql);
  }
  database.exec(fmt::format("PRAGMA application_id = {}", kApplicationId));
  database.exec(fmt::format("PRAGMA user_version = {}", newest));
  transaction.commit();
}

// Changing the journal mode does not wait for other programs by itself.
void use_write_ahead_log(SQLite::Database& database) {
  const auto give_up =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(kBusyMilliseconds);
  for (bool changed = false; !changed;) {
    try {
      database.exec("PRAGMA journal_mode = WAL");
      changed = true;
    } catch (const SQLite::Exception& error) {
      const int code = error.getErrorCode() & 0xff;
      const bool busy = code == SQLITE_BUSY || code == SQLITE_LOCKED;
      if (!busy || std::chrono::steady_clock::now() > give_up) throw;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
  database.exec("PRAGMA synchronous = NORMAL");
}

// SQLite takes a file shorter than its header for a new one, and would write over it.
void check_kind(const fs::path& file) {
  std::error_code error;
  if (fs::is_directory(file, error)) {
    throw InputError(file.string(), "", "is a folder", "give a .strata file");
  }
  const auto size = fs::file_size(file, error);
  if (error || size == 0) return;  // to be created, or SQLite says what is wrong
  constexpr std::string_view magic("SQLite format 3\0", 16);
  constexpr std::size_t header_size = 100;
  const std::string start = read_part(file, 0, magic.size());
  if (start.empty()) return;  // nobody may read it
  if (start != magic || size < header_size) throw SQLite::Exception("", SQLITE_NOTADB);
}

// The bare header of a new file that a failing disk cut short. What is longer stays: another
// program may have made it meanwhile.
void remove_stub(const fs::path& file) {
  constexpr std::uintmax_t page = 4096;
  std::error_code error;
  if (fs::file_size(file, error) > page || error) return;
  for (const char* part : {"", "-wal", "-shm"}) fs::remove(file.string() + part, error);
}

std::unique_ptr<SQLite::Database> open_to_write(const fs::path& file,
                                                std::span<const Migration> steps) {
  const bool is_new = !fs::exists(file);
  try {
    auto database = std::make_unique<SQLite::Database>(
        file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, kBusyMilliseconds);
    // Look before the first write: a foreign file, or one from a newer version, is left untouched.
    checked_version(*database, file, steps.back().to);
    database->exec("PRAGMA foreign_keys = ON");
    use_write_ahead_log(*database);
    migrate(*database, file, steps);
    return database;
  } catch (const SQLite::Exception& error) {
    const int code = error.getErrorCode() & 0xff;
    if (is_new && (code == SQLITE_FULL || code == SQLITE_IOERR)) remove_stub(file);
    throw;
  }
}

std::string immutable_uri(const fs::path& file) {
  std::string uri = "file:";
  for (const char c : fs::absolute(file).string()) {
    const bool special = c == '%' || c == '?' || c == '#';
    uri += special ? fmt::format("%{:02x}", static_cast<unsigned>(c)) : std::string(1, c);
  }
  return uri + "?immutable=1";
}

// An older file that may not be written is brought up to date in memory, as it is at this moment.
std::unique_ptr<SQLite::Database> up_to_date(std::unique_ptr<SQLite::Database> database,
                                             const fs::path& file,
                                             std::span<const Migration> steps) {
  const int version = checked_version(*database, file, steps.back().to);
  if (version == steps.back().to) return database;
  if (version == 0) {
    throw InputError(file.string(), "", "is empty and is opened for reading only",
                     "open it once for writing");
  }
  auto copy =
      std::make_unique<SQLite::Database>(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  SQLite::Backup(*copy, *database).executeStep(-1);
  migrate(*copy, file, steps);
  copy->exec("PRAGMA query_only = ON");
  return copy;
}

// A file in a folder that may not be written has no shared memory for its log; when no log is left
// behind either, nothing can change it, and it is read as it stands.
std::unique_ptr<SQLite::Database> open_to_read(const fs::path& file,
                                               std::span<const Migration> steps) {
  try {
    auto database =
        std::make_unique<SQLite::Database>(file.string(), SQLite::OPEN_READONLY, kBusyMilliseconds);
    return up_to_date(std::move(database), file, steps);
  } catch (const SQLite::Exception& error) {
    const int code = error.getErrorCode() & 0xff;
    if ((code != SQLITE_CANTOPEN && code != SQLITE_READONLY) || !fs::exists(file)) throw;
    if (fs::exists(file.string() + "-wal")) throw;
  }
  auto database = std::make_unique<SQLite::Database>(
      immutable_uri(file), SQLite::OPEN_READONLY | SQLite::OPEN_URI, kBusyMilliseconds);
  return up_to_date(std::move(database), file, steps);
}

}  // namespace

void fail(const fs::path& file, const SQLite::Exception& error) {
  const std::string text = error.what();
  const auto refused = [&](const std::string& problem, const char* remedy) {
    return InputError(file.string(), "", problem, remedy);
  };
  switch (error.getErrorCode() & 0xff) {
    case SQLITE_NOTADB:
      throw refused("is not a workspace (not an SQLite file)",
                    "give a .strata file, or a new name");
    case SQLITE_CORRUPT:
      throw refused("is damaged", "restore a copy, or choose a new workspace");
    case SQLITE_FULL:
      throw refused("cannot be written: the disk is full", "free some space and try again");
    case SQLITE_IOERR:
      throw refused("cannot be read or written (" + text + ")",
                    "check the free space and the permissions of its folder");
    case SQLITE_READONLY:
      throw refused("is read-only", "change its permissions, or choose another workspace");
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
      throw refused("cannot be opened",
                    "check that its folder exists and that you may write to it");
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      throw refused("is locked by another program", "wait until it is done, or close it");
    case SQLITE_CONSTRAINT:
      throw refused("does not have the row that this refers to (" + text + ")",
                    "it may have been deleted by another program: load the list again");
    default:
      throw refused("cannot be used: " + text, "check the file, or choose another workspace");
  }
}

std::unique_ptr<SQLite::Database> open_database(const fs::path& file, bool read_only,
                                                std::span<const Migration> steps) {
  return guarded(file, [&] {
    check_kind(file);
    return read_only ? open_to_read(file, steps) : open_to_write(file, steps);
  });
}

}  // namespace strato::store
