#include "core/sim/timeline/spans.h"

#include <algorithm>

namespace strato {

Spans united(std::vector<Span> any) {
  std::ranges::sort(any, {}, &Span::begin);
  Spans spans;
  for (const Span& span : any)
    if (spans.empty() || spans.back().end < span.begin)
      spans.push_back(span);
    else
      spans.back().end = std::max(spans.back().end, span.end);
  return spans;
}

Nanos length(const Spans& spans) {
  Nanos total;
  for (const Span& span : spans) total += span.end - span.begin;
  return total;
}

Nanos overlap(const Spans& a, const Spans& b) {
  Nanos total;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const Nanos begin = std::max(a[i].begin, b[j].begin), end = std::min(a[i].end, b[j].end);
    if (begin < end) total += end - begin;
    (a[i].end < b[j].end ? i : j)++;
  }
  return total;
}

}  // namespace strato
