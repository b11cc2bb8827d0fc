#include "app/worker/measure_coordinator.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/base/error.h"
#include "core/base/quantity_text.h"
#include "core/launch/measure/measure_job.h"

namespace strato::worker {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::nanoseconds kLeastTime = 20ms;  // of a probe: two sizes of a slow network
constexpr std::int64_t kMemoryParts = 4;  // of a machine's free memory, messages take one

std::chrono::nanoseconds share(std::chrono::nanoseconds time, std::size_t part, std::size_t of) {
  return time * static_cast<std::int64_t>(part) / static_cast<std::int64_t>(std::max(part, of));
}

}  // namespace

MeasureCoordinator::MeasureCoordinator(MeasureRank& own, Transport& transport, Events& events,
                                       const MeasureJob& job,
                                       std::vector<MeasureGreeting> greetings)
    : own_(own),
      transport_(transport),
      events_(events),
      job_(job),
      greetings_(std::move(greetings)),
      start_(Clock::now()),
      largest_(largest_message()) {}

// The smallest of what the ranks have for messages; those of one machine share its memory.
Bytes MeasureCoordinator::largest_message() const {
  std::map<std::string, std::int64_t> ranks;
  for (const MeasureGreeting& each : greetings_) ++ranks[each.host];
  Bytes largest = job_.options.largest;
  for (const MeasureGreeting& each : greetings_)
    largest = std::min({largest, each.largest, each.memory / (kMemoryParts * ranks[each.host])});
  return std::max(largest, 2 * job_.options.smallest);
}

std::chrono::nanoseconds MeasureCoordinator::left() const {
  return std::max<std::chrono::nanoseconds>(start_ + job_.options.budget - Clock::now(), 0ns);
}

std::string MeasureCoordinator::arena_of(int rank) const {
  const MeasureGreeting& greeting = greetings_[static_cast<std::size_t>(rank)];
  return job_.options.device == "cpu" ? greeting.host : fmt::format("{}/{}", greeting.host, rank);
}

void MeasureCoordinator::tell(const std::string& what) {
  MeasureEvent event;
  event.what = what;
  event.done = done_;
  event.of = of_;
  event.left = std::chrono::duration_cast<std::chrono::milliseconds>(left());
  events_.tell_line(to_json_line(event));
}

MeasureResult MeasureCoordinator::run() {
  measure_ops();
  measure_probes();
  for (int rank = 1; rank < static_cast<int>(job_.ranks.size()); ++rank)
    send_command(transport_, rank, {});
  add_ops_to(result_.profile);
  result_.seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  return std::move(result_);
}

// Replies of the rounds' first members, in their order.
std::vector<std::string> MeasureCoordinator::carry_out(Round& round,
                                                       std::chrono::nanoseconds time) {
  const MeasureCommand* own = nullptr;
  for (std::size_t i = 0; i < round.commands.size(); ++i) {
    round.commands[i].time_ns = time.count();
    for (const int member : round.members[i]) {
      if (member == 0)
        own = &round.commands[i];
      else
        send_command(transport_, member, round.commands[i]);
    }
  }
  const std::string reply = own != nullptr ? own_.carry_out(*own) : "";
  std::vector<std::string> replies;
  for (const auto& members : round.members) {
    const int first = members.front();
    replies.push_back(first == 0 ? reply : receive_text(transport_, first));
  }
  return replies;
}

// ---- ops

MeasureCoordinator::Round MeasureCoordinator::next_ops(std::vector<OpsTask>& pending,
                                                       std::vector<OpsTask>& taken) const {
  Round round;
  std::set<std::string> arenas;
  std::vector<OpsTask> later;
  for (const OpsTask& task : pending) {
    int rank = 0;
    const auto free = [&] {
      return job_.ranks[static_cast<std::size_t>(rank)].gpu == task.gpu &&
             !arenas.contains(arena_of(rank));
    };
    const int ranks = static_cast<int>(job_.ranks.size());
    while (rank < ranks && !free()) ++rank;
    if (rank == ranks) {
      later.push_back(task);
      continue;
    }
    arenas.insert(arena_of(rank));
    MeasureCommand command;
    command.what = MeasureCommand::What::Ops;
    command.index = static_cast<std::int64_t>(task.graph);
    round.commands.push_back(command);
    round.members.push_back({rank});
    taken.push_back(task);
  }
  pending = std::move(later);
  return round;
}

