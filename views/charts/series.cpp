#include "views/charts/series.h"

#include <algorithm>
#include <cmath>

namespace strato {

std::vector<QPointF> decimated(const std::vector<QPointF>& points, std::size_t most) {
  if (points.size() <= most || most < 6) return points;
  const std::size_t buckets = (most - 2) / 3;
  std::vector<QPointF> result;
  for (std::size_t b = 0; b < buckets; ++b) {
    const std::size_t begin = b * points.size() / buckets;
    const std::size_t end = (b + 1) * points.size() / buckets;
    std::size_t low = begin, high = begin;
    for (std::size_t i = begin; i < end; ++i) {
      if (points[i].y() < points[low].y()) low = i;
      if (points[i].y() > points[high].y()) high = i;
    }
    std::size_t kept[] = {begin, low, high};
    std::sort(std::begin(kept), std::end(kept));
    for (std::size_t k = 0; k < 3; ++k) {
      if (k == 0 || kept[k] != kept[k - 1]) result.push_back(points[kept[k]]);
    }
  }
  if (result.back() != points.back()) result.push_back(points.back());
  return result;
}

std::vector<QPointF> best_over_evaluations(const std::vector<HistoryPoint>& history,
                                           std::size_t most) {
  std::vector<QPointF> points;
  for (const HistoryPoint& point : history) {
    if (point.best_ns <= 0) continue;
    const double x = static_cast<double>(point.evaluations);
    const double y = static_cast<double>(point.best_ns) * 1e-6;
    if (!points.empty() && points.back().y() != y) points.emplace_back(x, points.back().y());
    points.emplace_back(x, y);
  }
  return decimated(points, most);
}

std::vector<QPointF> loss_over_steps(const std::vector<LossPoint>& losses, bool held_out,
                                     std::size_t most) {
  std::vector<QPointF> points;
  for (const LossPoint& point : losses) {
    const auto x = static_cast<double>(point.step);
    if (!held_out) points.emplace_back(x, point.loss);
    if (held_out && point.held_out_loss) points.emplace_back(x, *point.held_out_loss);
  }
  std::erase_if(points, [](const QPointF& point) { return !std::isfinite(point.y()); });
  return decimated(points, most);
}

StepRange step_range(const std::vector<QPointF>& curve, double baseline, double bound) {
  double low = baseline, high = baseline;
  if (!curve.empty()) {
    low = high = curve.back().y();
    const double twentieth = 0.05 * (curve.back().x() - curve.front().x());
    double settled = curve.front().x() + twentieth;
    double last = curve.front().y();
    for (const QPointF& point : curve) {
      low = std::min(low, point.y());
      // A search that goes on with new pins begins again with what it knows under them.
      if (point.y() > last) settled = point.x() + twentieth;
      if (point.x() >= settled) high = std::max(high, point.y());
      last = point.y();
    }
    if (baseline > 0 && baseline <= 1.5 * high) high = std::max(high, baseline);
  }
  if (!(high > 0)) return {};
  double spread = std::max(high - low, 0.02 * high);
  if (bound > 0 && (curve.empty() || low - bound <= spread)) low = std::min(low, bound);
  spread = std::max(high - low, 0.02 * high);
  StepRange range;
  range.tick = round_up(spread / 5);
  range.low = std::max(0.0, std::floor((low - 0.05 * spread) / range.tick) * range.tick);
  range.high = std::ceil((high + 0.05 * spread) / range.tick) * range.tick;
  return range;
}

double round_up(double value) {
  if (!(value > 0) || !std::isfinite(value)) return 1;
  const double power = std::pow(10, std::floor(std::log10(value)));
  for (const double step : {1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0}) {
    if (value <= step * power * (1 + 1e-9)) return step * power;
  }
  return 10 * power;
}

}  // namespace strato
