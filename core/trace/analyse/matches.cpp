#include "core/trace/analyse/matches.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

#include "core/trace/analyse/communication.h"

namespace strato::trace {
namespace {

bool ends_together(Collective collective) {
  return collective == Collective::AllReduce || collective == Collective::AllGather ||
         collective == Collective::ReduceScatter || collective == Collective::AllToAll ||
         collective == Collective::Barrier;
}

// Communicator by its name and ranks: names alone may be used again.
using Key = std::tuple<Collective, std::string, std::vector<std::int64_t>>;
using Calls = std::map<std::size_t, std::vector<const Event*>>;  // by rank

Key key_of(const Trace& trace, const Event& event) {
  const GroupId group = event.call.valid() ? trace.calls[event.call].group : GroupId();
  const Collective collective = collective_of(trace, event);
  if (!group.valid()) return {collective, "", {}};
  return {collective, trace.groups[group].name, trace.groups[group].ranks};
}

std::map<Key, Calls> calls_by_key(std::span<const Trace> traces) {
  std::map<Key, Calls> calls;
  for (std::size_t rank = 0; rank < traces.size(); ++rank) {
    const Trace& trace = traces[rank];
    for (const Event& event : trace.events) {
      if (!runs_on_device(event.kind) ||
          kernel_type(event.kind, trace.name(event)) != KernelType::Communication)
        continue;
      if (ends_together(collective_of(trace, event)))
        calls[key_of(trace, event)][rank].push_back(&event);
    }
  }
  return calls;
}

std::int64_t number_of(const Trace& trace, const Event& event) {
  return event.call.valid() ? trace.calls[event.call].number : -1;
}

bool numbered(std::span<const Trace> traces, const Calls& calls) {
  return std::ranges::all_of(calls, [&](const auto& of_rank) {
    return std::ranges::all_of(of_rank.second, [&](const Event* event) {
      return number_of(traces[of_rank.first], *event) >= 0;
    });
  });
}

void match_by_number(std::span<const Trace> traces, Collective collective, const Calls& calls,
                     std::vector<Match>& matches) {
  std::map<std::int64_t, Match> by_number;
  for (const auto& [rank, events] : calls) {
    for (const Event* event : events) {
      Match& match = by_number[number_of(traces[rank], *event)];
      match.collective = collective;
      // One that is there twice on a rank is several kernels of one call: the last ends it.
      if (!match.members.empty() && match.members.back().rank == rank)
        match.members.back().event = event;
      else
        match.members.push_back({rank, event});
    }
  }
  for (auto& [number, match] : by_number)
    if (match.members.size() > 1) matches.push_back(std::move(match));
}

void match_by_order(Collective collective, const Calls& calls, std::vector<Match>& matches) {
  const std::size_t count = calls.begin()->second.size();
  if (!std::ranges::all_of(calls, [&](const auto& each) { return each.second.size() == count; }))
    return;
  for (std::size_t i = 0; i < count; ++i) {
    Match match{collective, {}};
    for (const auto& [rank, events] : calls) match.members.push_back({rank, events[i]});
    matches.push_back(std::move(match));
  }
}

}  // namespace

std::vector<Match> match_collectives(std::span<const Trace> traces) {
  std::vector<Match> matches;
  for (const auto& [key, calls] : calls_by_key(traces)) {
    if (calls.size() < 2) continue;
    if (numbered(traces, calls))
      match_by_number(traces, std::get<0>(key), calls, matches);
    else
      match_by_order(std::get<0>(key), calls, matches);
  }
  return matches;
}

}  // namespace strato::trace
