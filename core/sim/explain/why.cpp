#include "core/sim/explain/why.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "core/base/quantity_text.h"
#include "core/sim/explain/column_exchanges.h"
#include "core/sim/explain/path_pieces.h"
#include "core/sim/explain/stage_waits.h"

namespace strato {
namespace {

using What = WhatIf::What;

std::string share_text(double fraction) {
  const double percent = 100 * fraction;
  if (percent > 0 && percent < 1) return "under 1 %";
  return fmt::format("{:.0f} %", percent);
}

std::string joined(const std::vector<std::string>& parts) {
  if (parts.size() < 2) return parts.empty() ? "" : parts.front();
  return fmt::format("{} and {}", fmt::join(parts.begin(), parts.end() - 1, ", "), parts.back());
}

// Largest first; ties: the smallest key.
template <class Key>
std::vector<std::pair<Key, Nanos>> sorted(const std::map<Key, Nanos>& times) {
  std::vector<std::pair<Key, Nanos>> list(times.begin(), times.end());
  std::ranges::stable_sort(list, std::greater(), &std::pair<Key, Nanos>::second);
  return list;
}

constexpr double kAlike = 0.1;  // of the step: neither limits it more than the other

class Writer {
 public:
  Writer(const Timeline& timeline, const std::vector<WhatIf>& what_ifs)
      : timeline_(timeline),
        program_(*timeline.program),
        what_ifs_(what_ifs),
        pieces_(path_pieces(timeline)),
        times_(time_by_reason(pieces_)) {}

  std::string text(const ErrorBar& error, std::optional<Nanos> lower_bound) {
    if (pieces_.empty()) return "Nothing runs.";
    limit();
    path();
    computing();
    communicating();
    stragglers();
    stages();
    columns();
    recomputation();
    balance();
    remedies();
    bound(lower_bound);
    certainty(error);
    return std::move(text_);
  }

 private:
  Nanos step() const { return timeline_.step_time; }
  Nanos time(Reason reason) const { return times_[static_cast<std::size_t>(reason)]; }
  double share(Nanos time) const { return time / step(); }
  double saved(Nanos shorter) const { return share(step() - shorter); }
  Nanos computes() const { return time(Reason::Compute) + time(Reason::DeviceBusy); }
  Nanos communicates() const {
    return time(Reason::Transfer) + time(Reason::Collective) + time(Reason::LinkBusy);
  }
  void say(const std::string& sentence) {
    if (!text_.empty()) text_ += " ";
    text_ += sentence;
  }
  const WhatIf* asked(What what) const {
    const auto found = std::ranges::find(what_ifs_, what, &WhatIf::what);
    return found == what_ifs_.end() ? nullptr : &*found;
  }

  // Devices wait for their processes longest, or neither a network nor devices that take no time
  // would make the step shorter.
  bool processes_limit(const WhatIf* network, const WhatIf* devices) const {
    if (time(Reason::Process) == Nanos()) return false;
    const bool neither_helps = network != nullptr && devices != nullptr &&
                               share(std::min(network->free, devices->free)) > 0.9;
    return neither_helps || time(Reason::Process) > std::max(computes(), communicates());
  }

  // Computing or communication, or both in turn: what is left when the other takes no time.
  void limit() {
    const WhatIf* network = asked(What::Network);
    const WhatIf* devices = asked(What::Devices);
    if (processes_limit(network, devices)) {
      alike_ = true;
      return say(
          fmt::format("A step takes {}, and starting its kernels limits it: for {} of that devices "
                      "wait for the processes that drive them. Fewer and larger kernels help: "
                      "fused ops, larger micro-batches, less tensor parallelism.",
                      time_text(step()), time_text(time(Reason::Process))));
    }
    if (network == nullptr || devices == nullptr)
      return say(fmt::format("A step takes {}.", time_text(step())));
    const Nanos computing = network->free, moving = devices->free;
    const Nanos less = std::min(computing, moving);
    computing_limits_ = computing >= moving;
    const auto still = [&](Nanos rest) {
      return fmt::format("{} ({})", time_text(rest), share_text(share(rest)));
    };
    if (share(less) > 0.15 && computing + moving - step() < less / 4) {
      take_turns_ = true;
      say(fmt::format(
          "A step takes {}; computing and communication take turns instead of overlapping: with an "
          "infinitely fast network it would take {}, with infinitely fast devices {}.",
          time_text(step()), still(computing), still(moving)));
    } else if (share(std::max(computing, moving) - less) < kAlike) {
      alike_ = true;
      say(fmt::format(
          "A step takes {}; computing and communication limit it about equally: with an "
          "infinitely fast network it would still take {}, with infinitely fast devices "
          "{}.",
          time_text(step()), still(computing), still(moving)));
    } else {
      say(
          fmt::format("A step takes {}, and {} limits it: with {} it would still take {}, with {} "
                      "{}.",
                      time_text(step()), computing_limits_ ? "computing" : "communication",
                      computing_limits_ ? "an infinitely fast network" : "infinitely fast devices",
                      still(std::max(computing, moving)),
                      computing_limits_ ? "infinitely fast devices" : "an infinitely fast network",
                      still(less)));
    }
  }

