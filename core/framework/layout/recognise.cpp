#include "core/framework/layout/recognise.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "core/base/at.h"
#include "core/base/error.h"

namespace strato::frameworks {
namespace {

[[noreturn]] void refuse(
    const std::string& what,
    const char* remedy = "choose a plan of the planner pipeline, meshes or configuration") {
  throw InputError("", "strategy", what, remedy);
}

bool goes_there_and_back(PipelineSchedule schedule) {
  return schedule == PipelineSchedule::ZbV || schedule == PipelineSchedule::DualPipeV;
}

class Recognition {
 public:
  Recognition(const Problem& problem, const Strategy& strategy)
      : problem_(problem_for(problem, strategy)),
        graph_(*problem_.graph),
        cluster_(*problem_.cluster),
        grouping_(*problem_.grouping),
        strategy_(complete(strategy, cluster_)) {
    found_.layers = model_layers(graph_);
  }

  Recognised run() && {
    check_schedule();
    read_roles();
    read_stages();
    read_blocks();
    read_samples();
    read_recomputation();
    read_offloading();
    tell_what_is_left();
    return std::move(found_);
  }

 private:
  const Decision& decision_of(GroupId group) const { return *strategy_.groups[group]; }
  TrainingLayout& layout() { return found_.layout; }
  template <class... Values>
  void differs(fmt::format_string<Values...> text, Values&&... values) {
    found_.differences.push_back(fmt::format(text, std::forward<Values>(values)...));
  }

  void check_schedule() {
    const MicroBatches& micro = strategy_.micro_batches;
    if (micro.schedule == PipelineSchedule::ByHand)
      refuse("its micro-batches follow a table that is given by hand");
    if (goes_there_and_back(micro.schedule))
      refuse(fmt::format("its stages are visited there and back ({})", name_of(micro.schedule)),
             "plan with the schedule 1f1b or interleaved");
    layout().schedule = micro.schedule;
    layout().micro_batches = micro.count;
  }

  // Those of the first group; all others have the same.
  void read_roles() {
    const Decision& first = *strategy_.groups.front();
    for (const GroupId group : strategy_.groups.ids()) {
      const Decision& decision = decision_of(group);
      const std::string& name = grouping_.group(group).name;
      if (decision.mode != Mode::ReplicateAllReduce && decision.devices.size() > 1)
        refuse(fmt::format("op group \"{}\" is in the mode {}", name, name_of(decision.mode)));
      if (decision.devices.size() != first.devices.size())
        refuse(fmt::format("op group \"{}\" is on {} devices and \"{}\" on {}", name,
                           decision.devices.size(), grouping_.group(GroupId(0)).name,
                           first.devices.size()));
      if (decision.roles != first.roles)
        refuse(fmt::format(
            "op group \"{}\" has other roles (tensor, context, expert, ZeRO) than \"{}\"", name,
            grouping_.group(GroupId(0)).name));
      uneven_ |= !has_equal_weights(decision.devices);
    }
    layout().tensor = static_cast<std::int32_t>(columns_of(first));
    layout().pieces = layout().tensor > 1 ? first.roles.pieces : 1;
    layout().sequence = layout().tensor == 1 || first.roles.sequence;
    layout().context = static_cast<std::int32_t>(context_rows_of(first));
    layout().rows =
        static_cast<std::int32_t>(first.devices.size()) / (layout().tensor * layout().context);
    layout().expert = static_cast<std::int32_t>(expert_rows_of(first));
    const auto state_rows = static_cast<std::int32_t>(state_rows_of(first));
    if (state_rows > 1) layout().states = first.roles.states;
    layout().states.rows = state_rows > 1 && state_rows < layout().all_rows() ? state_rows : 0;
  }

  // As many devices that follow each other for each stage.
  void read_stages() {
    const std::size_t each = strategy_.groups.front()->devices.size();
    std::set<std::size_t> seen;
    for (const GroupId group : strategy_.groups.ids()) {
      const std::vector<DeviceShare>& devices = decision_of(group).devices;
      const std::size_t first = devices.front().device.index();
      if (first % each != 0 || devices.back().device.index() != first + each - 1)
        refuse(fmt::format("op group \"{}\" is on devices that are no stage of a pipeline ({})",
                           grouping_.group(group).name, describe(decision_of(group), cluster_)));
      seen.insert(first / each);
    }
    if (seen.size() * each != cluster_.device_count())
      refuse(fmt::format("only {} of {} devices have op groups", seen.size() * each,
                         cluster_.device_count()));
    each_ = each;
    layout().stages = static_cast<std::int32_t>(seen.size());
    if (layout().stages == 1 && layout().micro_batches > 1 &&
        layout().schedule != PipelineSchedule::OneFOneB)
      differs(
          "its micro-batches run by {} on their one stage, and one after the other by frameworks",
          name_of(layout().schedule));
  }

  std::int32_t stage_of(OpId op) const {
    const DeviceId first = decision_of(grouping_.group_of(op)).devices.front().device;
    return static_cast<std::int32_t>(first.index() / each_);
  }

