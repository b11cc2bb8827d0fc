#include "core/cost/measured/sample_curve.h"

#include <algorithm>

#include "core/base/error.h"

namespace strato {
namespace {

constexpr double kDisturbed = 1.5;

struct Level {
  double samples, time, weight;
};

std::vector<Level> undisturbed(std::span<const OpMeasurement> points) {
  std::vector<Level> levels;
  double later = kEndless;
  for (std::size_t i = points.size(); i-- > 0;) {
    const auto time = static_cast<double>(points[i].time.value);
    if (time > kDisturbed * later) continue;
    later = std::min(later, time);
    levels.push_back(
        {static_cast<double>(points[i].samples), time, static_cast<double>(points[i].repetitions)});
  }
  std::reverse(levels.begin(), levels.end());
  return levels;
}

// Pool-adjacent-violators: the nearest levels that never fall.
void raise(std::vector<Level>& levels) {
  struct Block {
    double time, weight;
    std::size_t size;
  };
  std::vector<Block> blocks;
  for (const Level& level : levels) {
    blocks.push_back({level.time, level.weight, 1});
    while (blocks.size() >= 2 && blocks[blocks.size() - 2].time > blocks.back().time) {
      const Block last = blocks.back();
      blocks.pop_back();
      Block& into = blocks.back();
      into.time = (into.time * into.weight + last.time * last.weight) / (into.weight + last.weight);
      into.weight += last.weight;
      into.size += last.size;
    }
  }
  std::size_t at = 0;
  for (const Block& block : blocks) {
    for (std::size_t i = 0; i < block.size; ++i) levels[at++].time = block.time;
  }
}

// Returns the slope of the least-squares line, each point's error relative to its time.
double slope_of(std::span<const Level> levels) {
  double weight = 0, samples = 0, time = 0;
  for (const Level& level : levels) {
    const double w = 1 / (level.time * level.time);
    weight += w;
    samples += w * level.samples;
    time += w * level.time;
  }
  samples /= weight;
  time /= weight;
  double above = 0, below = 0;
  for (const Level& level : levels) {
    const double w = (level.samples - samples) / (level.time * level.time);
    above += w * (level.time - time);
    below += w * (level.samples - samples);
  }
  return below > 0 ? above / below : 0;
}

double clamped(double slope, const Level& end) {
  return std::clamp(slope, 0.0, end.time / end.samples);
}

double last_slope(std::span<const Level> levels) {
  std::size_t first = levels.size() - 2;
  while (first > 0 && levels[first - 1].samples * 4 >= levels.back().samples) --first;
  return clamped(slope_of(levels.subspan(first)), levels.back());
}

}  // namespace

SampleCurve::SampleCurve(std::span<const OpMeasurement> points) {
  CHECK(!points.empty(), "a curve has a measurement");
  std::vector<Level> levels = undisturbed(points);
  raise(levels);
  const Level& first = levels.front();
  const Level& last = levels.back();
  if (levels.size() == 1) {
    pieces_.push_back({first.samples, kEndless, first.time, 0});
    return;
  }
  for (std::size_t i = 0; i + 1 < levels.size(); ++i) {
    const Level &a = levels[i], &b = levels[i + 1];
    pieces_.push_back({a.samples, b.samples, a.time, (b.time - a.time) / (b.samples - a.samples)});
  }
  const double slope = clamped(pieces_.front().slope, first);
  pieces_.insert(pieces_.begin(), {first.samples, first.samples, first.time, slope});
  pieces_.push_back({last.samples, kEndless, last.time, last_slope(levels)});
}

bool SampleCurve::keeps(const OpMeasurement& point) const {
  return nanos(static_cast<double>(point.samples)) == static_cast<double>(point.time.value);
}

}  // namespace strato
