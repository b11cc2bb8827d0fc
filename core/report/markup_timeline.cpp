// The simulated step as a picture.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/base/at.h"
#include "core/base/quantity_text.h"
#include "core/program/value/collective.h"
#include "core/report/markup.h"

namespace strato::html {
namespace {

constexpr int kPoints = 1000;  // across the step
constexpr int kNames = 150, kRow = 11, kGap = 5, kAxis = 24;
constexpr int kShades = 4;  // of how full a point is

enum Paint : std::size_t { kCompute, kUpdate, kReshuffle, kTransfer, kCollective };
struct PaintWords {
  const char* css_class;
  const char* label;
};
constexpr std::array<PaintWords, 5> kPaints = {{{"compute", "compute"},
                                                {"update", "update"},
                                                {"reshuffle", "split, concatenate, sum"},
                                                {"transfer", "transfer"},
                                                {"collective", "collective"}}};

Paint paint_of(TaskKind kind) {
  if (kind == TaskKind::Compute) return kCompute;
  if (kind == TaskKind::Update) return kUpdate;
  if (kind == TaskKind::Transfer) return kTransfer;
  return is_communication(kind) ? kCollective : kReshuffle;
}

using Filled = std::array<float, kPaints.size()>;  // of a point's time, by paint

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
      filled_[at(point)][paint] += static_cast<float>(std::max(0.0, inside));
    }
  }

  std::string draw(int y) const {
    std::string text;
    int begin = 0;
    Look look = look_at(0);
    for (int point = 1; point <= kPoints; ++point) {
      const Look next = point < kPoints ? look_at(point) : Look{0, -1};
      if (next == look) continue;
      if (look.shade > 0)
        text += fmt::format(
            "<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"{}/>",
            kPaints[look.paint].css_class, kNames + begin, y, point - begin, kRow,
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
    std::size_t paint;
    int shade;
    friend bool operator==(const Look&, const Look&) = default;
  };
  Look look_at(int point) const {
    const Filled& filled = filled_[at(point)];
    const float all = std::accumulate(filled.begin(), filled.end(), 0.0F);
    if (all <= 0) return {0, 0};
    const auto most = std::ranges::max_element(filled) - filled.begin();
    // Even the shortest busy time shows.
    return {static_cast<std::size_t>(most),
            std::clamp(static_cast<int>(std::ceil(all * kShades)), 1, kShades)};
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

std::string timeline_key() {
  std::string text =
      "<p class=\"key note\">Above what a device computes, below what it sends and receives.";
  for (const PaintWords& paint : kPaints)
    text += fmt::format("<span class=\"{}\"></span>{}", paint.css_class, paint.label);
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
  for (const TaskId id : program.tasks.ids()) {
    const Task& task = program.tasks[id];
    if (!is_communication(task.kind)) {
      add(task.device, id, true);
    } else if (task.kind == TaskKind::Transfer) {
      add(task.device, id, false);
      add(task.target, id, false);
    } else if (is_host_copy(task.kind)) {
      add(task.device, id, false);
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
    text += note(fmt::format("{} more devices are not shown.", timeline.devices.size() - devices));
  return text;
}

}  // namespace strato::html
