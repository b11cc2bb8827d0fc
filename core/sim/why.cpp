#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/base/quantity_text.h"
#include "core/sim/explain.h"

namespace strato {
namespace {

std::string share_text(double fraction) {
  const double percent = 100 * fraction;
  return percent > 0 && percent < 1 ? "below 1 %" : fmt::format("{:.0f} %", percent);
}

// The key with most time; ties: the smallest.
template <class Key>
std::pair<Key, Nanos> most(const std::map<Key, Nanos>& times) {
  std::pair<Key, Nanos> best;
  for (const auto& [key, time] : times)
    if (time > best.second) best = {key, time};
  return best;
}

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
    composition();
    computing();
    communicating();
    stragglers();
    use();
    remedies();
    bound(lower_bound);
    certainty(error);
    return std::move(text_);
  }

 private:
  Nanos time(Reason reason) const { return times_[static_cast<std::size_t>(reason)]; }
  double share(Nanos time) const { return time / timeline_.step_time; }
  Nanos computes() const { return time(Reason::Compute) + time(Reason::DeviceBusy); }
  Nanos communicates() const {
    return time(Reason::Transfer) + time(Reason::Collective) + time(Reason::LinkBusy);
  }
  void say(const std::string& sentence) {
    if (!text_.empty()) text_ += " ";
    text_ += sentence;
  }

