#include "core/cost/measured/memory_model.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"

namespace strato {
namespace {

using Line = MemoryModel::Line;

// Weighted by 1 / bytes^2: relative errors. The parts are not negative.
Line fitted(std::span<const MemoryPoint> points) {
  double weight = 0, x = 0, y = 0, xx = 0, xy = 0;
  for (const MemoryPoint& point : points) {
    const auto bytes = static_cast<double>(point.bytes.value);
    const auto batch = static_cast<double>(point.batch);
    const double w = 1 / (bytes * bytes);
    weight += w;
    x += w * batch;
    y += w * bytes;
    xx += w * batch * batch;
    xy += w * batch * bytes;
  }
  const double spread = xx - x * x / weight;
  const double slope = spread > 0 ? (xy - x * y / weight) / spread : 0;
  const double intercept = (y - slope * x) / weight;
  if (slope < 0) return {y / weight, 0};
  if (intercept < 0) return {0, xy / xx};
  return {intercept, slope};
}

double relative_error(const Line& line, const MemoryPoint& point) {
  return line.at(point.batch) / static_cast<double>(point.bytes.value) - 1;
}

// Root mean square over the points, each by the line that `line_without` gives for its index.
template <class LineWithout>
double mean_error(std::span<const MemoryPoint> points, const LineWithout& line_without) {
  double sum = 0;
  for (std::size_t i = 0; i < points.size(); ++i)
    sum += std::pow(relative_error(line_without(i), points[i]), 2);
  return std::sqrt(sum / static_cast<double>(points.size()));
}

// A part in 10^12 is rounding noise, not a byte.
Bytes rounded_up(double bytes) {
  return Bytes(static_cast<std::int64_t>(std::ceil(std::min(bytes * (1 - 1e-12), 9e18))));
}

}  // namespace

std::optional<MemoryModel> MemoryModel::rough(std::span<const MemoryPoint> small) {
  std::vector<MemoryPoint> points(small.begin(), small.end());
  std::erase_if(points, [](const MemoryPoint& point) { return point.bytes <= Bytes(0); });
  if (points.empty()) return std::nullopt;
  const auto [least, greatest] = std::ranges::minmax(points, {}, &MemoryPoint::batch);
  if (least.batch == greatest.batch) return std::nullopt;
  MemoryModel model;
  model.line_ = fitted(points);
  model.greatest_small_ = greatest.batch;
  model.errors_.fit = mean_error(points, [&](std::size_t) { return model.line_; });
  if (points.size() < 3) return model;
  model.errors_.left_out = mean_error(points, [&](std::size_t left_out) {
    std::vector<MemoryPoint> others = points;
    others.erase(others.begin() + static_cast<long>(left_out));
    return fitted(others);
  });
  return model;
}

MemoryModel MemoryModel::refine(std::span<const MemoryPoint> large) const {
  MemoryModel model = *this;
  model.large_.insert(model.large_.end(), large.begin(), large.end());
  std::erase_if(model.large_,
                [&](const MemoryPoint& point) { return point.batch <= greatest_small_; });
  std::ranges::stable_sort(model.large_, {}, &MemoryPoint::batch);
  const auto same = std::ranges::unique(model.large_, {}, &MemoryPoint::batch);
  model.large_.erase(same.begin(), same.end());
  for (const MemoryPoint& point : model.large_) {
    const double off = std::abs(relative_error(line_, point));
    model.errors_.rough_at_large = std::max(model.errors_.rough_at_large, off);
  }
  return model;
}

Bytes MemoryModel::at(std::int64_t batch) const {
  if (large_.empty() || batch <= greatest_small_) return rounded_up(line_.at(batch));
  double from = static_cast<double>(greatest_small_), bytes = line_.at(greatest_small_);
  for (const MemoryPoint& point : large_) {
    const auto to = static_cast<double>(point.batch),
               measured = static_cast<double>(point.bytes.value);
    if (batch <= point.batch) {
      const double part = (static_cast<double>(batch) - from) / (to - from);
      return rounded_up(bytes + part * (measured - bytes));
    }
    from = to;
    bytes = measured;
  }
  return rounded_up(bytes + line_.slope * (static_cast<double>(batch) - from));
}

Bytes MemoryModel::fixed() const { return rounded_up(line_.intercept); }

std::optional<MemoryModel> memory_model(const Profile& profile, std::string_view graph,
                                        std::string_view gpu, std::int64_t large_batch) {
  std::vector<MemoryPoint> small, large;
  for (const MemoryMeasurement& point : profile.memory) {
    if (point.graph != graph || point.gpu != gpu) continue;
    (point.batch < large_batch ? small : large).push_back({point.batch, point.peak});
  }
  const std::optional<MemoryModel> rough = MemoryModel::rough(small);
  if (!rough) return std::nullopt;
  return rough->refine(large);
}

SequentialPlacement sequential_placement(std::span<const Bytes> sizes,
                                         std::span<const Bytes> capacity) {
  CHECK(!capacity.empty(), "a placement has a device");
  SequentialPlacement result;
  result.used.resize(capacity.size());
  const auto room = [&](std::size_t device) { return capacity[device] - result.used[device]; };
  std::size_t current = 0;
  for (const Bytes size : sizes) {
    while (current + 1 < capacity.size() && size > room(current)) ++current;
    std::size_t device = current;
    if (size > room(current)) {
      for (std::size_t other = 0; other < capacity.size(); ++other)
        if (room(other) > room(device)) device = other;
      result.fits = result.fits && size <= room(device);
    }
    result.used[device] += size;
    result.device.push_back(device);
  }
  return result;
}

}  // namespace strato
