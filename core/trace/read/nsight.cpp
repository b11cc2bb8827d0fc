#include "core/trace/read/nsight.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "core/base/error.h"
#include "core/trace/read/trace_builder.h"

namespace strato::trace {
namespace {

// Processes are in the upper bits of "globalPid" and "globalTid".
constexpr std::int64_t kProcess = std::int64_t{1} << 24;

class NsightExport {
 public:
  explicit NsightExport(const std::filesystem::path& file)
      : file_(file.string()), database_(file_, SQLite::OPEN_READONLY) {}

  std::vector<Trace> read() {
    read_kernels("CUPTI_ACTIVITY_KIND_KERNEL", EventKind::Kernel,
                 "(SELECT value FROM StringIds WHERE id = demangledName)");
    read_kernels("CUPTI_ACTIVITY_KIND_MEMCPY", EventKind::Copy, "'Memcpy ' || copyKind");
    read_kernels("CUPTI_ACTIVITY_KIND_MEMSET", EventKind::Fill, "'Memset'");
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

  bool has(const std::string& table, const std::string& column) {
    if (!database_.tableExists(table)) return false;
    SQLite::Statement columns(database_, "SELECT 1 FROM pragma_table_info(?) WHERE name = ?");
    columns.bind(1, table);
    columns.bind(2, column);
    return columns.executeStep();
  }

  TraceBuilder& builder(const Key& key) {
    std::unique_ptr<TraceBuilder>& builder = builders_[key];
    if (!builder) {
      constexpr std::size_t most_devices = 4096;
      if (builders_.size() > most_devices)
        throw InputError(file_, "", "has more devices than any machine", "record it again");
      builder = std::make_unique<TraceBuilder>(file_, Format::NsightSystems);
    }
    return *builder;
  }

  void read_kernels(const std::string& table, EventKind kind, const std::string& name) {
    if (!has(table, "streamId")) return;
    const std::string process = has(table, "globalPid") ? "globalPid" : "0";
    SQLite::Statement rows(
        database_,
        fmt::format("SELECT start, \"end\", deviceId, streamId, correlationId, {}, {} FROM {}",
                    process, name, table));
    while (rows.executeStep()) {
      const Key key{rows.getColumn(5).getInt64() / kProcess, rows.getColumn(2).getInt64()};
      TraceBuilder& into = builder(key);
      Event event;
      event.kind = kind;
      event.lane = into.lane(true, key.device, rows.getColumn(3).getInt64());
      event.correlation = rows.getColumn(4).getInt64();
      event.name = into.trace().names.add(rows.getColumn(6).getString());
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

  // All devices of a process share its host.
  template <class Add>
  void for_process(std::int64_t global_thread, Add add) {
    const std::int64_t process = global_thread / kProcess;
    for (auto& [key, builder] : builders_)
      if (key.process == process || key.process == 0) add(*builder);
  }

  void read_runtime() {
    const std::string table = "CUPTI_ACTIVITY_KIND_RUNTIME";
    if (!has(table, "globalTid") || !has(table, "nameId")) return;
    SQLite::Statement rows(database_,
                           "SELECT start, \"end\", globalTid, correlationId, (SELECT value FROM "
                           "StringIds WHERE id = nameId) FROM " +
                               table);
    while (rows.executeStep()) {
      const std::int64_t thread = rows.getColumn(2).getInt64();
      for_process(thread, [&](TraceBuilder& into) {
        Event event;
        event.kind = EventKind::Runtime;
        event.lane = into.lane(false, thread / kProcess, thread % kProcess);
        event.correlation = rows.getColumn(3).getInt64();
        event.name = into.trace().names.add(rows.getColumn(4).getString());
        add(into, event, rows.getColumn(0).getInt64(), rows.getColumn(1).getInt64());
      });
    }
  }

  void read_ranges() {
    if (!has("NVTX_EVENTS", "globalTid")) return;
    const bool interned = has("NVTX_EVENTS", "textId");
    const std::string name =
        interned ? "COALESCE(text, (SELECT value FROM StringIds WHERE id = textId))" : "text";
    SQLite::Statement rows(database_, "SELECT start, \"end\", globalTid, " + name +
                                          " FROM NVTX_EVENTS WHERE \"end\" IS NOT NULL");
    while (rows.executeStep()) {
      const std::int64_t thread = rows.getColumn(2).getInt64();
      for_process(thread, [&](TraceBuilder& into) {
        Event event;
        event.kind = EventKind::Annotation;
        event.lane = into.lane(false, thread / kProcess, thread % kProcess);
        event.name = into.trace().names.add(rows.getColumn(3).getString());
        add(into, event, rows.getColumn(0).getInt64(), rows.getColumn(1).getInt64());
      });
    }
  }

  std::string file_;
  SQLite::Database database_;
  std::map<Key, std::unique_ptr<TraceBuilder>> builders_;
};

}  // namespace

std::vector<Trace> read_nsight(const std::filesystem::path& file) {
  try {
    return NsightExport(file).read();
  } catch (const SQLite::Exception& error) {
    throw InputError(file.string(), "", fmt::format("cannot be read: {}", error.what()),
                     "export the report again with nsys export --type sqlite");
  }
}

}  // namespace strato::trace
