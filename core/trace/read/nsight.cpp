#include "core/trace/read/nsight.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <map>
#include <memory>
#include <unordered_map>

#include "core/base/error.h"
#include "core/trace/read/trace_builder.h"

namespace strato::trace {
namespace {

// Processes are in the upper bits of "globalPid" and "globalTid".
constexpr std::int64_t kProcess = std::int64_t{1} << 24;

class NsightExport {
 public:
  NsightExport(const std::filesystem::path& file, std::stop_token stop)
      : file_(file.string()),
        stop_(std::move(stop)),
        database_(file_, SQLite::OPEN_READONLY),
        most_copies_(copies_for(file)) {
    constexpr int most_of_a_value = 1 << 24;
    sqlite3_limit(database_.getHandle(), SQLITE_LIMIT_LENGTH, most_of_a_value);
  }

  std::vector<Trace> read() {
    read_strings();
    read_kernels("CUPTI_ACTIVITY_KIND_KERNEL", EventKind::Kernel, "demangledName", "NULL");
    read_kernels("CUPTI_ACTIVITY_KIND_MEMCPY", EventKind::Copy, "NULL", "'Memcpy ' || copyKind");
    read_kernels("CUPTI_ACTIVITY_KIND_MEMSET", EventKind::Fill, "NULL", "'Memset'");
    if (builders_.empty())
      throw InputError(file_, "", "has no kernels of CUDA",
                       "record with nsys profile --trace=cuda,nvtx, and export with --type sqlite");
    read_runtime();
    read_ranges();
    std::vector<Trace> traces;
    for (auto& [key, builder] : builders_) traces.push_back(builder->finish());
    return traces;
  }

 private:
  struct Key {
    std::int64_t process, device;
    auto operator<=>(const Key&) const = default;
  };

  // A table that holds what it has: a view, or a column that is made of others, may be made without
  // an end.
  bool has(const std::string& table, const std::string& column) {
    SQLite::Statement columns(
        database_,
        "SELECT 1 FROM sqlite_schema AS made, pragma_table_info(?1) AS of WHERE made.name = ?1 AND "
        "made.type = 'table' AND made.sql LIKE 'CREATE TABLE%' AND of.name = ?2 AND NOT EXISTS "
        "(SELECT 1 FROM pragma_table_xinfo(?1) WHERE hidden <> 0)");
    columns.bind(1, table);
    columns.bind(2, column);
    return columns.executeStep();
  }

  // By their numbers, once: nobody says that the file has an index of them.
  void read_strings() {
    if (!has("StringIds", "value")) return;
    SQLite::Statement rows(database_, "SELECT id, value FROM StringIds");
    while (rows.executeStep())
      strings_.try_emplace(rows.getColumn(0).getInt64(), rows.getColumn(1).getString());
  }
  // The text itself, or that with the number in the other column.
  std::string text_in(SQLite::Statement& row, int number, int text) {
    if (!row.getColumn(text).isNull()) return row.getColumn(text).getString();
    const auto found = strings_.find(row.getColumn(number).getInt64());
    return found == strings_.end() ? "" : found->second;
  }

  TraceBuilder& builder(const Key& key) {
    std::unique_ptr<TraceBuilder>& builder = builders_[key];
    if (!builder) {
      constexpr std::size_t most_devices = 4096;
      if (builders_.size() > most_devices)
        throw InputError(file_, "", "has more devices than any machine", "record it again");
      builder = std::make_unique<TraceBuilder>(file_, Format::NsightSystems, stop_);
    }
    return *builder;
  }

  void read_kernels(const std::string& table, EventKind kind, const char* number,
                    const char* text) {
    if (!has(table, "streamId")) return;
    const std::string process = has(table, "globalPid") ? "globalPid" : "0";
    SQLite::Statement rows(
        database_,
        fmt::format("SELECT start, \"end\", deviceId, streamId, correlationId, {}, {}, {} FROM {}",
                    process, number, text, table));
    while (rows.executeStep()) {
      const Key key{rows.getColumn(5).getInt64() / kProcess, rows.getColumn(2).getInt64()};
      TraceBuilder& into = builder(key);
      Event event;
      event.kind = kind;
      event.lane = into.lane(true, key.device, rows.getColumn(3).getInt64());
      event.correlation = rows.getColumn(4).getInt64();
      event.name = into.trace().names.add(text_in(rows, 6, 7));
      add(into, event, rows.getColumn(0).getInt64(), rows.getColumn(1).getInt64());
    }
  }

