// Inside core/store only: an open workspace file, and SQL on it without SQLite's own types. Every
// failure is an InputError that names the file. For one thread at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "core/base/digest.h"

namespace SQLite {
class Database;
class Statement;
}  // namespace SQLite

namespace strato::store {

// A value as it lies in a row of the file, plain or compressed with zstd.
struct Packed {
  int codec = 0;
  std::int64_t size = 0;  // unpacked
  std::string bytes;
};
Packed pack(std::string_view value);

// What stands for a "?" of a statement. It borrows texts and bytes.
class Argument {
 public:
  struct Bytes {
    std::string_view bytes;
  };
  using Value = std::variant<std::nullptr_t, std::int64_t, double, std::string_view, Bytes>;

  template <class T>
  requires std::is_integral_v<T> || std::is_enum_v<T> Argument(T value)
      : value_(static_cast<std::int64_t>(value)) {}
  Argument(double value) : value_(value) {}
  Argument(std::string_view text) : value_(text) {}
  Argument(const std::string& text) : value_(std::string_view(text)) {}
  Argument(Bytes bytes) : value_(bytes) {}
  template <class T>
  Argument(const std::optional<T>& value) {
    if (value) value_ = Argument(*value).value_;
  }
  const Value& value() const { return value_; }

 private:
  Value value_ = nullptr;
};
using Arguments = std::initializer_list<Argument>;

// A row of an answer, by columns from 0, while it is being read.
class ResultRow {
 public:
  explicit ResultRow(SQLite::Statement& statement) : statement_(statement) {}

  std::string text(int column) const;
  // Integers, enumerations, booleans, double, std::string, Digest (from its hexadecimal text), and
  // std::optional of these.
  template <class T>
  T get(int column) const {
    if constexpr (std::is_same_v<T, std::string>)
      return text(column);
    else if constexpr (std::is_same_v<T, Digest>)
      return Digest::from_hex(text(column));
    else if constexpr (std::is_same_v<T, double>)
      return real(column);
    else if constexpr (requires { typename T::value_type; })
      return is_null(column) ? T() : T(get<typename T::value_type>(column));
    else
      return static_cast<T>(integer(column));
  }
  template <class... Fields>
  void read(Fields&... fields) const {  // the first columns, in their order
    int column = 0;
    ((fields = get<Fields>(column++)), ...);
  }
  // The value in columns codec, size, bytes, which start at `first`; empty where the row has no
  // such columns. Throws InputError when it is damaged.
  std::string unpacked(int first) const;

 private:
  bool is_null(int column) const;
  std::int64_t integer(int column) const;
  double real(int column) const;

  SQLite::Statement& statement_;
};

class Connection {
 public:
  // Opens, or creates unless `read_only`, and brings an older file up to date (database_file.h).
  Connection(const std::filesystem::path& file, bool read_only);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  const std::filesystem::path& file() const { return file_; }
  // Changes whenever any connection has written.
  std::int64_t data_version() const;

  std::int64_t insert(const std::string& sql, Arguments arguments);  // the new row
  int execute(const std::string& sql, Arguments arguments);          // how many rows it changed
  void each(const std::string& sql, Arguments arguments,
            const std::function<void(const ResultRow&)>& read) const;
  template <class Read>
  auto rows(const std::string& sql, Arguments arguments, Read read) const {
    std::vector<std::invoke_result_t<Read, const ResultRow&>> result;
    each(sql, arguments, [&](const ResultRow& row) { result.push_back(read(row)); });
    return result;
  }
  template <class Read>
  auto first(const std::string& sql, Arguments arguments, Read read) const {  // nothing: no row
    std::optional<std::invoke_result_t<Read, const ResultRow&>> result;
    each(sql, arguments, [&](const ResultRow& row) {
      if (!result) result = read(row);
    });
    return result;
  }

  // Runs `body` in one transaction that takes the write lock at once, so that writers queue and
  // never clash; what it throws takes everything back.
  template <class Body>
  auto write(Body body) {
    if constexpr (std::is_void_v<std::invoke_result_t<Body>>) {
      in_transaction(body);
    } else {
      std::invoke_result_t<Body> result{};
      in_transaction([&] { result = body(); });
      return result;
    }
  }
  // What `read` reads is all of one moment.
  void read_at_one_moment(const std::function<void()>& read) const;

  // Puts a value into the table of values unless it is there, and returns its key.
  std::string put_value(std::string_view value);
  std::string created_or_now(const std::string& created) const;  // ISO 8601, UTC
  [[noreturn]] void fail_missing(const std::string& what) const;

 private:
  void in_transaction(const std::function<void()>& body);

  std::filesystem::path file_;
  std::unique_ptr<SQLite::Database> database_;
};

}  // namespace strato::store