  void path() {
    std::vector<std::pair<Nanos, std::string>> parts = {
        {computes(), "computing"},
        {communicates(), "communication"},
        {time(Reason::Straggler), "waiting for slower devices"},
        {time(Reason::Process), "starting kernels"},
        {time(Reason::Reshuffle), "splitting and joining tensors"}};
    std::ranges::stable_sort(parts, std::greater(), &std::pair<Nanos, std::string>::first);
    std::vector<std::string> list;
    for (const auto& [part, what] : parts)
      if (list.empty() || share(part) >= 0.005)
        list.push_back(share_text(share(part)) + " " + what);
    std::string other;
    if (asked(What::Network) != nullptr && !take_turns_ && !alike_) {
      const bool through_computing = computes() >= communicates();
      if (through_computing != computing_limits_)
        other = fmt::format("; a path through {} is nearly as long",
                            computing_limits_ ? "computing" : "communication");
    }
    say(fmt::format("Its critical path is {}{}.", joined(list), other));
  }

  void computing() {
    if (share(computes()) < 0.1) return;
    std::map<DeviceId, Nanos> devices;
    std::map<OpFamily, Nanos> families;
    std::map<OpId, Nanos> ops;
    Nanos all;
    for (const PathPiece& piece : pieces_) {
      const Task& task = program_.tasks[piece.task];
      if (task.kind != TaskKind::Compute && task.kind != TaskKind::Update) continue;
      const Nanos time = piece.end - piece.begin;
      devices[task.device] += time;
      families[program_.graph->op(task.op).family] += time;
      ops[task.op] += time;
      all += time;
    }
    if (ops.empty()) return;
    const auto device = sorted(devices)[0].first;
    std::vector<std::string> kinds;
    for (const auto& [family, time] : sorted(families))
      if (kinds.size() < 2 && time / all >= 0.15)
        kinds.push_back(fmt::format("{} {}", share_text(time / all), name_of(family)));
    const auto [op, in_op] = sorted(ops)[0];
    say(fmt::format("The computing on it is {} on {} ({}){}{}; its longest op is {} ({}).",
                    devices.size() == 1 ? "all" : "mostly", program_.cluster->device(device).name,
                    program_.cluster->gpu(device).name, kinds.empty() ? "" : ", ", joined(kinds),
                    program_.graph->op(op).name, time_text(in_op)));
  }

  // The slowest link of a communication task.
  LinkId bottleneck(TaskId id) const {
    LinkId slowest;
    for (ResourceId resource : program_.resources[id.index()]) {
      if (!program_.is_link(resource)) continue;
      const LinkId link = program_.link_of(resource);
      if (!slowest.valid() ||
          program_.cluster->links()[link].bandwidth < program_.cluster->links()[slowest].bandwidth)
        slowest = link;
    }
    return slowest;
  }

