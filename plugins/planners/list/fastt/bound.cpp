#include "plugins/planners/list/fastt/bound.h"

#include <algorithm>
#include <cstdio>

#include "core/base/at.h"

namespace strato::fastt {
namespace {

template <class... Values>
std::string text(const char* format, Values... values) {
  char line[64];
  std::snprintf(line, sizeof line, format, values...);
  return line;
}

std::string milliseconds(Nanos time) { return text("%.3f ms", to_seconds(time) * 1e3); }

}  // namespace

double Bound::ratio() const { return least > Nanos() ? finish / least : finish > Nanos() ? 0 : 1; }

Bound bound_of(const Dpos& dpos) {
  Bound bound;
  bound.finish = dpos.makespan();
  std::vector<Nanos> work(dpos.dag().size()), transfers(dpos.dag().size());
  Nanos all;
  const auto order = dpos.order();
  for (std::size_t i = order.size(); i-- > 0;) {
    const NodeIndex node = order[i];
    Nanos shortest = Nanos::max(), work_after, transfers_after;
    for (const DeviceId device : dpos.devices())
      shortest = std::min(shortest, dpos.time(node, device));
    for (const EditableDag::Half& half : dpos.dag().successors(node)) {
      const auto next = at(half.node);
      work_after = std::max(work_after, work[next]);
      transfers_after = std::max(transfers_after, dpos.longest_transfer(half) + transfers[next]);
    }
    all += shortest;
    work[at(node)] = shortest + work_after;
    transfers[at(node)] = transfers_after;
    bound.least = std::max(bound.least, shortest + work_after);
    bound.longest_transfers = std::max(bound.longest_transfers, transfers_after);
  }
  const auto devices = static_cast<std::int64_t>(dpos.devices().size());
  bound.least = std::max(bound.least, Nanos((all.value + devices - 1) / devices));
  return bound;
}

std::vector<PlanResult::Fact> facts(const Bound& bound) {
  std::vector<PlanResult::Fact> result;
  result.push_back({"DPOS finish time (its own cost model)", milliseconds(bound.finish)});
  result.push_back({"w_opt is at least", milliseconds(bound.least)});
  result.push_back({"C_max", milliseconds(bound.longest_transfers)});
  result.push_back({"Theorem 1 with that w_opt: 2 w_opt + C_max",
                    milliseconds(bound.least * 2 + bound.longest_transfers)});
  result.push_back({"guaranteed: at most", text("%.2f w_opt", bound.ratio())});
  return result;
}

}  // namespace strato::fastt
