#include "core/sim/explain/why.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <functional>
#include <iterator>
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

std::string capitalised(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
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

constexpr double kAlike = 0.1;         // of the step: neither limits it more than the other
constexpr double kWorthACause = 0.01;  // of the step
constexpr std::size_t kCauses = 3;

// What a step can be limited by, and what it would save without that.
struct Limit {
  enum class By : std::uint8_t { Computing, Bandwidth, Latency, Waiting } by;
  Nanos saves;
};
using By = Limit::By;

const char* limit_name(By by) {
  constexpr std::array<const char*, 4> names = {"computing", "bandwidth", "latency", "waiting"};
  return names[static_cast<std::size_t>(by)];
}
const char* without_limit(By by) {
  constexpr std::array<const char*, 4> words = {"infinitely fast devices", "infinite bandwidth",
                                                "messages without latency", "no waiting"};
  return words[static_cast<std::size_t>(by)];
}

// What the critical path is made of, and where.
class PathWords {
 protected:
  explicit PathWords(const Timeline& timeline)
      : timeline_(timeline),
        program_(*timeline.program),
        pieces_(path_pieces(timeline)),
        times_(time_by_reason(pieces_)) {}

  Nanos step() const { return timeline_.step_time; }
  Nanos time(Reason reason) const { return times_[static_cast<std::size_t>(reason)]; }
  double share(Nanos time) const { return time / step(); }
  double saved(Nanos shorter) const { return share(step() - shorter); }
  Nanos computes() const { return time(Reason::Compute) + time(Reason::DeviceBusy); }
  Nanos communicates() const {
    return time(Reason::Transfer) + time(Reason::Collective) + time(Reason::LinkBusy);
  }

  std::string details(By by) const {
    switch (by) {
      case By::Computing:
        return computing();
      case By::Bandwidth:
        return bandwidth();
      case By::Latency:
        return latency();
      case By::Waiting:
        return stragglers();
    }
    return {};
  }

  std::string computing() const {
    if (share(computes()) < 0.1) return {};
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
    if (ops.empty()) return {};
    const auto device = sorted(devices)[0].first;
    std::vector<std::string> kinds;
    for (const auto& [family, time] : sorted(families))
      if (kinds.size() < 2 && time / all >= 0.15)
        kinds.push_back(fmt::format("{} {}", share_text(time / all), name_of(family)));
    const auto [op, in_op] = sorted(ops)[0];
    return fmt::format(
        "The computing on the critical path is {} on {} ({}){}{}; its longest op is {} ({}).",
        devices.size() == 1 ? "all" : "mostly", program_.cluster->device(device).name,
        program_.cluster->gpu(device).name, kinds.empty() ? "" : ", ", joined(kinds),
        program_.graph->op(op).name, time_text(in_op));
  }

  std::string bandwidth() const {
    if (share(communicates()) < 0.1) return {};
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
    if (links.empty()) return {};
    const LinkId link = sorted(links)[0].first;
    const auto [tensor, of_tensor] = sorted(tensors)[0];
    std::string text = fmt::format(
        "The slowest link under the communication on the critical path is {} ({}), busy for {} of "
        "the step{}; {} takes longest ({}).",
        program_.cluster->links()[link].name,
        bandwidth_text(program_.cluster->links()[link].bandwidth),
        share_text(share(timeline_.link_busy[link])),
        time(Reason::LinkBusy) > communicates() / 2 ? ", with more waiting behind most of the time"
                                                    : "",
        program_.graph->tensor(tensor).name, time_text(of_tensor));
    if (ends.empty() || tasks.size() < 2 || timeline_.devices.size() < 3) return text;
    const auto [device, time] = sorted(ends)[0];
    if (time / all > 0.7)
      text += fmt::format(
          " {} of it goes to or from {}: spreading that over more devices (AllReduce, or more "
          "parameter servers) would relieve its link.",
          share_text(time / all), program_.cluster->device(device).name);
    return text;
  }

  std::string latency() const {
    std::set<TaskId> messages;
    for (const PathPiece& piece : pieces_)
      if (is_communication(program_.tasks[piece.task].kind)) messages.insert(piece.task);
    Nanos latency, moving;
    for (const TaskId id : messages) {
      latency += program_.tasks[id].latency;
      moving += timeline_.tasks[id].end - timeline_.tasks[id].start;
    }
    if (moving == Nanos(0) || latency / moving < 0.3) return {};
    return fmt::format(
        "{} of the communication on the critical path is latency, of {} messages: fewer and larger "
        "ones (gradients fused into buckets) would save most of it.",
        share_text(latency / moving), messages.size());
  }

  std::string stragglers() const {
    if (share(time(Reason::Process)) >= kWorthACause &&
        time(Reason::Process) >= time(Reason::Straggler))
      return "Fewer and larger kernels help: fused ops, larger micro-batches, less tensor "
             "parallelism.";
    if (share(time(Reason::Straggler)) < kWorthACause) return {};
    std::map<DeviceId, Nanos> devices;
    for (const PathPiece& piece : pieces_)
      if (piece.reason == Reason::Straggler)
        devices[program_.tasks[piece.task].device] += piece.end - piece.begin;
    const auto [device, held_up] = sorted(devices)[0];
    return fmt::format("{} ({}) holds up the others for {}: fewer samples there would help.",
                       program_.cluster->device(device).name, program_.cluster->gpu(device).name,
                       time_text(held_up));
  }

  const Timeline& timeline_;
  const Program& program_;
  const std::vector<PathPiece> pieces_;
  const std::array<Nanos, kReasons> times_;

 private:
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
};

class Writer : private PathWords {
 public:
  Writer(const Timeline& timeline, const std::vector<WhatIf>& what_ifs)
      : PathWords(timeline), what_ifs_(what_ifs) {}

  Why text(const ErrorBar& error, std::optional<Nanos> lower_bound) {
    if (pieces_.empty()) return {"Nothing runs.", {}, {}};
    find_limits();
    Why why;
    why.verdict = verdict();
    for (const Limit& limit : limits_) {
      std::string cause = fmt::format("{}, up to {} to gain. {}", capitalised(limit_name(limit.by)),
                                      share_text(share(limit.saves)), details(limit.by));
      if (cause.back() == ' ') cause.pop_back();
      (why.causes.size() < kCauses ? why.causes : why.more).push_back(std::move(cause));
    }
    path();
    if (limits_.empty())
      for (const By by : {By::Computing, By::Bandwidth, By::Latency, By::Waiting}) say(details(by));
    take_turns();
    stages();
    columns();
    recomputation();
    balance();
    remedies();
    bound(lower_bound);
    certainty(error);
    std::ranges::move(more_, std::back_inserter(why.more));
    return why;
  }

 private:
  void say(std::string sentence) {
    if (!sentence.empty()) more_.push_back(std::move(sentence));
  }
  const WhatIf* asked(What what) const {
    const auto found = std::ranges::find(what_ifs_, what, &WhatIf::what);
    return found == what_ifs_.end() ? nullptr : &*found;
  }
  // All devices, or the only one.
  const WhatIf* all_devices() const {
    const WhatIf* all = asked(What::Devices);
    return all != nullptr ? all : asked(What::Device);
  }
  bool is_first(By by) const { return !limits_.empty() && limits_.front().by == by; }
  bool are_alike() const {
    return limits_.size() > 1 && share(limits_[0].saves - limits_[1].saves) < kAlike;
  }

  // Each by a simulation without it. Faster devices would save the wait for the slowest of them,
  // too: that part is waiting.
  void find_limits() {
    if (what_ifs_.empty()) return;
    const auto saves = [&](const WhatIf* each) {
      return each == nullptr ? Nanos(0) : std::max(Nanos(0), step() - each->free);
    };
    const Nanos devices = saves(all_devices());
    const Nanos straggling = std::min(devices, time(Reason::Straggler));
    limits_ = {{By::Computing, devices - straggling},
               {By::Bandwidth, saves(asked(What::Network))},
               {By::Latency, saves(asked(What::Latency))},
               {By::Waiting, straggling + time(Reason::Process)}};
    std::erase_if(limits_, [&](const Limit& each) { return share(each.saves) < kWorthACause; });
    std::ranges::stable_sort(limits_, std::greater(), &Limit::saves);
  }

  std::string verdict() const {
    if (limits_.empty()) return fmt::format("A step takes {}.", time_text(step()));
    const auto still = [&](const Limit& limit) {
      const Nanos rest = step() - limit.saves;
      return fmt::format("{} ({})", time_text(rest), share_text(share(rest)));
    };
    const Limit& first = limits_.front();
    if (first.by == By::Waiting) {
      const bool kernels = time(Reason::Process) >= time(Reason::Straggler);
      return fmt::format("A step takes {}, and {} limits it: for {} of that devices wait for {}.",
                         time_text(step()), kernels ? "starting its kernels" : "waiting",
                         time_text(time(kernels ? Reason::Process : Reason::Straggler)),
                         kernels ? "the processes that drive them" : "slower ones");
    }
    if (are_alike() && limits_[1].by == By::Waiting)
      return fmt::format("A step takes {}; {} and waiting limit it about equally.",
                         time_text(step()), limit_name(first.by));
    if (are_alike())
      return fmt::format(
          "A step takes {}; {} and {} limit it about equally: with {} it would take {}, with {} "
          "{}.",
          time_text(step()), limit_name(first.by), limit_name(limits_[1].by),
          without_limit(first.by), still(first), without_limit(limits_[1].by), still(limits_[1]));
    return fmt::format("A step takes {}, and {} limits it: with {} it would take {}.",
                       time_text(step()), limit_name(first.by), without_limit(first.by),
                       still(first));
  }

  // Infinitely fast devices save what computing takes, and an infinitely fast network the rest:
  // then neither is hidden behind the other.
  void take_turns() {
    const WhatIf *network = asked(What::Network), *devices = all_devices();
    if (network == nullptr || devices == nullptr) return;
    const Nanos less = std::min(network->free, devices->free);
    if (share(less) > 0.15 && network->free + devices->free - step() < less / 4)
      say("Computing and communication take turns instead of overlapping.");
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
    if (!limits_.empty() && !are_alike() && !is_first(By::Waiting)) {
      const bool computing_limits = is_first(By::Computing);
      if ((computes() >= communicates()) != computing_limits)
        other = fmt::format("; a path through {} is nearly as long",
                            computing_limits ? "computing" : "communication");
    }
    say(fmt::format("Its critical path is {}{}.", joined(list), other));
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
    say(
        fmt::format("{}; on average {} until their first task, {} between their tasks and {} after "
                    "the last.",
                    capitalised(which + joined(named)), mean(before), mean(between), mean(after)));
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
      say(fmt::format(
          "The {} compute for {} of the step, the {} for {}{}.",
          program_.cluster->gpu_types()[most->first].name, share_text(mean(*most)),
          program_.cluster->gpu_types()[least->first].name, share_text(mean(*least)),
          !is_first(By::Bandwidth) && !is_first(By::Latency) && !are_alike() && mean(*least) > 0
              ? ": samples moved to these would even it out"
              : ""));
    } else {
      say(fmt::format("The devices compute for {} of the step on average.", share_text(busy)));
    }
    if (unused > 0)
      say(fmt::format("{} of {} devices {} not used.", unused, timeline_.devices.size(),
                      unused == 1 ? "is" : "are"));
  }

  // Says what 10 % more speed is worth, where it is worth anything, and which op, device or link
  // matters most.
  void remedies() {
    std::vector<std::string> parts;
    for (const WhatIf* each : {asked(What::Network), asked(What::Devices), asked(What::Latency)})
      if (each != nullptr && saved(each->faster) >= 0.005)
        parts.push_back(fmt::format(
            "{} 10 % {} {}{}", each->name, each->what == What::Latency ? "shorter" : "faster",
            parts.empty() ? "would save " : "", share_text(saved(each->faster))));
    const WhatIf* single = nullptr;  // what_ifs_ has the largest gain first
    for (const WhatIf& each : what_ifs_)
      if (single == nullptr && each.what != What::Devices && each.what != What::Network &&
          each.what != What::Latency)
        single = &each;
    if (single != nullptr && saved(single->free) >= 0.04) {
      const std::string gain = share_text(saved(single->free));
      parts.push_back(
          parts.empty() ? fmt::format("making {} infinitely fast would save {}", single->name, gain)
                        : fmt::format("{} infinitely fast {}", single->name, gain));
    }
    if (!parts.empty()) say(capitalised(joined(parts)) + ".");
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
    say(fmt::format("The uncertainty of the step time is ±{} ({} to {}): {}.",
                    share_text(error.relative), time_text(error.low), time_text(error.high),
                    sources));
  }

  const std::vector<WhatIf>& what_ifs_;
  std::vector<Limit> limits_;  // greatest first
  std::vector<std::string> more_;
};

}  // namespace

std::string Why::text() const {
  std::string text = verdict;
  for (const std::vector<std::string>* list : {&causes, &more})
    for (const std::string& sentence : *list) text += " " + sentence;
  return text;
}

Why why(const Timeline& timeline, const std::vector<WhatIf>& what_ifs, const ErrorBar& error,
        std::optional<Nanos> lower_bound) {
  return Writer(timeline, what_ifs).text(error, lower_bound);
}

}  // namespace strato