  // What the step consists of, largest first.
  void composition() {
    std::vector<std::pair<Nanos, std::string>> parts = {
        {computes(), "computing"},
        {communicates(), "communication"},
        {time(Reason::Straggler), "waiting for slower devices"},
        {time(Reason::Reshuffle), "splitting and joining tensors"}};
    std::stable_sort(parts.begin(), parts.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    std::string list;
    for (const auto& [part, what] : parts)
      if (part > Nanos(0))
        list += fmt::format("{}{} {}", list.empty() ? "" : ", ", share_text(share(part)), what);
    say(fmt::format("A step takes {}, on its critical path: {}.", time_text(timeline_.step_time),
                    list));
  }

  void computing() {
    if (share(computes()) < 0.1) return;
    std::map<DeviceId, Nanos> devices;
    std::map<OpId, Nanos> ops;
    for (const PathPiece& piece : pieces_) {
      if (piece.reason != Reason::Compute && piece.reason != Reason::DeviceBusy) continue;
      const Task& task = program_.tasks[piece.task];
      devices[task.device] += piece.end - piece.begin;
      if (task.op.valid()) ops[task.op] += piece.end - piece.begin;
    }
    const auto [device, on_device] = most(devices);
    const auto [op, in_op] = most(ops);
    say(fmt::format("The computing is {} on {} ({}); its longest op is {} ({}, {} of the step).",
                    devices.size() == 1 ? "all" : "mostly", program_.cluster->device(device).name,
                    program_.cluster->gpu(device).name, program_.graph->op(op).name,
                    time_text(in_op), share_text(share(in_op))));
  }

  // The slowest link of a communication task.
  LinkId bottleneck(TaskId id) const {
    LinkId slowest;
    const std::size_t streams = 2 * program_.cluster->device_count();
    for (ResourceId resource : program_.resources[id.index()]) {
      if (resource.index() < streams) continue;
      const LinkId link(resource.index() - streams);
      if (!slowest.valid() || program_.cluster->links()[link].bandwidth <
                                  program_.cluster->links()[slowest].bandwidth)
        slowest = link;
    }
    return slowest;
  }

  void communicating() {
    if (share(communicates()) < 0.1) return;
    std::map<LinkId, Nanos> links;
    std::map<TensorId, Nanos> tensors;
    for (const PathPiece& piece : pieces_) {
      const Task& task = program_.tasks[piece.task];
      if (!is_communication(task.kind) || piece.reason == Reason::Straggler) continue;
      links[bottleneck(piece.task)] += piece.end - piece.begin;
      tensors[task.tensor] += piece.end - piece.begin;
    }
    const auto [link, on_link] = most(links);
    const auto [tensor, of_tensor] = most(tensors);
    std::string queue;
    if (time(Reason::LinkBusy) > communicates() / 4)
      queue = fmt::format(", for {} of it with more waiting behind",
                          share_text(time(Reason::LinkBusy) / communicates()));
    say(fmt::format("The communication is limited mostly by {} ({}), busy for {} of the step{}; "
                    "{} takes longest ({}).",
                    program_.cluster->links()[link].name,
                    bandwidth_text(program_.cluster->links()[link].bandwidth),
                    share_text(share(timeline_.link_busy[link])), queue,
                    program_.graph->tensor(tensor).name, time_text(of_tensor)));
  }

  void stragglers() {
    if (share(time(Reason::Straggler)) < 0.05) return;
    std::map<DeviceId, Nanos> devices;
    for (const PathPiece& piece : pieces_)
      if (piece.reason == Reason::Straggler)
        devices[program_.tasks[piece.task].device] += piece.end - piece.begin;
    const auto [device, held_up] = most(devices);
    say(fmt::format("{} ({}) is the straggler: the others wait for it for {}; give it fewer samples.",
                    program_.cluster->device(device).name, program_.cluster->gpu(device).name,
                    time_text(held_up)));
  }

  // How busy the devices are, where that says something new.
  void use() {
    if (timeline_.devices.size() < 2) return;
    double busy = 0;
    DeviceId least;
    for (std::size_t d = 0; d < timeline_.devices.size(); ++d) {
      busy += share(timeline_.devices[DeviceId(d)].compute_busy);
      if (!least.valid() || timeline_.devices[DeviceId(d)].compute_busy <
                                timeline_.devices[least].compute_busy)
        least = DeviceId(d);
    }
    busy /= static_cast<double>(timeline_.devices.size());
    say(fmt::format("The devices compute for {} of the step on average, {} least ({}).",
                    share_text(busy), program_.cluster->device(least).name,
                    share_text(share(timeline_.devices[least].compute_busy))));
  }

  // The one or two things that would help most.
  void remedies() {
    std::string list;
    int named = 0;
    for (const WhatIf& each : what_ifs_) {
      const Nanos gain = timeline_.step_time - each.free;
      if (named == 2 || share(gain) < 0.01) break;
      const bool links = each.what == WhatIf::What::Link || each.what == WhatIf::What::Network;
      list += fmt::format("{}{} 10 % faster would save {}, infinitely fast {}",
                          list.empty() ? "" : "; ", each.name,
                          share_text(share(timeline_.step_time - each.faster)),
                          share_text(share(gain)));
      ++named;
      (void)links;
    }
    if (!list.empty()) say(fmt::format("What would help most: {}.", list));
  }

  void bound(std::optional<Nanos> lower_bound) {
    if (!lower_bound || *lower_bound <= Nanos(0)) return;
    say(fmt::format("No strategy is faster than {}: {} of this step.", time_text(*lower_bound),
                    share_text(share(*lower_bound))));
  }

  void certainty(const ErrorBar& error) {
    if (error.relative <= 0) return;
    say(fmt::format("The step time is sure to ±{} ({} to {}): {}.", share_text(error.relative),
                    time_text(error.low), time_text(error.high), sources(error)));
  }
  static std::string sources(const ErrorBar& error) {
    if (error.profile + error.fit < 0.005) return "nothing on the path was measured";
    return fmt::format("of the path {} was measured, {} fitted, {} from formulas",
                       share_text(error.profile), share_text(error.fit),
                       share_text(error.analytic));
  }

  const Timeline& timeline_;
  const Program& program_;
  const std::vector<WhatIf>& what_ifs_;
  std::vector<PathPiece> pieces_;
  std::array<Nanos, kReasons> times_;
  std::string text_;
};

}  // namespace

std::string why(const Timeline& timeline, const std::vector<WhatIf>& what_ifs, const ErrorBar& error,
                std::optional<Nanos> lower_bound) {
  return Writer(timeline, what_ifs).text(error, lower_bound);
}

}  // namespace strato
