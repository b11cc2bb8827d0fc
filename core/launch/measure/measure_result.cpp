#include "core/launch/measure/measure_result.h"

#include "core/cost/value/profile.h"
#include "core/io/file.h"
#include "core/io/json.h"

namespace strato {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMeasuredFormat = "stratoscope-measured";
constexpr const char* kEvent = "measuring";

}  // namespace

std::string to_json_line(const MeasureEvent& event) {
  return json_text(Json{{"event", kEvent},
                        {"what", event.what},
                        {"done", event.done},
                        {"of", event.of},
                        {"left_ms", event.left.count()}});
}

std::optional<MeasureEvent> parse_measure_event(const std::string& line) {
  const Json json = Json::parse(line, nullptr, false);
  if (!json.is_object() || json.value("event", Json()) != kEvent) return std::nullopt;
  const auto integer = [&](const char* key) -> std::int64_t {
    const auto found = json.find(key);
    return found != json.end() && found->is_number_integer() ? found->get<std::int64_t>() : -1;
  };
  const auto what = json.find("what");
  MeasureEvent event{"", integer("done"), integer("of"),
                     std::chrono::milliseconds(integer("left_ms"))};
  if (what == json.end() || !what->is_string() || event.done < 0 || event.of < event.done ||
      event.left.count() < 0)
    return std::nullopt;
  event.what = what->get<std::string>();
  return event;
}

void write_measure_result(const fs::path& folder, const MeasureResult& result) {
  write_profile(folder / "profile.json", result.profile);
  const Json json = {{"format", kMeasuredFormat},
                     {"version", 1},
                     {"seconds", result.seconds},
                     {"notes", result.notes}};
  write_file(folder / "measured.json", json_text(json, 1) + "\n");
}

MeasureResult read_measure_result(const fs::path& folder) {
  const fs::path file = folder / "measured.json";
  const JsonView root = JsonView::parse(read_file(file), file.string());
  root.expect_format(kMeasuredFormat, 1);
  MeasureResult result;
  result.seconds = root.at("seconds").number(0);
  for (const JsonView& note : root.at("notes").items()) result.notes.push_back(note.string());
  result.profile = read_profile(folder / "profile.json");
  return result;
}

}  // namespace strato