  // By place in the model the stage that has most of its ops; notes layers that are on several.
  std::vector<std::int32_t> stages_of_places() {
    std::vector<std::map<std::int32_t, std::int64_t>> ops(at(found_.layers.count) + 2);
    for (const OpId op : graph_.ops().ids())
      if (const Phase phase = graph_.op(op).phase; phase == Phase::Forward || phase == Phase::Loss)
        ++ops[at(found_.layers.place_of[op.index()])][stage_of(op)];
    std::vector<std::int32_t> stages, cut;
    for (std::size_t place = 0; place < ops.size(); ++place) {
      if (ops[place].empty()) ops[place][stages.empty() ? 0 : stages.back()] = 0;
      const auto most =
          std::ranges::max_element(ops[place], {}, [](const auto& stage) { return stage.second; });
      if (ops[place].size() > 1) cut.push_back(static_cast<std::int32_t>(place) - 1);
      stages.push_back(most->first);
    }
    if (found_.layers.tied && stages.back() != stages[stages.size() - 2]) {
      differs(
          "the head is computed at stage {}, which has the table that it shares with the "
          "embedding; here both ends of the pipeline have it",
          stages.back() + 1);
      stages.back() = stages[stages.size() - 2];
    }
    tell_of_cut(std::move(cut));
    return stages;
  }

  void tell_of_cut(std::vector<std::int32_t> cut) {
    std::erase_if(cut, [&](std::int32_t layer) {
      return layer == found_.layers.count && found_.layers.tied;
    });
    if (cut.empty()) return;
    std::vector<std::string> names;
    for (const std::int32_t layer : cut)
      names.push_back(layer < 0                      ? "the embedding"
                      : layer == found_.layers.count ? "the head"
                                                     : fmt::format("layer {}", layer));
    differs("stages begin within {}; here each of these is whole, where most of it is",
            fmt::join(names, ", "));
  }

  void read_blocks() {
    const std::int32_t stages = layout().stages, last = found_.layers.count + 1;
    const std::vector<std::int32_t> stage_of_place = stages_of_places();
    std::vector<Block>& blocks = layout().blocks = {Block{}};
    const auto stage = [&] { return static_cast<std::int32_t>(blocks.size() - 1) % stages; };
    for (std::int32_t place = 0; place <= last; ++place) {
      while (stage() != stage_of_place[at(place)]) blocks.emplace_back();
      Block& block = blocks.back();
      if (place == 0)
        block.embedding = true;
      else if (place == last)
        block.head = true;
      else
        ++block.layers;
    }
    while (blocks.size() % at(stages) != 0) blocks.emplace_back();
    layout().chunks = static_cast<std::int32_t>(blocks.size()) / stages;
    if (std::ranges::find(blocks, Block{}) != blocks.end())
      refuse(layout().chunks > 1
                 ? "its stages do not follow each other along the model in equally many turns"
                 : "a stage has less than half a layer");
  }

  void read_samples() {
    const std::int64_t parts = std::int64_t{layout().rows} * layout().micro_batches;
    if (graph_.batch() % parts != 0)
      refuse(fmt::format("{} samples are no equal parts for {} rows in {} micro-batches",
                         graph_.batch(), layout().rows, layout().micro_batches));
    layout().micro_batch_size = graph_.batch() / parts;
    if (uneven_) differs("devices have unequal shares of the batch; here they are equal");
  }

  // As for one of the numbers of passes under way that pipelines of so many stages have.
  void read_recomputation() {
    if (strategy_.recomputed.empty()) return;
    const std::int64_t stages = layout().stages;
    for (const Recompute which : {Recompute::Cheap, Recompute::Blocks})
      for (const std::int64_t in_flight :
           std::set{stages * layout().chunks, std::int64_t{layout().micro_batches}, stages,
                    2 * stages, 4 * stages, std::int64_t{1}}) {
        if (strategy_.recomputed != recomputed_ops(graph_, which, in_flight)) continue;
        layout().recompute = which;
        if (which == Recompute::Blocks)
          layout().recomputed_layers =
              found_.layers.count / std::max(1, layers_with_kept_results());
        return;
      }
    refuse(fmt::format("{} ops are computed again: neither blocks of layers nor what is cheap",
                       strategy_.recomputed.size()));
  }

  std::int32_t layers_with_kept_results() const {
    std::set<std::int32_t> layers;
    for (const OpId op : graph_.ops().ids()) {
      const std::int32_t place = found_.layers.place_of[op.index()];
      if (place >= 1 && place <= found_.layers.count && may_recompute(graph_, op) &&
          !std::ranges::binary_search(strategy_.recomputed, op))
        layers.insert(place);
    }
    return static_cast<std::int32_t>(layers.size());
  }

  void read_offloading() {
    if (strategy_.offloaded.empty()) return;
    for (const Offload which : {Offload::States, Offload::Activations, Offload::All}) {
      if (strategy_.offloaded != kept_ones(offloaded_ops(graph_, which), strategy_.recomputed))
        continue;
      layout().offload = which;
      return;
    }
    refuse(fmt::format("what {} ops leave on hosts is neither states, activations nor all",
                       strategy_.offloaded.size()));
  }

  void tell_what_is_left() {
    if (!strategy_.duplicated.empty())
      differs("{} ops are computed by every device instead of being synchronised",
              strategy_.duplicated.size());
    if (!strategy_.splits.empty())
      differs("{} ops are split along an axis of their own", strategy_.splits.size());
    if (!strategy_.variables.empty())
      differs("{} variables are synchronised in a way of their own", strategy_.variables.size());
    if (!strategy_.priorities.empty()) differs("ops have an order of their own");
    if (layout().states.stage > 0 && layout().states.smallest != StateSharding::kSmallest)
      differs("parameters below {} bytes stay whole", layout().states.smallest.value);
    layout().states.smallest = StateSharding::kSmallest;
  }

  const Problem problem_;
  const Graph& graph_;
  const Cluster& cluster_;
  const Grouping& grouping_;
  const Strategy strategy_;
  bool uneven_ = false;
  std::size_t each_ = 1;  // devices of a stage
  Recognised found_;
};

}  // namespace

Recognised recognise(const Problem& problem, const Strategy& strategy) {
  return Recognition(problem, strategy).run();
}

}  // namespace strato::frameworks