  static void add(TraceBuilder& into, Event event, std::int64_t start, std::int64_t end) {
    constexpr std::int64_t last = 2'000'000'000'000'000'000;
    if (start < 0 || end > last || end < start) end = start - 1;  // counted as wrong there
    event.start = Nanos(std::clamp<std::int64_t>(start, 0, last));
    event.duration = Nanos(end < start ? -1 : end - start);
    into.add(event);
  }

  // All devices of a process share its host: each has what happens there.
  template <class Add>
  void for_process(std::int64_t global_thread, Add add) {
    const std::int64_t process = global_thread / kProcess;
    for (auto& [key, builder] : builders_) {
      if (key.process != process && key.process != 0) continue;
      if (++copies_ > most_copies_)
        throw InputError(file_, "", "has processes with too many devices for what they did",
                         "record with a process for each device");
      add(*builder);
    }
  }

  void read_runtime() {
    const std::string table = "CUPTI_ACTIVITY_KIND_RUNTIME";
    if (!has(table, "globalTid") || !has(table, "nameId")) return;
    SQLite::Statement rows(
        database_, "SELECT start, \"end\", globalTid, correlationId, nameId, NULL FROM " + table);
    while (rows.executeStep()) {
      const std::int64_t thread = rows.getColumn(2).getInt64();
      for_process(thread, [&](TraceBuilder& into) {
        Event event;
        event.kind = EventKind::Runtime;
        event.lane = into.lane(false, thread / kProcess, thread % kProcess);
        event.correlation = rows.getColumn(3).getInt64();
        event.name = into.trace().names.add(text_in(rows, 4, 5));
        add(into, event, rows.getColumn(0).getInt64(), rows.getColumn(1).getInt64());
      });
    }
  }

  void read_ranges() {
    if (!has("NVTX_EVENTS", "globalTid")) return;
    const char* number = has("NVTX_EVENTS", "textId") ? "textId" : "NULL";
    SQLite::Statement rows(
        database_, fmt::format("SELECT start, \"end\", globalTid, {}, text FROM NVTX_EVENTS WHERE "
                               "\"end\" IS NOT NULL",
                               number));
    while (rows.executeStep()) {
      const std::int64_t thread = rows.getColumn(2).getInt64();
      for_process(thread, [&](TraceBuilder& into) {
        Event event;
        event.kind = EventKind::Annotation;
        event.lane = into.lane(false, thread / kProcess, thread % kProcess);
        event.name = into.trace().names.add(text_in(rows, 3, 4));
        add(into, event, rows.getColumn(0).getInt64(), rows.getColumn(1).getInt64());
      });
    }
  }

  // As much memory as the file's size asks for, however many devices a process has.
  static std::uintmax_t copies_for(const std::filesystem::path& file) {
    constexpr std::uintmax_t few = std::uintmax_t{1} << 20, bytes_of_one = 4;
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(file, error);
    return error ? few : std::max(few, size / bytes_of_one);
  }

  std::string file_;
  std::stop_token stop_;
  SQLite::Database database_;
  std::unordered_map<std::int64_t, std::string> strings_;
  std::uintmax_t copies_ = 0, most_copies_;  // of what happened on a process's host
  std::map<Key, std::unique_ptr<TraceBuilder>> builders_;
};

}  // namespace

std::vector<Trace> read_nsight(const std::filesystem::path& file, const std::stop_token& stop) {
  try {
    return NsightExport(file, stop).read();
  } catch (const SQLite::Exception& error) {
    throw InputError(file.string(), "", fmt::format("cannot be read: {}", error.what()),
                     "export the report again with nsys export --type sqlite");
  }
}

}  // namespace strato::trace
