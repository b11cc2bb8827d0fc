#include "core/launch/discover/measured_links.h"

#include <algorithm>

#include "core/launch/measure/measure_plan.h"
#include "core/launch/measure/measure_result.h"
#include "core/launch/profiling/measure_on.h"

namespace strato {
namespace {

// NCCL measures between GPUs, where every device is one; else messages go through the processes'
// memory.
MeasureJobOptions measure_options(const Cluster& cluster) {
  MeasureJobOptions options;
  const bool gpus = std::none_of(cluster.gpu_types().begin(), cluster.gpu_types().end(),
                                 [](const GpuType& type) { return type.architecture == "CPU"; });
  options.engine = gpus ? "replay-cuda" : "torch";  // holds the messages on their device
  options.transport = gpus ? "nccl" : "gloo";
  options.device = gpus ? "cuda" : "cpu";
  options.largest = Bytes(std::int64_t{64} << 20);
  options.budget = std::chrono::seconds(30);  // of a cluster file, not of a profile
  return options;
}

}  // namespace

MeasuredLink link_of(const TransferProfile& transfer) {
  const SizedMeasurement& least = transfer.measurements.front();
  const SizedMeasurement& most = transfer.measurements.back();
  const Nanos beyond = std::max(Nanos(1), most.time - least.time);
  return {transfer.from, transfer.to,
          static_cast<double>(most.bytes.value - least.bytes.value) / to_seconds(beyond),
          least.time};
}

LinkMeasurement measure_links(Launcher& launcher, const LinkRequest& request,
                              const std::stop_token& stop,
                              const std::function<void(const std::string&)>& progress) {
  const MeasureJob job = make_measure_job(request.cluster, request.cluster.name(), {},
                                          measure_options(request.cluster));
  MeasureRun run =
      measure_on(launcher, job, request.folder, request.worker, request.settings, stop,
                 [&](const MeasureEvent& event) { progress("measuring " + event.what); });
  LinkMeasurement result{run.state, std::move(run.problem), {}, std::move(run.result.notes)};
  for (const TransferProfile& transfer : run.result.profile.transfers)
    if (transfer.measurements.size() >= 2) result.links.push_back(link_of(transfer));
  return result;
}

}  // namespace strato