  void communicating() {
    if (share(communicates()) < 0.1) return;
    std::map<LinkId, Nanos> links;
    std::map<TensorId, Nanos> tensors;
    std::map<DeviceId, Nanos> ends;  // of transfers: to and from
    std::set<TaskId> tasks;
    Nanos all;
    for (const PathPiece& piece : pieces_) {
      const Task& task = program_.tasks[piece.task];
      if (!is_communication(task.kind)) continue;
      all += piece.end - piece.begin;
      if (task.kind == TaskKind::Transfer) {
        ends[task.device] += piece.end - piece.begin;
        ends[task.target] += piece.end - piece.begin;
      }
      const LinkId link = bottleneck(piece.task);
      if (!link.valid()) continue;
      links[link] += piece.end - piece.begin;
      tensors[task.tensor] += piece.end - piece.begin;
      tasks.insert(piece.task);
    }
    if (links.empty()) return;
    const LinkId link = sorted(links)[0].first;
    const auto [tensor, of_tensor] = sorted(tensors)[0];
    say(fmt::format(
        "The slowest link under the communication on it is {} ({}), busy for {} of the "
        "step{}; {} takes longest ({}).",
        program_.cluster->links()[link].name,
        bandwidth_text(program_.cluster->links()[link].bandwidth),
        share_text(share(timeline_.link_busy[link])),
        time(Reason::LinkBusy) > communicates() / 2 ? ", with more waiting behind most of the time"
                                                    : "",
        program_.graph->tensor(tensor).name, time_text(of_tensor)));
    if (!ends.empty() && tasks.size() > 1 && timeline_.devices.size() > 2) {
      const auto [device, time] = sorted(ends)[0];
      if (time / all > 0.7)
        say(fmt::format(
            "{} of it goes to or from {}: spreading that over more devices (AllReduce, or "
            "more parameter servers) would relieve its link.",
            share_text(time / all), program_.cluster->device(device).name));
    }
    Nanos latency, moving;
    for (TaskId id : tasks) {
      latency += program_.tasks[id].latency;
      moving += timeline_.tasks[id].end - timeline_.tasks[id].start;
    }
    if (moving > Nanos(0) && latency / moving > 0.3)
      say(fmt::format(
          "{} of that time is latency, of {} messages: fewer and larger ones (gradients "
          "fused into buckets) would save most of it.",
          share_text(latency / moving), tasks.size()));
  }

  void stragglers() {
    if (share(time(Reason::Straggler)) < 0.05) return;
    std::map<DeviceId, Nanos> devices;
    for (const PathPiece& piece : pieces_)
      if (piece.reason == Reason::Straggler)
        devices[program_.tasks[piece.task].device] += piece.end - piece.begin;
    const auto [device, held_up] = sorted(devices)[0];
    say(fmt::format("{} ({}) holds up the others for {}: fewer samples there would help.",
                    program_.cluster->device(device).name, program_.cluster->gpu(device).name,
                    time_text(held_up)));
  }

  // The bubble: each stage's, or of many those that wait longest.
  void stages() {
    constexpr std::size_t kMostNamed = 8, kWorst = 3;
    const std::vector<StageWait> all = stage_waits(timeline_);
    if (all.empty()) return;
    std::vector<std::pair<Nanos, std::size_t>> longest;
    Nanos before, between, after;
    for (std::size_t i = 0; i < all.size(); ++i) {
      longest.emplace_back(all[i].all(), i);
      before += all[i].before, between += all[i].between, after += all[i].after;
    }
    const auto mean = [&](Nanos sum) {
      return share_text(share(sum) / static_cast<double>(all.size()));
    };
    if (all.size() > kMostNamed) {
      std::ranges::stable_sort(longest, std::greater(), &std::pair<Nanos, std::size_t>::first);
      longest.resize(kWorst);
    }
    std::vector<std::string> named;
    for (const auto& [time, i] : longest)
      named.push_back(named.empty() ? fmt::format("stage {} waits {} of the step for other stages",
                                                  i + 1, share_text(share(time)))
                                    : fmt::format("stage {} {}", i + 1, share_text(share(time))));
    const std::string which =
        all.size() > kMostNamed ? fmt::format("of {} stages ", all.size()) : std::string();
    std::string list = which + joined(named);
    list[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(list[0])));
    say(
        fmt::format("{}; on average {} until their first task, {} between their tasks and {} after "
                    "the last.",
                    list, mean(before), mean(between), mean(after)));
  }

  void columns() {
    say_of("Devices that compute ops together exchange their parts for",
           column_exchanges(timeline_));
    say_of("Tokens are on their way to experts and back, by AllToAll, for",
           expert_exchanges(timeline_));
    say_of("Copies to and from host memory keep the host link busy for", host_copies(timeline_));
  }
  void say_of(std::string_view what, const ColumnExchanges& exchanges) {
    if (exchanges.tasks > 0)
      say(fmt::format("{} {} of the step, {} of it not hidden behind computing.", what,
                      share_text(share(exchanges.taken)), share_text(share(exchanges.exposed))));
  }

  void recomputation() {
    std::map<DeviceId, Nanos> devices;
    std::set<OpId> ops;
    Nanos all;
    for (const TaskId id : program_.tasks.ids()) {
      const Task& task = program_.tasks[id];
      if (!task.again || is_communication(task.kind)) continue;
      const Nanos time = timeline_.tasks[id].end - timeline_.tasks[id].start;
      devices[task.device] += time;
      all += time;
      ops.insert(task.op);
    }
    if (devices.empty()) return;
    const auto [device, most] = sorted(devices)[0];
    say(
        fmt::format("Recomputation costs the devices {} of the step on average, {} {} at most: {} "
                    "ops are computed again instead of being kept.",
                    share_text(share(all) / static_cast<double>(devices.size())),
                    program_.cluster->device(device).name, share_text(share(most)), ops.size()));
  }

