#include "app/worker/measure_session.h"

#include <fmt/format.h>

#include <set>

#include "app/worker/communicator.h"
#include "app/worker/kernel_id.h"
#include "app/worker/measure_coordinator.h"
#include "app/worker/report_system.h"
#include "app/worker/session.h"
#include "core/base/error.h"
#include "core/launch/job/job_result.h"
#include "core/launch/measure/measure_job.h"

namespace strato::worker {
namespace {

void check_same(const std::vector<MeasureGreeting>& all) {
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    const bool version = all[rank].version == all[0].version;
    if (version && all[rank].digest == all[0].digest) continue;
    throw OtherRankFailure(
        static_cast<int>(rank),
        fmt::format("has another {}; give all ranks the same job folder and the same program",
                    version ? "measurement job" : "version of stratoscope-worker"));
  }
}

std::string joined_text(const std::set<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : "; ") + text;
  return all;
}

}  // namespace

MeasureSession::MeasureSession(const Parts& parts)
    : parts_(parts),
      job_(parts.staged.job),
      memory_(parts.execution),
      rank_({job_, parts.rank, parts.engine, parts.transport, memory_, parts.guard}) {
  if (parts.execution != nullptr && !job_.probes.empty())
    expect_reach(*parts.execution, parts.transport);
}

MeasureGreeting MeasureSession::greeting() {
  MeasureGreeting greeting;
  greeting.version = STRATOSCOPE_VERSION;
  greeting.digest = parts_.staged.digest;
  greeting.host = kernel_id();
  greeting.memory = memory_at_hand();
  greeting.largest = memory_.largest(job_.options.largest);
  if (parts_.engine != nullptr)
    greeting.hardware = device_of(*parts_.engine, job_.options.device).hardware;
  return greeting;
}

void MeasureSession::run() {
  const auto texts =
      on_transport([&, own = pack(greeting())] { return parts_.transport.gather(own); });
  if (parts_.rank != 0) {
    rank_.serve();
  } else {
    std::vector<MeasureGreeting> greetings;
    for (const std::string& text : texts) greetings.push_back(unpack_greeting(text));
    check_same(greetings);
    coordinate(std::move(greetings));
  }
  // Nobody leaves while another still needs its connection.
  on_transport([&] { parts_.transport.barrier(); });
}

void MeasureSession::name(Profile& profile, const std::vector<MeasureGreeting>& greetings) const {
  std::set<std::string> hosts, hardware;
  for (const MeasureGreeting& each : greetings) {
    hosts.insert(each.host);
    if (!each.hardware.empty()) hardware.insert(each.hardware);
  }
  const MeasureJobOptions& options = job_.options;
  profile.name =
      fmt::format("{}, measured by {} rank{} on {} machine{}", job_.name, job_.ranks.size(),
                  job_.ranks.size() == 1 ? "" : "s", hosts.size(), hosts.size() == 1 ? "" : "s");
  profile.host = hardware.empty() ? options.device : joined_text(hardware);
  profile.host += fmt::format(", {} thread{}", options.threads, options.threads == 1 ? "" : "s");
  profile.software = parts_.engine != nullptr ? parts_.engine->software() : options.engine;
  if (!job_.probes.empty()) profile.software += ", " + options.transport;
}

void MeasureSession::coordinate(std::vector<MeasureGreeting> greetings) {
  JobEvent event;
  parts_.events.tell(event);  // started
  MeasureCoordinator coordinator(rank_, parts_.transport, parts_.events, job_, greetings);
  MeasureResult result = coordinator.run();
  result.profile = normalised(std::move(result.profile));
  name(result.profile, greetings);
  write_measure_result(parts_.folder, result);
  event.kind = JobEvent::Kind::Finished;
  parts_.events.tell(event);
}

}  // namespace strato::worker
