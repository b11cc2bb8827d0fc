#include "core/store/sqlite/connection.h"

#include <sqlite3.h>

#include "core/base/error.h"
#include "core/io/byte_io.h"
#include "core/store/sqlite/database_file.h"

namespace strato::store {
namespace {

constexpr std::size_t kPackAbove = 1024;  // below this, compression saves less than a page
constexpr int kPlain = 0, kZstd = 1;      // codecs
constexpr std::int64_t kLargest = std::int64_t{1} << 31;  // no value of ours comes near: damage is

struct Binder {
  SQLite::Statement& statement;
  int index;

  void operator()(std::nullptr_t) const { statement.bind(index); }
  void operator()(std::int64_t value) const { statement.bind(index, value); }
  void operator()(double value) const { statement.bind(index, value); }
  void operator()(std::string_view text) const { statement.bind(index, std::string(text)); }
  void operator()(Argument::Bytes value) const {
    statement.bindNoCopy(index, value.bytes.data(), static_cast<int>(value.bytes.size()));
  }
};

SQLite::Statement bound(const SQLite::Database& database, const std::string& sql,
                        Arguments arguments) {
  SQLite::Statement statement(database, sql);
  int index = 0;
  for (const Argument& argument : arguments)
    std::visit(Binder{statement, ++index}, argument.value());
  return statement;
}

}  // namespace

Packed pack(std::string_view value) {
  const auto size = static_cast<std::int64_t>(value.size());
  if (value.size() > kPackAbove) {
    std::string smaller = compressed(value);
    if (smaller.size() < value.size()) return {kZstd, size, std::move(smaller)};
  }
  return {kPlain, size, std::string(value)};
}

bool ResultRow::is_null(int column) const { return statement_.isColumnNull(column); }
std::int64_t ResultRow::integer(int column) const {
  return statement_.getColumn(column).getInt64();
}
double ResultRow::real(int column) const { return statement_.getColumn(column).getDouble(); }
std::string ResultRow::text(int column) const { return statement_.getColumn(column).getString(); }

std::string ResultRow::unpacked(int first) const {
  if (first >= statement_.getColumnCount()) return {};
  const auto codec = integer(first), size = integer(first + 1);
  const SQLite::Column column = statement_.getColumn(first + 2);
  const std::string_view bytes(static_cast<const char*>(column.getBlob()),
                               static_cast<std::size_t>(column.getBytes()));
  std::optional<std::string> value;
  if (codec == kPlain) value = bytes;
  if (codec == kZstd && size >= 0 && size <= kLargest)
    value = decompressed(bytes, static_cast<std::size_t>(size));
  if (!value || static_cast<std::int64_t>(value->size()) != size)
    throw InputError("", "", "has a value that is damaged",
                     "restore a copy, or choose a new workspace");
  return std::move(*value);
}

Connection::Connection(const std::filesystem::path& file, bool read_only)
    : file_(file), database_(open_database(file, read_only)) {}
Connection::~Connection() = default;

// PRAGMA data_version moves with the writes of other connections only, total_changes with our own.
std::int64_t Connection::data_version() const {
  return guarded(file_, [&] {
    const std::int64_t others = database_->execAndGet("PRAGMA data_version").getInt64();
    return (others << 32) + sqlite3_total_changes64(database_->getHandle());
  });
}

std::int64_t Connection::insert(const std::string& sql, Arguments arguments) {
  return guarded(file_, [&] {
    bound(*database_, sql, arguments).exec();
    return database_->getLastInsertRowid();
  });
}

int Connection::execute(const std::string& sql, Arguments arguments) {
  return guarded(file_, [&] { return bound(*database_, sql, arguments).exec(); });
}

void Connection::each(const std::string& sql, Arguments arguments,
                      const std::function<void(const ResultRow&)>& read) const {
  guarded(file_, [&] {
    SQLite::Statement statement = bound(*database_, sql, arguments);
    while (statement.executeStep()) {
      try {
        read(ResultRow(statement));
      } catch (const InputError& error) {  // a damaged value does not know where it stood
        if (!error.file().empty()) throw;
        throw InputError(file_.string(), error.place(), error.problem(), error.remedy());
      }
    }
  });
}

void Connection::in_transaction(const std::function<void()>& body) {
  guarded(file_, [&] {
    SQLite::Transaction transaction(*database_, SQLite::TransactionBehavior::IMMEDIATE);
    body();
    transaction.commit();
  });
}

void Connection::read_at_one_moment(const std::function<void()>& read) const {
  guarded(file_, [&] {
    const SQLite::Transaction transaction(*database_);  // its end takes nothing back
    read();
  });
}

std::string Connection::put_value(std::string_view value) {
  std::string key = digest_of(value).hex();
  if (first("SELECT 1 FROM value WHERE digest = ?", {key}, [](const ResultRow&) { return 1; }))
    return key;
  const Packed packed = pack(value);
  execute("INSERT INTO value (digest, codec, size, bytes) VALUES (?, ?, ?, ?)",
          {key, packed.codec, packed.size, Argument::Bytes{packed.bytes}});
  return key;
}

std::string Connection::created_or_now(const std::string& created) const {
  if (!created.empty()) return created;
  return *first("SELECT strftime('%Y-%m-%dT%H:%M:%SZ', 'now')", {},
                [](const ResultRow& row) { return row.text(0); });
}

void Connection::fail_missing(const std::string& what) const {
  throw InputError(file_.string(), "", "has no " + what,
                   "it may have been deleted by another program");
}

}  // namespace strato::store