  // Names the GPU types that compute most and least, where that differs.
  void balance() {
    if (timeline_.devices.size() < 2) return;
    std::map<GpuTypeId, std::pair<double, int>> types;
    int unused = 0;
    double busy = 0;
    for (std::size_t d = 0; d < timeline_.devices.size(); ++d) {
      const double mine = share(timeline_.devices[DeviceId(d)].compute_busy);
      auto& [sum, count] = types[program_.cluster->device(DeviceId(d)).type];
      sum += mine;
      ++count;
      busy += mine / static_cast<double>(timeline_.devices.size());
      unused += mine == 0 ? 1 : 0;
    }
    const auto mean = [](const auto& entry) { return entry.second.first / entry.second.second; };
    const auto by_mean = [&](const auto& a, const auto& b) { return mean(a) < mean(b); };
    const auto least = std::min_element(types.begin(), types.end(), by_mean);
    const auto most = std::max_element(types.begin(), types.end(), by_mean);
    if (mean(*most) - mean(*least) > 0.15) {
      say(fmt::format("The {} compute for {} of the step, the {} for {}{}.",
                      program_.cluster->gpu_types()[most->first].name, share_text(mean(*most)),
                      program_.cluster->gpu_types()[least->first].name, share_text(mean(*least)),
                      computing_limits_ && !alike_ && mean(*least) > 0
                          ? ": samples moved to these would even it out"
                          : ""));
    } else {
      say(fmt::format("The devices compute for {} of the step on average.", share_text(busy)));
    }
    if (unused > 0)
      say(fmt::format("{} of {} devices {} not used.", unused, timeline_.devices.size(),
                      unused == 1 ? "is" : "are"));
  }

  // Says what 10 % more speed is worth, and which op, device or link matters most.
  void remedies() {
    std::vector<std::string> parts;
    const auto add = [&](const WhatIf* each) {
      if (each != nullptr)
        parts.push_back(fmt::format("{} 10 % faster {}{}", each->name,
                                    parts.empty() ? "would save " : "",
                                    share_text(std::max(0.0, saved(each->faster)))));
    };
    add(asked(computing_limits_ ? What::Devices : What::Network));
    add(asked(computing_limits_ ? What::Network : What::Devices));
    const WhatIf* single = nullptr;  // what_ifs_ has the largest gain first
    for (const WhatIf& each : what_ifs_)
      if (single == nullptr && each.what != What::Devices && each.what != What::Network)
        single = &each;
    if (single != nullptr && saved(single->free) >= 0.04) {
      const std::string gain = share_text(saved(single->free));
      parts.push_back(
          parts.empty() ? fmt::format("making {} infinitely fast would save {}", single->name, gain)
                        : fmt::format("{} infinitely fast {}", single->name, gain));
    }
    if (parts.empty()) return;
    std::string list = joined(parts);
    list[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(list[0])));
    say(list + ".");
  }

  void bound(std::optional<Nanos> lower_bound) {
    if (!lower_bound || *lower_bound <= Nanos(0)) return;
    say(fmt::format("No strategy takes less than {}, {} of this step.", time_text(*lower_bound),
                    share_text(share(*lower_bound))));
  }

  void certainty(const ErrorBar& error) {
    if (error.relative <= 0) return;
    const std::string sources =
        error.profile + error.fit < 0.005
            ? "nothing on the path was measured"
            : fmt::format(
                  "of the path {} was measured, {} fitted to measurements, {} from formulas",
                  share_text(error.profile), share_text(error.fit), share_text(error.analytic));
    say(fmt::format("The step time is sure to ±{} ({} to {}): {}.", share_text(error.relative),
                    time_text(error.low), time_text(error.high), sources));
  }

  const Timeline& timeline_;
  const Program& program_;
  const std::vector<WhatIf>& what_ifs_;
  std::vector<PathPiece> pieces_;
  std::array<Nanos, kReasons> times_;
  bool computing_limits_ = false, take_turns_ = false, alike_ = false;
  std::string text_;
};

}  // namespace

std::string why(const Timeline& timeline, const std::vector<WhatIf>& what_ifs,
                const ErrorBar& error, std::optional<Nanos> lower_bound) {
  return Writer(timeline, what_ifs).text(error, lower_bound);
}

}  // namespace strato
