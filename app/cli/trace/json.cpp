#include <algorithm>

#include "app/cli/trace/report.h"

namespace strato::cli {
namespace {

using namespace trace;

Json steps_json(const Steps& steps) {
  constexpr std::array<const char*, 3> sources = {"none", "annotation", "period"};
  Json list = Json::array();
  for (const Step& step : steps.steps) {
    list.push_back({{"number", step.number},
                    {"start_ns", step.time.begin.value},
                    {"duration_ns", step.time.length().value},
                    {"steady", step.steady}});
  }
  return {{"found_by", sources[static_cast<std::size_t>(steps.source)]},
          {"typical_ns", steps.typical.value},
          {"steps", list}};
}

Json breakdown_json(const Breakdown& of) {
  Json busy = Json::object();
  for (int type = 0; type < kKernelTypes; ++type)
    busy[name_of(static_cast<KernelType>(type))] = of.busy[static_cast<std::size_t>(type)].value;
  return {{"total_ns", of.total.value},
          {"idle_ns", of.idle.value},
          {"compute_ns", of.compute.value},
          {"non_compute_ns", of.non_compute.value},
          {"busy_ns", busy},
          {"overlapped_ns", of.overlapped.value},
          {"exposed_communication_ns", of.exposed.value},
          {"overlap_fraction", of.overlap_fraction()}};
}

Json idle_json(const Trace& trace, const std::vector<IdleCauses>& streams) {
  Json list = Json::array();
  for (const IdleCauses& each : streams) {
    const Lane& lane = trace.lanes[each.stream];
    list.push_back({{"device", lane.process},
                    {"stream", lane.thread},
                    {"host_wait_ns", each.host_wait.value},
                    {"kernel_wait_ns", each.kernel_wait.value},
                    {"other_ns", each.other.value}});
  }
  return list;
}

Json communication_json(const Trace& trace, const std::vector<CommunicationTime>& times) {
  Json list = Json::array();
  for (const CommunicationTime& each : times) {
    Json json = {{"collective", name_of(each.collective)},
                 {"count", each.count},
                 {"busy_ns", each.busy.value},
                 {"exposed_ns", each.exposed.value}};
    if (each.sent > Bytes(0)) json["sent_bytes"] = each.sent.value;
    if (each.group.valid()) {
      json["group"] = trace.groups[each.group].name;
      json["group_ranks"] = trace.groups[each.group].ranks;
    }
    list.push_back(std::move(json));
  }
  return list;
}

Json kernels_json(const std::vector<KernelTime>& kernels) {
  Json list = Json::array();
  for (const KernelTime& each : kernels) {
    list.push_back({{"name", each.name},
                    {"type", name_of(each.type)},
                    {"count", each.count},
                    {"total_ns", each.total.value},
                    {"longest_ns", each.longest.value}});
  }
  return list;
}

Json launch_json(const std::vector<LaunchBound>& stretches) {
  Json list = Json::array();
  for (const LaunchBound& each : stretches) {
    list.push_back({{"start_ns", each.time.begin.value},
                    {"duration_ns", each.time.length().value},
                    {"idle_ns", each.idle.value},
                    {"kernels", each.kernels}});
  }
  return list;
}

Json memory_json(const std::vector<MemoryPeak>& peaks) {
  Json list = Json::array();
  for (const MemoryPeak& each : peaks) {
    list.push_back({{"device", each.device},
                    {"peak_allocated_bytes", each.allocated.value},
                    {"peak_reserved_bytes", each.reserved.value},
                    {"at_ns", each.at.value}});
  }
  return list;
}

Json rank_json(const Trace& trace, const RankAnalysis& of) {
  Json json = {{"rank", of.rank},
               {"file", trace.file},
               {"format", name_of(trace.format)},
               {"events", trace.events.size()},
               {"kernels", of.kernels},
               {"remarks", trace.remarks}};
  if (!trace.timed) {
    json["communication"] = communication_json(trace, of.communication);
    return json;
  }
  json["steps"] = steps_json(of.steps);
  json["breakdown"] = breakdown_json(of.breakdown);
  json["idle"] = idle_json(trace, of.idle);
  json["communication"] = communication_json(trace, of.communication);
  json["longest_kernels"] = kernels_json(of.longest);
  json["launch_bound"] = launch_json(of.launch_bound);
  json["memory"] = memory_json(of.memory);
  return json;
}

Json alignment_json(const Analysis& analysis) {
  Json offsets = Json::array();
  for (std::size_t i = 0; i < analysis.ranks.size(); ++i) {
    Json rank = {{"rank", analysis.ranks[i].rank},
                 {"aligned", bool{analysis.alignment.aligned[i]}}};
    rank["offset_ns"] = analysis.alignment.offset[i].value;
    if (!analysis.arrivals.empty()) {
      const Arrivals& arrivals = analysis.arrivals[i];
      rank["matched"] = arrivals.matched;
      rank["last"] = arrivals.last;
      rank["waited_ns"] = arrivals.waited.value;
      rank["held_up_ns"] = arrivals.held_up.value;
    }
    offsets.push_back(std::move(rank));
  }
  return {{"matched_collectives", analysis.alignment.matches},
          {"typical_error_ns", analysis.alignment.typical_error.value},
          {"worst_error_ns", analysis.alignment.worst_error.value},
          {"ranks", offsets}};
}

Json families_json(const std::vector<GroupFamily>& families) {
  Json list = Json::array();
  for (const GroupFamily& each : families) {
    Json calls = Json::object();
    for (const auto& [collective, count] : each.calls) calls[name_of(collective)] = count;
    list.push_back({{"role", name_of(each.role)},
                    {"evidence", each.evidence},
                    {"size", each.size},
                    {"stride", each.stride},
                    {"groups", each.groups},
                    {"partition", each.partition},
                    {"calls", calls},
                    {"sent_bytes", each.sent.value}});
  }
  return list;
}

}  // namespace

Json traces_json(const TraceSet& set, const Analysis& analysis) {
  Json ranks = Json::array();
  for (std::size_t i = 0; i < set.traces.size(); ++i)
    ranks.push_back(rank_json(set.traces[i], analysis.ranks[i]));
  Json operators = Json::array();
  for (const OperatorCount& each : analysis.operators)
    operators.push_back({{"name", each.name}, {"count", each.count}, {"time_ns", each.time.value}});
  Json json = {{"kind", "trace"},
               {"world_size", analysis.world_size},
               {"missing_ranks", analysis.missing},
               {"remarks", set.remarks},
               {"ranks", ranks}};
  if (set.traces.size() > 1) json["alignment"] = alignment_json(analysis);
  if (!analysis.families.empty()) {
    json["groups"] = families_json(analysis.families);
    json["parallelism"] = parallelism_sentences(analysis.families);
  }
  if (!operators.empty()) json["operators"] = operators;
  return json;
}

}  // namespace strato::cli
