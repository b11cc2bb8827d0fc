#include "core/cost/measured/curves.h"

#include "core/base/error.h"

namespace strato {
namespace {

constexpr std::size_t kMostPieces = 4;
constexpr std::size_t kMostPlaces = 64;  // for knots: with more sizes, evenly many of them
constexpr double kNoise = 0.01;

struct Point {
  double size, time, weight = 1;  // size: bytes or samples
};

using Knots = std::vector<std::size_t>;  // indices of points, ascending, first and last among them

double height(const Point& a, const Point& b, double size) {
  return a.time + (b.time - a.time) * (size - a.size) / (b.size - a.size);
}

double squared(double value) { return value * value; }

std::vector<LinePiece> pieces_between(std::span<const Point> points) {
  std::vector<LinePiece> pieces;
  for (std::size_t i = 0; i + 1 < points.size(); ++i) {
    const Point &a = points[i], &b = points[i + 1];
    pieces.push_back({a.size, b.size, a.time, (b.time - a.time) / (b.size - a.size)});
  }
  return pieces;
}

// Of the chord between two points at the points between them.
double chord_error(const std::vector<Point>& points, std::size_t from, std::size_t to) {
  double sum = 0;
  for (std::size_t i = from + 1; i < to; ++i)
    sum += squared(height(points[from], points[to], points[i].size) / points[i].time - 1);
  return sum;
}

// The best knots for 1, 2, ... pieces: dynamic programming over the places of knots.
std::vector<Knots> best_knots(const std::vector<Point>& points) {
  struct Way {  // from the first place to another one
    double error = kEndless;
    Knots knots;
  };
  const std::size_t count = std::min(points.size(), kMostPlaces);
  Knots places;
  for (std::size_t i = 0; i < count; ++i) places.push_back(i * (points.size() - 1) / (count - 1));
  std::vector<double> chords(count * count);
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t j = i + 1; j < count; ++j)
      chords[i * count + j] = chord_error(points, places[i], places[j]);
  std::vector<Way> ways(count);  // the best by their last place
  for (std::size_t last = 1; last < count; ++last) ways[last] = {chords[last], {0, places[last]}};
  std::vector<Knots> result = {ways.back().knots};
  for (std::size_t pieces = 2; pieces <= std::min(kMostPieces, count - 1); ++pieces) {
    std::vector<Way> longer(count);
    for (std::size_t last = pieces; last < count; ++last) {
      std::size_t before = 0;
      for (std::size_t knot = pieces - 1; knot < last; ++knot) {
        const double error = ways[knot].error + chords[knot * count + last];
        if (error >= longer[last].error) continue;
        longer[last].error = error;
        before = knot;
      }
      longer[last].knots = ways[before].knots;
      longer[last].knots.push_back(places[last]);
    }
    ways = std::move(longer);
    result.push_back(ways.back().knots);
  }
  return result;
}

// Heights at the knots by least squares: the normal equations of hat functions are tridiagonal.
std::vector<Point> fitted(const std::vector<Point>& points, const Knots& knots) {
  const std::size_t m = knots.size();
  std::vector<double> diagonal(m), beside(m), right(m);
  std::size_t piece = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    while (piece + 2 < m && i > knots[piece + 1]) ++piece;
    const double from = points[knots[piece]].size, to = points[knots[piece + 1]].size;
    const double b = (points[i].size - from) / (to - from), a = 1 - b;
    const double weight = 1 / squared(points[i].time);
    diagonal[piece] += weight * a * a;
    diagonal[piece + 1] += weight * b * b;
    beside[piece] += weight * a * b;
    right[piece] += weight * a * points[i].time;
    right[piece + 1] += weight * b * points[i].time;
  }
  for (std::size_t k = 1; k < m; ++k) {
    const double factor = beside[k - 1] / diagonal[k - 1];
    diagonal[k] -= factor * beside[k - 1];
    right[k] -= factor * right[k - 1];
  }
  std::vector<Point> result(m);
  for (std::size_t k = m; k-- > 0;) {
    const double after = k + 1 < m ? beside[k] * result[k + 1].time : 0;
    result[k] = {points[knots[k]].size, (right[k] - after) / diagonal[k]};
  }
  return result;
}