void MeasureCoordinator::measure_ops() {
  std::vector<OpsTask> pending;
  std::set<std::string> gpus;
  for (const MeasureJob::Rank& rank : job_.ranks) gpus.insert(rank.gpu);
  for (std::size_t graph = 0; graph < job_.graphs.size(); ++graph) {
    for (const std::string& gpu : gpus) pending.push_back({graph, gpu});
  }
  of_ = static_cast<std::int64_t>(pending.size() + job_.probes.size());
  ops_end_ = start_ + job_.options.budget / (job_.probes.empty() ? 1 : 2);
  std::string problem;
  while (!pending.empty()) {
    std::vector<OpsTask> taken;
    const std::size_t all = pending.size();
    Round round = next_ops(pending, taken);
    tell(fmt::format("batch {} on {}", job_.graphs[taken[0].graph]->batch(), taken[0].gpu));
    const auto time = std::max<std::chrono::nanoseconds>(ops_end_ - Clock::now(), 0ns);
    const auto replies = carry_out(round, share(time, taken.size(), all));
    for (std::size_t i = 0; i < taken.size(); ++i) {
      OpsReply reply = unpack_ops(replies[i]);
      ++done_;
      if (!reply.problem.empty()) {
        result_.notes.push_back(fmt::format("batch {} on {} is not measured: {}",
                                            job_.graphs[taken[i].graph]->batch(), taken[i].gpu,
                                            reply.problem));
      }
      ops_.push_back({taken[i], std::move(reply.measured)});
    }
  }
  const bool none = std::all_of(ops_.begin(), ops_.end(),
                                [](const OpsDone& done) { return done.measured.ops.empty(); });
  if (!ops_.empty() && none)
    throw InputError("", "", "no op could be measured: " + result_.notes.front(),
                     "give more time with --budget, or smaller batches");
}

void MeasureCoordinator::add_ops_to(Profile& profile) const {
  std::map<std::string, const OpsDone*> largest;  // by GPU type, of those measured
  for (const OpsDone& done : ops_) {
    const OpsDone*& best = largest[done.task.gpu];
    if (done.measured.ops.empty()) continue;
    if (best == nullptr || best->measured.step.batch < done.measured.step.batch) best = &done;
  }
  for (const OpsDone& done : ops_)
    add_ops(profile, done.measured, job_.name, done.task.gpu, largest[done.task.gpu] == &done);
}

// ---- communication

std::string MeasureCoordinator::name_of_probe(const Probe& probe) const {
  const auto name = [&](std::size_t i) {
    return job_.ranks[static_cast<std::size_t>(probe.members[i])].device;
  };
  if (!probe.collective) return name(0) + " -> " + name(1);
  return fmt::format("{} of {} devices from {}", strato::name_of(*probe.collective),
                     probe.members.size(), name(0));
}

MeasureCoordinator::Round MeasureCoordinator::next_probes(std::vector<std::size_t>& pending) const {
  Round round;
  std::set<std::string> busy;
  std::vector<std::size_t> later;
  for (const std::size_t i : pending) {
    const Probe& probe = job_.probes[i];
    const auto host = [&](int rank) { return greetings_[static_cast<std::size_t>(rank)].host; };
    const bool free = std::none_of(probe.members.begin(), probe.members.end(),
                                   [&](int rank) { return busy.contains(host(rank)); });
    if (!free) {
      later.push_back(i);
      continue;
    }
    for (const int rank : probe.members) busy.insert(host(rank));
    MeasureCommand command;
    command.what = MeasureCommand::What::Probe;
    command.index = static_cast<std::int64_t>(i);
    command.largest = largest_.value;
    round.commands.push_back(command);
    round.members.push_back(probe.members);
  }
  pending = std::move(later);
  return round;
}

void MeasureCoordinator::take(const Probe& probe, std::vector<SizedMeasurement> points) {
  ++done_;
  if (points.empty() || points.back().bytes * 2 <= largest_) ++cut_short_;
  const auto name = [&](int rank) { return job_.ranks[static_cast<std::size_t>(rank)].device; };
  Profile& profile = result_.profile;
  if (!probe.collective) {
    profile.transfers.push_back(
        {name(probe.members[0]), name(probe.members[1]), std::move(points)});
    return;
  }
  CollectiveProfile collective{*probe.collective, {}, std::move(points)};
  for (const int rank : probe.members) collective.devices.push_back(name(rank));
  profile.collectives.push_back(std::move(collective));
}

void MeasureCoordinator::note_left_out(const std::vector<std::size_t>& pending) {
  if (!pending.empty()) {
    result_.notes.push_back(
        fmt::format("{} of {} pairs and sets of devices are not measured, from {} on: the budget "
                    "was spent",
                    pending.size(), job_.probes.size(), name_of_probe(job_.probes[pending[0]])));
  }
  if (cut_short_ > 0) {
    result_.notes.push_back(
        fmt::format("{} pairs and sets of devices are not measured up to {}: their share of the "
                    "budget was spent",
                    cut_short_, bytes_text(largest_)));
  }
  if (largest_ < job_.options.largest && !job_.probes.empty()) {
    result_.notes.push_back(
        fmt::format("messages are measured up to {}, not {}: more memory is "
                    "not at hand",
                    bytes_text(largest_), bytes_text(job_.options.largest)));
  }
}

void MeasureCoordinator::measure_probes() {
  std::vector<std::size_t> pending(job_.probes.size());
  for (std::size_t i = 0; i < pending.size(); ++i) pending[i] = i;
  while (!pending.empty() && left() > 0ns) {
    const std::size_t all = pending.size();
    Round round = next_probes(pending);
    const auto probe = [&](std::size_t i) -> const Probe& {
      return job_.probes[static_cast<std::size_t>(round.commands[i].index)];
    };
    tell(name_of_probe(probe(0)));
    const auto replies =
        carry_out(round, std::max(kLeastTime, share(left(), round.commands.size(), all)));
    for (std::size_t i = 0; i < replies.size(); ++i) take(probe(i), unpack_points(replies[i]));
  }
  note_left_out(pending);
}

}  // namespace strato::worker
