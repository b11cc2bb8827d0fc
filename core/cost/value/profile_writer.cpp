#include "core/cost/value/profile_writer.h"

#include <cmath>

#include "core/cost/value/profile.h"
#include "core/io/file.h"
#include "core/io/json.h"

namespace strato {
namespace {

// Three decimals of a microsecond are whole nanoseconds: nothing is lost.
double microseconds(Nanos time) { return static_cast<double>(time.value) / 1000.0; }

template <class Point>
Json json_of(const char* size_name, std::int64_t size, const Point& point) {
  return Json{{size_name, size},
              {"time", microseconds(point.time)},
              {"spread", microseconds(point.spread)},
              {"repetitions", point.repetitions}};
}

Json json_of(const std::vector<OpMeasurement>& points) {
  Json result = Json::array();
  for (const OpMeasurement& point : points) {
    result.push_back(json_of("samples", point.samples, point));
  }
  return result;
}

Json json_of(const std::vector<SizedMeasurement>& points) {
  Json result = Json::array();
  for (const SizedMeasurement& point : points) {
    result.push_back(json_of("bytes", point.bytes.value, point));
  }
  return result;
}

Json json_of(const OpProfile& op) {
  return Json{
      {"gpu", op.gpu}, {"signature", op.signature}, {"measurements", json_of(op.measurements)}};
}

Json json_of(const TransferProfile& transfer) {
  return Json{{"from", transfer.from},
              {"to", transfer.to},
              {"measurements", json_of(transfer.measurements)}};
}

Json json_of(const CollectiveProfile& collective) {
  return Json{{"kind", name_of(collective.kind)},
              {"devices", collective.devices},
              {"measurements", json_of(collective.measurements)}};
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
  std::string result = ",\n  \"" + std::string(name) + "\": [";
  for (std::size_t i = 0; i < entries.size(); ++i) {
    result += i == 0 ? "\n    " : ",\n    ";
    result += json_text(json_of(entries[i]));
  }
  return result + (entries.empty() ? "]" : "\n  ]");
}

std::string text_of(const char* name, const std::string& text) {
  if (text.empty()) return {};
  return ",\n  \"" + std::string(name) + "\": " + json_text(Json(text));
}

}  // namespace

std::string profile_json(const Profile& given) {
  const Profile profile = normalised(given);
  std::string result =
      "{\n  \"format\": \"stratoscope-profile\",\n  \"version\": 1,\n"
      "  \"units\": {\"time\": \"us\", \"bytes\": \"B\"}";
  result += text_of("name", profile.name);
  result += text_of("host", profile.host);
  result += text_of("software", profile.software);
  result += lines_of("ops", profile.ops);
  result += lines_of("transfers", profile.transfers);
  result += lines_of("collectives", profile.collectives);
  result += lines_of("memory", profile.memory);
  return result + "\n}\n";
}

void write_profile(const std::filesystem::path& file, const Profile& profile) {
  write_file(file, profile_json(profile));
}

}  // namespace strato