// Makes every time at least a nanosecond, and none smaller than the one before it.
void make_sound(std::vector<Point>& line) {
  double level = 1;
  for (Point& knot : line) level = knot.time = std::max(knot.time, level);
}

double squared_error(const std::vector<Point>& points, const std::vector<Point>& line) {
  double sum = 0;
  std::size_t piece = 0;
  for (const Point& point : points) {
    while (piece + 2 < line.size() && point.size > line[piece + 1].size) ++piece;
    sum += squared(height(line[piece], line[piece + 1], point.size) / point.time - 1);
  }
  return sum;
}

constexpr double kDisturbed = 1.5;

std::vector<Point> undisturbed(std::span<const OpMeasurement> points) {
  std::vector<Point> levels;
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
void raise(std::vector<Point>& levels) {
  struct Block {
    double time, weight;
    std::size_t size;
  };
  std::vector<Block> blocks;
  for (const Point& level : levels) {
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
  for (const Block& block : blocks)
    for (std::size_t i = 0; i < block.size; ++i) levels[at++].time = block.time;
}

// Returns the slope of the least-squares line, each point's error relative to its time.
double slope_of(std::span<const Point> levels) {
  double weight = 0, samples = 0, time = 0;
  for (const Point& level : levels) {
    const double w = 1 / squared(level.time);
    weight += w;
    samples += w * level.size;
    time += w * level.time;
  }
  samples /= weight;
  time /= weight;
  double above = 0, below = 0;
  for (const Point& level : levels) {
    const double w = (level.size - samples) / squared(level.time);
    above += w * (level.time - time);
    below += w * (level.size - samples);
  }
  return below > 0 ? above / below : 0;
}

double clamped(double slope, const Point& end) {
  return std::clamp(slope, 0.0, end.time / end.size);
}

double last_slope(std::span<const Point> levels) {
  std::size_t first = levels.size() - 2;
  while (first > 0 && levels[first - 1].size * 4 >= levels.back().size) --first;
  return clamped(slope_of(levels.subspan(first)), levels.back());
}

}  // namespace

SizeCurve::SizeCurve(std::span<const SizedMeasurement> given) {
  CHECK(given.size() >= 2, "a line has two points");
  first_ = given.front().bytes;
  last_ = given.back().bytes;
  std::vector<Point> points;
  for (const SizedMeasurement& point : given)
    points.push_back(
        {static_cast<double>(point.bytes.value), static_cast<double>(point.time.value)});
  const auto n = static_cast<double>(points.size());
  double least = kEndless;
  std::vector<Point> best;
  for (const Knots& knots : best_knots(points)) {
    std::vector<Point> line = fitted(points, knots);
    make_sound(line);
    const double sum = squared_error(points, line);
    const double parameters = 2 * static_cast<double>(knots.size()) - 2;  // heights, inner places
    const double criterion = n * std::log(sum / n + squared(kNoise)) + parameters * std::log(n);
    if (criterion >= least) continue;
    least = criterion;
    best = std::move(line);
    const double freedom = std::max(n - static_cast<double>(knots.size()), 1.0);
    error_ = std::sqrt(sum / freedom);
  }
  pieces_ = pieces_between(best);
  pieces_.back().until = kEndless;
  // Down to zero bytes, but not below zero.
  LinePiece& first = pieces_.front();
  if (first.time < first.slope * first.from)
    pieces_.insert(pieces_.begin(), {0, first.from, 0, first.time / first.from});
}

SampleCurve::SampleCurve(std::span<const OpMeasurement> points) {
  CHECK(!points.empty(), "a curve has a measurement");
  std::vector<Point> levels = undisturbed(points);
  raise(levels);
  const Point& first = levels.front();
  const Point& last = levels.back();
  if (levels.size() == 1) {
    pieces_.push_back({first.size, kEndless, first.time, 0});
    return;
  }
  pieces_ = pieces_between(levels);
  const double slope = clamped(pieces_.front().slope, first);
  pieces_.insert(pieces_.begin(), {first.size, first.size, first.time, slope});
  pieces_.push_back({last.size, kEndless, last.time, last_slope(levels)});
}

}  // namespace strato
