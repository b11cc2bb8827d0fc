#include "core/trace/device/intervals.h"

#include <algorithm>

namespace strato::trace {

Intervals merged(std::vector<Interval> any) {
  std::ranges::sort(any, {}, &Interval::begin);
  Intervals result;
  for (const Interval& each : any) {
    if (each.begin == each.end) continue;
    if (!result.empty() && each.begin <= result.back().end)
      result.back().end = std::max(result.back().end, each.end);
    else
      result.push_back(each);
  }
  return result;
}

Nanos length(const Intervals& of) {
  Nanos sum;
  for (const Interval& each : of) sum += each.length();
  return sum;
}

Nanos overlap(const Intervals& a, const Intervals& b) {
  Nanos sum;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const Nanos begin = std::max(a[i].begin, b[j].begin);
    const Nanos end = std::min(a[i].end, b[j].end);
    if (begin < end) sum += end - begin;
    if (a[i].end < b[j].end)
      ++i;
    else
      ++j;
  }
  return sum;
}

Intervals minus(const Intervals& a, const Intervals& b) {
  Intervals result;
  std::size_t j = 0;
  for (Interval rest : a) {
    while (j < b.size() && b[j].end <= rest.begin) ++j;
    for (std::size_t k = j; k < b.size() && b[k].begin < rest.end; ++k) {
      if (rest.begin < b[k].begin) result.push_back({rest.begin, b[k].begin});
      rest.begin = std::min(b[k].end, rest.end);
    }
    if (rest.begin < rest.end) result.push_back(rest);
  }
  return result;
}

}  // namespace strato::trace
