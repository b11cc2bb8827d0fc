#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "core/cost/value/profile.h"
#include "core/io/file.h"
#include "core/io/json.h"

namespace strato {
namespace {

constexpr double kLongest = 1e15;  // nanoseconds: 11 days
constexpr std::int64_t kMostRepetitions = 1'000'000'000;
constexpr std::int64_t kLargest = std::int64_t{1} << 50;  // bytes, samples

struct TimeUnit {
  std::string_view name;
  double nanoseconds;
};
constexpr std::array<TimeUnit, 4> kTimeUnits = {{{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}}};

// Reads one file; knows its unit of time.
class ProfileReader {
 public:
  explicit ProfileReader(const JsonView& root) : root_(root) {}

  Profile run() {
    refuse_traces();
    root_.expect_format("stratoscope-profile", 1);
    root_.allow_only({"format", "version", "units", "name", "host", "software", "ops", "transfers",
                      "collectives", "memory"});
    read_units();
    Profile profile;
    profile.name = text("name");
    profile.host = text("host");
    profile.software = text("software");
    for (const JsonView& view : list("ops")) profile.ops.push_back(op(view));
    for (const JsonView& view : list("transfers")) profile.transfers.push_back(transfer(view));
    for (const JsonView& view : list("collectives"))
      profile.collectives.push_back(collective(view));
    for (const JsonView& view : list("memory")) profile.memory.push_back(memory(view));
    return normalised(std::move(profile));
  }

 private:
  // Profilers of other programs write ops by the names of their kernels, of no graph.
  void refuse_traces() const {
    if (root_.is_array() || (root_.is_object() && root_.find("traceEvents")))
      root_.fail("looks like a trace, not a profile",
                 "measure the model's ops with stratoscope-cli profile");
  }

  std::string text(std::string_view key) const {
    const auto view = root_.find(key);
    return view ? view->string() : std::string();
  }

  std::vector<JsonView> list(std::string_view key) const {
    const auto view = root_.find(key);
    return view ? view->items() : std::vector<JsonView>();
  }

  void read_units() {
    const JsonView units = root_.at("units");
    units.allow_only({"time", "bytes"});
    const JsonView time = units.at("time");
    const auto unit = std::ranges::find(kTimeUnits, time.string(), &TimeUnit::name);
    if (unit == kTimeUnits.end())
      time.fail("is not a unit of time known here", "give \"ns\", \"us\", \"ms\" or \"s\"");
    unit_ = *unit;
    const JsonView bytes = units.at("bytes");
    if (bytes.string() != "B") bytes.fail("is not a unit of size known here", "give \"B\"");
  }

  // An entry may repeat the file's units, not contradict them.
  void check_units(const JsonView& entry) const {
    const auto units = entry.find("units");
    if (!units) return;
    units->allow_only({"time", "bytes"});
    const auto check = [&](const char* key, std::string_view expected) {
      const auto view = units->find(key);
      if (view && view->string() != expected)
        view->fail(fmt::format("conflicts with the file's unit, \"{}\"", expected),
                   fmt::format("convert the entry to \"{}\"", expected));
    };
    check("time", unit_.name);
    check("bytes", "B");
  }

  static std::string name_in(const JsonView& view) {
    std::string name = view.string();
    if (name.empty()) view.fail("is empty", "give a name");
    return name;
  }

  // Whole nanoseconds; at least one where a time must be above zero.
  Nanos time(const JsonView& view, bool positive) const {
    const double value = view.number() * unit_.nanoseconds;
    if (value < 0) view.fail("is negative", "give the time that was measured");
    if (value > kLongest) view.fail("is longer than 11 days", "check the file's unit of time");
    const Nanos result(std::llround(value));
    if (positive && result == Nanos(0))
      view.fail("is zero, or below one nanosecond",
                "leave out what could not be measured; check the file's unit of time");
    return result;
  }

