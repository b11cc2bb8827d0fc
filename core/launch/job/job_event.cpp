#include "core/launch/job/job_event.h"

#include <array>
#include <cmath>
#include <string_view>

#include "core/io/json.h"
#include "core/launch/job/real_json.h"

namespace strato {
namespace {

using Kind = JobEvent::Kind;
constexpr std::array<std::string_view, 4> kNames = {"started", "step", "failed", "finished"};

std::optional<Kind> kind_from(const std::string& name) {
  for (std::size_t i = 0; i < kNames.size(); ++i)
    if (kNames[i] == name) return static_cast<Kind>(i);
  return std::nullopt;
}

}  // namespace

std::string to_json_line(const JobEvent& event) {
  Json json = {{"event", kNames[static_cast<std::size_t>(event.kind)]}, {"rank", event.rank}};
  if (event.step != 0) json["step"] = event.step;
  if (event.step_time != Nanos()) json["step_time_ns"] = event.step_time.value;
  if (event.loss) json["loss"] = real_json(*event.loss);
  if (!event.text.empty()) json["text"] = event.text;
  return json_text(json);
}

// Other things may be on the stream: what a library prints, or half a line.
std::optional<JobEvent> parse_event(const std::string& line) {
  const Json json = Json::parse(line, nullptr, false);
  if (!json.is_object() || !json.contains("event") || !json["event"].is_string())
    return std::nullopt;
  const auto kind = kind_from(json["event"].get<std::string>());
  if (!kind) return std::nullopt;
  JobEvent event;
  event.kind = *kind;
  const auto integer = [&](const char* key) -> std::optional<std::int64_t> {
    if (!json.contains(key)) return 0;
    if (!json[key].is_number_integer()) return std::nullopt;
    const auto value = json[key].get<std::int64_t>();
    return value >= 0 ? std::optional(value) : std::nullopt;
  };
  const auto rank = integer("rank"), step = integer("step"), time = integer("step_time_ns");
  if (!rank || *rank > 1'000'000 || !step || !time) return std::nullopt;
  event.rank = static_cast<int>(*rank);
  event.step = *step;
  event.step_time = Nanos(*time);
  if (json.contains("loss")) {
    event.loss = real_from(json["loss"]);
    if (!event.loss) return std::nullopt;
  }
  if (json.contains("text")) {
    if (!json["text"].is_string()) return std::nullopt;
    event.text = json["text"].get<std::string>();
  }
  return event;
}

}  // namespace strato
