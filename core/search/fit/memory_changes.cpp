#include "core/search/fit/memory_changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "core/program/value/offload.h"
#include "core/program/value/recompute.h"
#include "core/strategy/value/state_sharding.h"

namespace strato {
namespace {

class Changes {
 public:
  Changes(const Problem& problem, const Strategy& strategy)
      : graph_(*problem.graph), cluster_(*problem.cluster), now_(strategy) {
    std::set<std::vector<DeviceId>> places;
    for (const std::optional<Decision>& decision : now_.groups) {
      if (!decision) continue;
      std::vector<DeviceId> devices;
      for (const DeviceShare& share : decision->devices) devices.push_back(share.device);
      places.insert(std::move(devices));
    }
    stages_ = places.size();
  }

  std::vector<MemoryChange> all() && {
    recompute();
    divide_batch();
    share_states();
    offload();
    widen();
    return std::move(changes_);
  }

 private:
  using Kind = MemoryChange::Kind;

  // Unless it changes nothing.
  void add(Kind kind, bool saves, std::string words, std::function<Strategy(Strategy)> apply) {
    if (apply(now_) != now_) changes_.push_back({kind, std::move(words), saves, std::move(apply)});
  }

  void recompute() {
    const auto by = [&](Recompute which, bool saves, const char* words) {
      const std::vector<OpId> ops =
          recomputed_ops(graph_, which, most_under_way(now_.micro_batches, stages_));
      add(Kind::Recompute, saves, words, [ops](Strategy strategy) {
        strategy.recomputed = ops;
        strategy.offloaded = kept_ones(strategy.offloaded, ops);
        return strategy;
      });
    };
    if (!now_.recomputed.empty()) by(Recompute::None, false, "keep what is computed again");
    const std::size_t cheap = recomputed_ops(graph_, Recompute::Cheap).size();
    by(Recompute::Cheap, now_.recomputed.size() < cheap, "compute cheap ops again");
    by(Recompute::Blocks, true, "compute blocks of the model again");
  }

  // Rows that have samples of their own, of the decision that has most.
  std::int64_t rows() const {
    std::int64_t most = 1;
    for (const std::optional<Decision>& decision : now_.groups)
      if (decision)
        most = std::max(most, std::ssize(decision->devices) /
                                  static_cast<std::int64_t>(columns_of(*decision) *
                                                            context_rows_of(*decision)));
    return most;
  }

  void divide_batch() {
    const std::int32_t count = now_.micro_batches.count;
    if (now_.micro_batches.schedule == PipelineSchedule::ByHand) return;
    const auto into = [&](std::int64_t parts, bool saves) {
      if (parts < 1 || graph_.batch() % parts != 0 || graph_.batch() / parts < rows()) return;
      add(Kind::MicroBatches, saves,
          parts == 1 ? "take the batch as a whole"
                     : fmt::format("divide the batch into {} micro-batches{}", parts,
                                   count > 1 ? fmt::format(" (now {})", count) : ""),
          [parts](Strategy strategy) {
            strategy.micro_batches.count = static_cast<std::int32_t>(parts);
            return strategy;
          });
    };
    if (count % 2 == 0) into(count / 2, false);
    for (const std::int64_t factor : {2, 4, 8, 16}) into(count * factor, true);
  }

  void share_states() {
    std::int32_t stage = 0, rows = 0;
    for (const std::optional<Decision>& decision : now_.groups)
      if (decision && state_rows_of(*decision) > 1) {
        stage = std::max(stage, decision->roles.states.stage);
        rows = decision->roles.states.rows;
      }
    constexpr std::array<const char*, StateSharding::kMostStage + 1> words = {
        "keep all states on every row", "keep parts of optimizer states (ZeRO 1)",
        "keep parts of optimizer states and gradients (ZeRO 2)",
        "keep parts of optimizer states, gradients and parameters (ZeRO 3, FSDP)"};
    for (std::int32_t next = 0; next <= StateSharding::kMostStage; ++next)
      add(Kind::States, next > stage, words[static_cast<std::size_t>(next)],
          [next, rows](Strategy strategy) {
            strato::share_states(strategy, {.stage = next, .rows = next > 0 ? rows : 0});
            return strategy;
          });
  }

  void offload() {
    if (!may_try_hosts(cluster_)) return;
    const auto by = [&](Offload which, bool saves, const char* words) {
      add(Kind::Offload, saves, words, [ops = offloaded_ops(graph_, which)](Strategy strategy) {
        strategy.offloaded = kept_ones(ops, strategy.recomputed);
        return strategy;
      });
    };
    const bool some = !now_.offloaded.empty();
    if (some) by(Offload::None, false, "keep everything on the devices");
    by(Offload::States, !some, "keep optimizer states on hosts");
    by(Offload::Activations, !some, "keep activations on hosts");
    by(Offload::All, true, "keep optimizer states and activations on hosts");
  }

  // Each row stays in a machine, or the columns that it gains would be across two.
  static bool in_machines(const Decision& decision, const Cluster& cluster, std::size_t columns) {
    for (std::size_t i = 0; i < decision.devices.size(); ++i) {
      const DeviceId first = decision.devices[i - i % columns].device;
      if (cluster.device(first).machine != cluster.device(decision.devices[i].device).machine)
        return false;
    }
    return true;
  }

  void widen() {
    const auto columns = [&](bool more) {
      return [more, &cluster = cluster_](Strategy strategy) {
        for (std::optional<Decision>& decision : strategy.groups) {
          if (!decision || decision->mode != Mode::ReplicateAllReduce) continue;
          const std::size_t now = columns_of(*decision);
          const std::size_t next = more ? 2 * now : now / 2;
          if (next < 1 || (!more && now % 2 != 0) || decision->devices.size() % next != 0 ||
              !has_equal_weights(decision->devices) || !in_machines(*decision, cluster, next))
            continue;
          decision->roles.tensor = static_cast<std::int32_t>(next);
          drop_meaningless_roles(*decision);
        }
        return strategy;
      };
    };
    std::size_t now = 1;
    for (const std::optional<Decision>& decision : now_.groups)
      if (decision) now = std::max(now, columns_of(*decision));
    add(Kind::Tensor, true,
        fmt::format("{} columns instead of {} (tensor parallelism)", 2 * now, now), columns(true));
    if (now > 1)
      add(Kind::Tensor, false,
          fmt::format("{} columns instead of {} (tensor parallelism)", now / 2, now),
          columns(false));
  }

  const Graph& graph_;
  const Cluster& cluster_;
  const Strategy& now_;
  std::size_t stages_ = 1;  // sets of devices
  std::vector<MemoryChange> changes_;
};

}  // namespace

std::vector<MemoryChange> memory_changes(const Problem& problem, const Strategy& strategy) {
  return Changes(problem, strategy).all();
}

}  // namespace strato
