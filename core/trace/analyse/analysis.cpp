#include "core/trace/analyse/analysis.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/base/parallel.h"

namespace strato::trace {
namespace {

constexpr std::int64_t kMostMissing = 4096;  // that are listed

RankAnalysis analyse_rank(const Trace& trace, const AnalysisOptions& options) {
  RankAnalysis result;
  result.rank = trace.rank.value_or(0);
  if (!trace.timed) {
    result.communication = communication_of_nodes(trace);
    return result;
  }
  const std::vector<Kernel> kernels = kernels_of(trace);
  result.kernels = std::ssize(kernels);
  result.steps = find_steps(trace);
  result.breakdown = breakdown(kernels);
  result.idle = idle_causes(trace, kernels);
  result.communication = communication(trace, kernels);
  result.longest = longest_kernels(trace, kernels, options.most_kernels);
  result.launch_bound = launch_bound(trace, kernels, options.most_stretches);
  result.memory = memory_peaks(trace);
  return result;
}

std::vector<std::int64_t> missing_ranks(const std::vector<Trace>& traces, std::int64_t world) {
  std::set<std::int64_t> there;
  for (const Trace& trace : traces) there.insert(trace.rank.value_or(-1));
  std::vector<std::int64_t> missing;
  // One rank alone is a choice, not a loss.
  if (traces.size() < 2) return missing;
  for (std::int64_t rank = 0; rank < world && std::ssize(missing) < kMostMissing; ++rank)
    if (!there.contains(rank)) missing.push_back(rank);
  return missing;
}

std::vector<OperatorCount> count_operators(const std::vector<Trace>& traces, std::size_t most) {
  std::map<std::string, OperatorCount> by_name;
  for (const Trace& trace : traces) {
    if (trace.timed) continue;
    for (const Event& event : trace.events) {
      OperatorCount& count = by_name[trace.name(event)];
      ++count.count;
      count.time += event.duration;
    }
  }
  std::vector<OperatorCount> result;
  for (auto& [name, count] : by_name) {
    count.name = name;
    result.push_back(count);
  }
  std::ranges::stable_sort(result, [](const OperatorCount& a, const OperatorCount& b) {
    return std::pair(a.time, a.count) > std::pair(b.time, b.count);
  });
  if (result.size() > most) result.resize(most);
  return result;
}

double share_of(const std::vector<Match>& matches, const std::vector<RankAnalysis>& ranks) {
  double matched = 0, all = 0;
  for (const Match& match : matches)
    for (const Match::Member& member : match.members)
      matched += static_cast<double>(member.event->duration.value);
  for (const RankAnalysis& rank : ranks)
    for (const CommunicationTime& each : rank.communication)
      all += static_cast<double>(each.busy.value);
  return all > 0 ? std::min(1.0, matched / all) : 0;
}

}  // namespace

Analysis analyse(const std::vector<Trace>& traces, const AnalysisOptions& options) {
  Analysis result;
  result.ranks.resize(traces.size());
  parallel_for(traces.size(), 0,
               [&](std::size_t i) { result.ranks[i] = analyse_rank(traces[i], options); });
  for (const Trace& trace : traces)
    result.world_size = std::max(result.world_size, trace.world_size.value_or(0));
  result.missing = missing_ranks(traces, result.world_size);
  const std::vector<Match> matches = match_collectives(traces);
  result.alignment = align(traces, matches);
  if (!matches.empty()) result.arrivals = arrivals(traces, matches, result.alignment);
  Nanos longest;
  for (const RankAnalysis& rank : result.ranks) longest = std::max(longest, rank.breakdown.total);
  result.stragglers = stragglers(traces, result.arrivals, longest);
  result.matched_share = share_of(matches, result.ranks);
  result.families = group_families(traces);
  result.operators = count_operators(traces, options.most_kernels);
  return result;
}

}  // namespace strato::trace