  // The measurements of an entry, by `key`, a member of each. The same size may stand there twice
  // only with the same result.
  template <class Point, class Size>
  std::vector<Point> points(const JsonView& list, const char* key, Size Point::*size,
                            std::int64_t least) const {
    std::vector<Point> points;
    std::map<Size, std::size_t> seen;
    for (const JsonView& view : list.items()) {
      view.allow_only({key, "time", "spread", "repetitions", "units"});
      Point point;
      point.*size = Size(view.at(key).integer(least, kLargest));
      point.time = time(view.at("time"), true);
      if (const auto spread = view.find("spread")) point.spread = time(*spread, false);
      if (const auto count = view.find("repetitions"))
        point.repetitions = count->integer(1, kMostRepetitions);
      check_units(view);
      const auto [same, fresh] = seen.emplace(point.*size, points.size());
      if (fresh) points.push_back(point);
      const Point& first = points[same->second];
      if (first.time != point.time || first.spread != point.spread)
        view.fail(fmt::format("has the {} of an earlier measurement, with another result", key),
                  "keep one of them, or pool the repetitions");
    }
    return points;
  }

  std::vector<SizedMeasurement> sized_points(const JsonView& entry) const {
    const JsonView list = entry.at("measurements");
    auto found = points(list, "bytes", &SizedMeasurement::bytes, 0);
    if (found.size() < 2)
      list.fail("has fewer than two sizes: no latency and bandwidth can be told from that",
                "measure at least two sizes, best 1 KB to 1 GB, doubling");
    return found;
  }

  // A thing that stands there twice is a slip: names the first.
  void claim(const JsonView& view, const std::string& what) {
    const auto [found, fresh] = seen_.emplace(what, view.place());
    if (!fresh)
      view.fail(fmt::format("measures the same as {}", found->second),
                "put all measurements of one thing in one entry");
  }

  OpProfile op(const JsonView& view) {
    view.allow_only({"gpu", "signature", "measurements", "units"});
    check_units(view);
    OpProfile result;
    result.gpu = name_in(view.at("gpu"));
    result.signature = name_in(view.at("signature"));
    claim(view, fmt::format("op\n{}\n{}", result.gpu, result.signature));
    const JsonView list = view.at("measurements");
    result.measurements = points(list, "samples", &OpMeasurement::samples, 1);
    if (result.measurements.empty()) list.fail("is empty", "give at least one measurement");
    return result;
  }

  TransferProfile transfer(const JsonView& view) {
    view.allow_only({"from", "to", "measurements", "units"});
    check_units(view);
    TransferProfile result;
    result.from = name_in(view.at("from"));
    result.to = name_in(view.at("to"));
    claim(view, fmt::format("transfer\n{}\n{}", result.from, result.to));
    result.measurements = sized_points(view);
    return result;
  }

  static Collective kind_of(const JsonView& view) {
    const std::string name = view.string();
    for (const Collective kind :
         {Collective::AllReduce, Collective::AllGather, Collective::Broadcast, Collective::Reduce,
          Collective::ReduceScatter, Collective::AllToAll})
      if (name == name_of(kind)) return kind;
    view.fail("is not a collective known here",
              "give \"all-reduce\", \"all-gather\", \"broadcast\", \"reduce\", "
              "\"reduce-scatter\" or \"all-to-all\"");
  }

  CollectiveProfile collective(const JsonView& view) {
    view.allow_only({"kind", "devices", "measurements", "units"});
    check_units(view);
    CollectiveProfile result;
    result.kind = kind_of(view.at("kind"));
    const JsonView devices = view.at("devices");
    for (const JsonView& device : devices.items()) {
      std::string name = name_in(device);
      if (std::ranges::count(result.devices, name) > 0)
        device.fail("is a member already", "name every member once");
      result.devices.push_back(std::move(name));
    }
    if (result.devices.size() < 2) devices.fail("has fewer than two members", "name the members");
    claim(view,
          fmt::format("collective\n{}\n{}", name_of(result.kind), fmt::join(result.devices, "\n")));
    result.measurements = sized_points(view);
    return result;
  }

