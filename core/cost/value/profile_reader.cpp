#include "core/cost/value/profile_reader.h"

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
class Reader {
 public:
  explicit Reader(const JsonView& root) : root_(root) {}

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
    for (const JsonView& view : list("collectives")) {
      profile.collectives.push_back(collective(view));
    }
    for (const JsonView& view : list("memory")) profile.memory.push_back(memory(view));
    return normalised(std::move(profile));
  }

 private:
  // Profilers of other programs write ops by the names of their kernels, of no graph; such files
  // are refused in words.
  void refuse_traces() const {
    const bool trace = root_.is_array() || (root_.is_object() && root_.find("traceEvents"));
    if (trace)
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
    const std::string name = time.string();
    const auto unit = std::find_if(kTimeUnits.begin(), kTimeUnits.end(),
                                   [&](const TimeUnit& known) { return known.name == name; });
    if (unit == kTimeUnits.end()) {
      time.fail("is not a unit of time known here", "give \"ns\", \"us\", \"ms\" or \"s\"");
    }
    unit_ = *unit;
    const JsonView bytes = units.at("bytes");
    if (bytes.string() != "B") bytes.fail("is not a unit of size known here", "give \"B\"");
  }

  // An entry may repeat the file's units, not contradict them.
  void check_units(const JsonView& entry) const {
    const auto units = entry.find("units");
    if (!units) return;
    units->allow_only({"time", "bytes"});
    if (const auto time = units->find("time")) check_unit(*time, unit_.name);
    if (const auto bytes = units->find("bytes")) check_unit(*bytes, "B");
  }

  static void check_unit(const JsonView& view, std::string_view expected) {
    if (view.string() == expected) return;
    view.fail(fmt::format("conflicts with the file's unit, \"{}\"", expected),
              fmt::format("convert the entry to \"{}\"", expected));
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
    if (positive && result == Nanos(0)) {
      view.fail("is zero, or below one nanosecond",
                "leave out what could not be measured; check the file's unit of time");
    }
    return result;
  }

  template <class Point>
  void read_result(const JsonView& view, Point& point) const {
    point.time = time(view.at("time"), true);
    if (const auto spread = view.find("spread")) point.spread = time(*spread, false);
    if (const auto count = view.find("repetitions")) {
      point.repetitions = count->integer(1, kMostRepetitions);
    }
    check_units(view);
  }

  OpMeasurement op_point(const JsonView& view) const {
    view.allow_only({"samples", "time", "spread", "repetitions", "units"});
    OpMeasurement point;
    point.samples = view.at("samples").integer(1, kLargest);
    read_result(view, point);
    return point;
  }

  SizedMeasurement sized_point(const JsonView& view) const {
    view.allow_only({"bytes", "time", "spread", "repetitions", "units"});
    SizedMeasurement point;
    point.bytes = Bytes(view.at("bytes").integer(0, kLargest));
    read_result(view, point);
    return point;
  }

  // The same size may stand there twice only with the same result.
  template <class Point, class Size>
  static std::vector<Point> unique_points(const std::vector<std::pair<JsonView, Point>>& given,
                                          Size Point::*size, std::string_view size_name) {
    std::vector<Point> points;
    std::map<Size, std::size_t> seen;
    for (const auto& [view, point] : given) {
      const auto [found, fresh] = seen.emplace(point.*size, points.size());
      if (fresh) {
        points.push_back(point);
        continue;
      }
      const Point& other = points[found->second];
      if (other.time == point.time && other.spread == point.spread) continue;
      view.fail(fmt::format("has the {} of an earlier measurement, with another result", size_name),
                "keep one of them, or pool the repetitions");
    }
    return points;
  }

  std::vector<SizedMeasurement> sized_points(const JsonView& entry) const {
    const JsonView list = entry.at("measurements");
    std::vector<std::pair<JsonView, SizedMeasurement>> given;
    for (const JsonView& view : list.items()) given.emplace_back(view, sized_point(view));
    std::vector<SizedMeasurement> points = unique_points(given, &SizedMeasurement::bytes, "bytes");
    if (points.size() < 2) {
      list.fail("has fewer than two sizes: no latency and bandwidth can be told from that",
                "measure at least two sizes, best 1 KB to 1 GB, doubling");
    }
    return points;
  }

  // A thing that stands there twice is a slip: names the first.
  void claim(const JsonView& view, const std::string& what) {
    const auto [found, fresh] = seen_.emplace(what, view.place());
    if (!fresh) {
      view.fail(fmt::format("measures the same as {}", found->second),
                "put all measurements of one thing in one entry");
    }
  }

  OpProfile op(const JsonView& view) {
    view.allow_only({"gpu", "signature", "measurements", "units"});
    check_units(view);
    OpProfile result;
    result.gpu = name_in(view.at("gpu"));
    result.signature = name_in(view.at("signature"));
    claim(view, "op\n" + result.gpu + "\n" + result.signature);
    const JsonView list = view.at("measurements");
    std::vector<std::pair<JsonView, OpMeasurement>> given;
    for (const JsonView& point : list.items()) given.emplace_back(point, op_point(point));
    result.measurements = unique_points(given, &OpMeasurement::samples, "samples");
    if (result.measurements.empty()) list.fail("is empty", "give at least one measurement");
    return result;
  }

  TransferProfile transfer(const JsonView& view) {
    view.allow_only({"from", "to", "measurements", "units"});
    check_units(view);
    TransferProfile result;
    result.from = name_in(view.at("from"));
    result.to = name_in(view.at("to"));
    claim(view, "transfer\n" + result.from + "\n" + result.to);
    result.measurements = sized_points(view);
    return result;
  }

  static Collective kind_of(const JsonView& view) {
    const std::string name = view.string();
    for (const Collective kind :
         {Collective::AllReduce, Collective::AllGather, Collective::Broadcast, Collective::Reduce,
          Collective::ReduceScatter}) {
      if (name == name_of(kind)) return kind;
    }
    view.fail("is not a collective known here",
              "give \"all-reduce\", \"all-gather\", \"broadcast\", \"reduce\" or "
              "\"reduce-scatter\"");
  }

  CollectiveProfile collective(const JsonView& view) {
    view.allow_only({"kind", "devices", "measurements", "units"});
    check_units(view);
    CollectiveProfile result;
    result.kind = kind_of(view.at("kind"));
    const JsonView devices = view.at("devices");
    std::string key = fmt::format("collective\n{}", name_of(result.kind));
    for (const JsonView& device : devices.items()) {
      result.devices.push_back(name_in(device));
      if (std::count(result.devices.begin(), result.devices.end(), result.devices.back()) > 1) {
        device.fail("is a member already", "name every member once");
      }
      key += "\n" + result.devices.back();
    }
    if (result.devices.size() < 2) devices.fail("has fewer than two members", "name the members");
    claim(view, key);
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

}  // namespace

Profile parse_profile(std::string_view json, const std::string& file) {
  return Reader(JsonView::parse(json, file)).run();
}

Profile read_profile(const std::filesystem::path& file) {
  return parse_profile(read_file(file), file.string());
}

}  // namespace strato
