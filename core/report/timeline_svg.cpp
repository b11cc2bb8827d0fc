#include "core/report/timeline_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "core/base/quantity_text.h"
#include "core/program/value/collective.h"
#include "core/report/markup.h"

namespace strato::html {
namespace {

constexpr int kPoints = 1000;  // across the step
constexpr int kNames = 150, kRow = 11, kGap = 5, kAxis = 24;
constexpr int kShades = 4;  // of how full a point is

using Filled = std::array<float, kPaints>;  // of a point's time, by kind

// Samples what a device's stream does, by point.
class Row {
 public:
  explicit Row(Nanos step) : scale_(kPoints / std::max(1.0, static_cast<double>(step.value))) {}

  void add(const TaskTimes& times, Paint paint) {
    const double begin = static_cast<double>(times.start.value) * scale_;
    const double end = static_cast<double>(times.end.value) * scale_;
    const int last = std::min(kPoints - 1, static_cast<int>(end));
    for (int point = static_cast<int>(begin); point <= last; ++point) {
      const double inside =
          std::min(end, point + 1.0) - std::max(begin, static_cast<double>(point));
      filled_[static_cast<std::size_t>(point)][static_cast<std::size_t>(paint)] +=
          static_cast<float>(std::max(0.0, inside));
    }
  }

  std::string draw(int y) const {
    std::string text;
    int begin = 0;
    Look look = look_at(0);
    for (int point = 1; point <= kPoints; ++point) {
      const Look next = point < kPoints ? look_at(point) : Look{-1, -1};
      if (next == look) continue;
      if (look.shade > 0)
        text += fmt::format(
            "<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"{}/>",
            class_of(static_cast<Paint>(look.paint)), kNames + begin, y, point - begin, kRow,
            look.shade == kShades
                ? ""
                : fmt::format(" opacity=\"{:.2g}\"", static_cast<double>(look.shade) / kShades));
      begin = point;
      look = next;
    }
    return text.empty() ? text : text + "\n";
  }

 private:
  struct Look {
    int paint, shade;
    friend bool operator==(const Look&, const Look&) = default;
  };
  Look look_at(int point) const {
    const Filled& filled = filled_[static_cast<std::size_t>(point)];
    float all = 0;
    for (const float part : filled) all += part;
    const auto most = std::max_element(filled.begin(), filled.end()) - filled.begin();
    // Even the shortest busy time shows.
    const int shade =
        all <= 0 ? 0 : std::clamp(static_cast<int>(std::ceil(all * kShades)), 1, kShades);
    return {shade == 0 ? 0 : static_cast<int>(most), shade};
  }

  double scale_;
  std::vector<Filled> filled_ = std::vector<Filled>(kPoints, Filled{});
};

// Round steps of the time axis: about six.
Nanos tick_of(Nanos step) {
  double tick =
      std::pow(10, std::floor(std::log10(std::max(1.0, static_cast<double>(step.value) / 6))));
  for (const double factor : {2.0, 2.5, 2.0})
    if (static_cast<double>(step.value) / tick > 8) tick *= factor;
  return Nanos(std::max<std::int64_t>(1, std::llround(tick)));
}

std::string axis(Nanos step, int height) {
  std::string text;
  const Nanos tick = tick_of(step);
  for (Nanos at; at <= step; at += tick) {
    const double x = kNames + static_cast<double>(at.value) * kPoints /
                                  std::max(1.0, static_cast<double>(step.value));
    text += fmt::format(
        "<line class=\"grid\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"/>"
        "<text class=\"tick\" x=\"{0:.1f}\" y=\"14\">{3}</text>\n",
        x, kAxis - 4, height, escaped(at == Nanos(0) ? "0" : time_text(at)));
  }
  return text;
}

struct Streams {
  Row compute, communication;
};

}  // namespace

const char* class_of(Paint paint) {
  constexpr std::array kClasses{"compute", "update", "reshuffle", "transfer", "collective"};
  return kClasses[static_cast<std::size_t>(paint)];
}
const char* label_of(Paint paint) {
  constexpr std::array kLabels{"compute", "update", "split, concatenate, sum", "transfer",
                               "collective"};
  return kLabels[static_cast<std::size_t>(paint)];
}

Paint paint_of(TaskKind kind) {
  if (kind == TaskKind::Compute) return Paint::Compute;
  if (kind == TaskKind::Update) return Paint::Update;
  if (kind == TaskKind::Transfer) return Paint::Transfer;
  return is_communication(kind) ? Paint::Collective : Paint::Reshuffle;
}

std::string timeline_key() {
  std::string text =
      "<p class=\"key note\">Above what a device computes, below what it sends and receives.";
  for (int paint = 0; paint < kPaints; ++paint)
    text += fmt::format("<span class=\"{}\"></span>{}", class_of(static_cast<Paint>(paint)),
                        label_of(static_cast<Paint>(paint)));
  return text + "</p>\n";
}

std::string timeline_svg(const Timeline& timeline, std::size_t most_devices, Nanos across) {
  const Nanos width = std::max(across, timeline.step_time);
  const Program& program = *timeline.program;
  const std::size_t devices = std::min(most_devices, timeline.devices.size());
  std::vector<Streams> rows(devices, Streams{Row(width), Row(width)});
  const auto add = [&](DeviceId device, TaskId task, bool computes) {
    if (!device.valid() || device.index() >= devices) return;
    Streams& streams = rows[device.index()];
    (computes ? streams.compute : streams.communication)
        .add(timeline.tasks[task], paint_of(program.tasks[task].kind));
  };
  for (std::size_t i = 0; i < program.tasks.size(); ++i) {
    const TaskId id(i);
    const Task& task = program.tasks[id];
    if (!is_communication(task.kind)) {
      add(task.device, id, true);
    } else if (task.kind == TaskKind::Transfer) {
      add(task.device, id, false);
      add(task.target, id, false);
    } else {
      for (const DeviceId member : members_of(program, id)) add(member, id, false);
    }
  }
  const int pitch = 2 * kRow + 1 + kGap;
  const int height = kAxis + static_cast<int>(devices) * pitch;
  std::string text =
      fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"Simulated timeline\">\n",
                  kNames + kPoints + 30, height);
  text += axis(width, height);
  for (std::size_t d = 0; d < devices; ++d) {
    const int y = kAxis + static_cast<int>(d) * pitch;
    text += fmt::format("<text class=\"device\" x=\"{}\" y=\"{}\">{}</text>\n", kNames - 8, y + 15,
                        escaped(program.cluster->device(DeviceId(d)).name));
    text += rows[d].compute.draw(y) + rows[d].communication.draw(y + kRow + 1);
  }
  text += "</svg>\n";
  if (devices < timeline.devices.size())
    text += fmt::format("<p class=\"note\">{} more devices are not shown.</p>\n",
                        timeline.devices.size() - devices);
  return text;
}

}  // namespace strato::html