  MemoryMeasurement memory(const JsonView& view) {
    view.allow_only({"graph", "gpu", "batch", "peak", "units"});
    check_units(view);
    MemoryMeasurement result;
    result.graph = name_in(view.at("graph"));
    result.gpu = name_in(view.at("gpu"));
    result.batch = view.at("batch").integer(1, kLargest);
    result.peak = Bytes(view.at("peak").integer(1, kLargest));
    claim(view, fmt::format("memory\n{}\n{}\n{}", result.graph, result.gpu, result.batch));
    return result;
  }

  JsonView root_;
  TimeUnit unit_ = kTimeUnits[1];
  std::map<std::string, std::string> seen_;  // what was measured, and where that stands
};

// Three decimals of a microsecond are whole nanoseconds: nothing is lost.
double microseconds(Nanos time) { return static_cast<double>(time.value) / 1000.0; }

Json size_json(const OpMeasurement& point) { return {{"samples", point.samples}}; }
Json size_json(const SizedMeasurement& point) { return {{"bytes", point.bytes.value}}; }

// `json` with its measurements.
template <class Point>
Json with(Json json, const std::vector<Point>& points) {
  Json& list = json["measurements"] = Json::array();
  for (const Point& point : points) {
    Json& entry = list.emplace_back(size_json(point));
    entry["time"] = microseconds(point.time);
    entry["spread"] = microseconds(point.spread);
    entry["repetitions"] = point.repetitions;
  }
  return json;
}

Json json_of(const OpProfile& op) {
  return with(Json{{"gpu", op.gpu}, {"signature", op.signature}}, op.measurements);
}
Json json_of(const TransferProfile& transfer) {
  return with(Json{{"from", transfer.from}, {"to", transfer.to}}, transfer.measurements);
}
Json json_of(const CollectiveProfile& each) {
  return with(Json{{"kind", name_of(each.kind)}, {"devices", each.devices}}, each.measurements);
}
Json json_of(const MemoryMeasurement& point) {
  return Json{{"graph", point.graph},
              {"gpu", point.gpu},
              {"batch", point.batch},
              {"peak", point.peak.value}};
}

// One entry a line: long profiles stay readable, and diff well.
template <class Entry>
std::string lines_of(const char* name, const std::vector<Entry>& entries) {
  std::string result = fmt::format(",\n  \"{}\": [", name);
  for (std::size_t i = 0; i < entries.size(); ++i)
    result += (i == 0 ? "\n    " : ",\n    ") + json_text(json_of(entries[i]));
  return result + (entries.empty() ? "]" : "\n  ]");
}

std::string text_of(const char* name, const std::string& text) {
  return text.empty() ? "" : fmt::format(",\n  \"{}\": {}", name, json_text(Json(text)));
}

}  // namespace

Profile parse_profile(std::string_view json, const std::string& file) {
  return ProfileReader(JsonView::parse(json, file)).run();
}

Profile read_profile(const std::filesystem::path& file) {
  return parse_profile(read_file(file), file.string());
}

std::string profile_json(const Profile& given) {
  const Profile profile = normalised(given);
  return "{\n  \"format\": \"stratoscope-profile\",\n  \"version\": 1,\n"
         "  \"units\": {\"time\": \"us\", \"bytes\": \"B\"}" +
         text_of("name", profile.name) + text_of("host", profile.host) +
         text_of("software", profile.software) + lines_of("ops", profile.ops) +
         lines_of("transfers", profile.transfers) + lines_of("collectives", profile.collectives) +
         lines_of("memory", profile.memory) + "\n}\n";
}

void write_profile(const std::filesystem::path& file, const Profile& profile) {
  write_file(file, profile_json(profile));
}

}  // namespace strato
