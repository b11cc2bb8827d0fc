// A folder that torchrun trains by the plan: train.py, which is the same for every plan, the
// training graph (graph.json) and the program of each rank (rank-0.json, ...): data, never code.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/plugin/api/plugin.h"
#include "core/program/project/rank_programs.h"
#include "core/program/rank/rank_program.h"
#include "core/program/value/program_task.h"
#include "core/sim/timeline/timeline.h"
#include "plugins/exporters/pytorch/graph_json.h"
#include "train_text.h"

namespace strato::pytorch_export {
namespace {

// As train.py reads a piece: [axis, begin, end] for each axis of which the part has not all.
Json part_json(const Part& part) {
  Json json = Json::array();
  for (const AxisRange& range : part.ranges())
    json.push_back({int{range.axis}, range.begin, range.end});
  return json;
}

class Folder {
 public:
  explicit Folder(const ExportInput& input)
      : timeline_(*input.outcome.timeline),
        cluster_(*timeline_.program->cluster),
        programs_(rank_programs(*timeline_.program, execution_order(timeline_))),
        graph_(*programs_.graph) {
    check_termination(programs_, graph_.name());
    std::set<Group> groups;
    for (const RankProgram& rank : programs_.ranks) {
      refuse_values(rank);
      for (std::size_t i = 0; i < rank.instructions.size(); ++i)
        if (!rank.members[i].empty()) groups.insert(group_of(rank, i));
    }
    groups_.assign(groups.begin(), groups.end());
  }

  std::vector<ExportedFile> write() {
    Json graph = graph_json(graph_);
    graph["ranks"] = programs_.ranks.size();
    graph["groups"] = Json::array();
    for (const Group& group : groups_) graph["groups"].push_back(group.second);
    graph["parameters"] = parameters();
    std::vector<ExportedFile> files{
        {"train.py", kTrainText}, {"README.md", readme()}, {"graph.json", json_text(graph) + "\n"}};
    for (const RankProgram& rank : programs_.ranks)
      files.push_back({fmt::format("rank-{}.json", rank.rank), rank_text(rank)});
    return files;
  }

 private:
  std::vector<int> ranks_of(std::span<const DeviceId> devices) const {
    std::vector<int> ranks;
    for (const DeviceId device : devices) ranks.push_back(programs_.rank_of(device));
    return ranks;
  }

  using Group = std::pair<Stream, std::vector<int>>;  // and the ranks of its members
  Group group_of(const RankProgram& rank, std::size_t i) const {
    return {rank.instructions[i].stream, ranks_of(rank.members[i])};
  }
  std::size_t number_of(const Group& group) const {
    const auto at = std::lower_bound(groups_.begin(), groups_.end(), group);
    return static_cast<std::size_t>(at - groups_.begin());
  }

  static Json losses_of(const RankProgram& rank) {
    Json losses = Json::array();
    for (const ValueId loss : rank.losses) losses.push_back(loss.value());
    return losses;
  }

  // Says where a parameter is after a step: with who updates it; frozen, with who has it. Each
  // piece is there once.
  Json parameters() const {
    Json json = Json::array();
    for (std::size_t i = 0; i < graph_.tensor_count(); ++i) {
      if (graph_.tensor(TensorId(i)).role != TensorRole::Parameter) continue;
      Json owners = owners_of(TensorId(i));
      if (!owners.empty()) json.push_back({i, std::move(owners)});
    }
    return json;
  }

  Json owners_of(TensorId parameter) const {
    const bool trained = graph_.update_of(parameter).valid();
    Json owners = Json::array();
    std::unordered_set<Part, PartHash> seen;
    for (const RankProgram& rank : programs_.ranks) {
      for (const ValueId id : trained ? updated(rank, parameter) : held(rank, parameter)) {
        const Part& part = rank.values[id].part;
        if (part.is_whole()) owners.clear();  // one has all of it
        if (seen.insert(part).second) owners.push_back({rank.rank, id.value(), part_json(part)});
        if (part.is_whole()) return owners;
      }
    }
    return owners;
  }

  static std::vector<ValueId> updated(const RankProgram& rank, TensorId parameter) {
    std::vector<ValueId> values;
    for (std::size_t i = 0; i < rank.instructions.size(); ++i) {
      if (rank.instructions[i].kind != InstructionKind::Update) continue;
      const ValueId value = rank.reads[i][0];
      if (rank.values[value].tensor == parameter) values.push_back(value);
    }
    return values;
  }

  static std::vector<ValueId> held(const RankProgram& rank, TensorId parameter) {
    std::vector<ValueId> values;
    for (const ValueId id : rank.values.ids())
      if (rank.values[id].resident && rank.values[id].tensor == parameter) values.push_back(id);
    return values;
  }

  // One value and one instruction a line.
  std::string rank_text(const RankProgram& rank) const {
    std::string text =
        fmt::format("{{\"rank\": {}, \"device\": {}, \"losses\": {},\n\"values\": [\n", rank.rank,
                    json_text(Json(cluster_.device(rank.device).name)), json_text(losses_of(rank)));
    for (std::size_t i = 0; i < rank.values.size(); ++i) {
      const Value& value = rank.values[ValueId(i)];
      const int flags = (value.resident ? 1 : 0) + (value.on_host ? 2 : 0);
      const Json row{value.tensor.value(), part_json(value.part), flags};
      text += json_text(row) + (i + 1 < rank.values.size() ? ",\n" : "\n");
    }
    text += "],\n\"instructions\": [\n";
    for (std::size_t i = 0; i < rank.instructions.size(); ++i)
      text +=
          json_text(instruction_json(rank, i)) + (i + 1 < rank.instructions.size() ? ",\n" : "\n");
    return text + "]}\n";
  }

  // Refuses what train.py cannot do yet: variables that are synchronised encoded or stale.
  void refuse_values(const RankProgram& rank) const {
    for (const Value& value : rank.values)
      if (value.encoding != Encoding::None ||
          (value.resident && graph_.tensor(value.tensor).producer.valid()))
        throw InputError("", fmt::format("variable of \"{}\"", graph_.tensor(value.tensor).name),
                         "is synchronised encoded or stale, which train.py cannot do",
                         "launch the plan, or leave the variable out of its \"variables\"");
  }

  // The part that an instruction works on or makes; what moves is named by the value that is there,
  // which the tensor that is sent may be a view of.
  static const Part& part_of(const RankProgram& rank, std::size_t i) {
    const Instruction& what = rank.instructions[i];
    if (!what.peer.valid()) return what.part;
    const bool sends = what.kind == InstructionKind::Send;
    const Value& value = rank.values[(sends ? rank.reads : rank.writes)[i][0]];
    return moves_slice(what, value) ? what.part : value.part;
  }

  // By member, what an AllGather puts together.
  static Json gathered_pieces(const RankProgram& rank, std::size_t i) {
    const Part part = rank.values[rank.reads[i][0]].part.summed_up();
    return pieces_along(joined_axis(part, rank.instructions[i].part), rank.cuts[i], part);
  }

  static Json pieces_along(int axis, std::span<const std::int32_t> cuts, const Part& part) {
    AxisRange range{static_cast<std::int8_t>(axis), 0, 0};
    Json pieces = Json::array();
    for (std::size_t member = 0; member + 1 < cuts.size(); ++member) {
      range.begin = cuts[member];
      range.end = cuts[member + 1];
      pieces.push_back(part_json(part.cut(range)));
    }
    return pieces;
  }

  // By member, what it gets of ours, and what ours is made of. What was summed up in place is
  // called a partial sum still.
  static void add_swapped_pieces(const RankProgram& rank, std::size_t i, Json& json) {
    const Part from = rank.values[rank.reads[i][0]].part.summed_up(),
               to = rank.values[rank.writes[i][0]].part;
    const Part& all = rank.instructions[i].part;
    const std::size_t count = rank.members[i].size() + 1;
    json["pieces"] = pieces_along(joined_axis(to, all), rank.cuts[i].last(count), from);
    json["made_of"] = pieces_along(joined_axis(from, all), rank.cuts[i].first(count), to);
  }

  Json instruction_json(const RankProgram& rank, std::size_t i) const {
    const Instruction& instruction = rank.instructions[i];
    Json json{{"do", name_of(instruction.kind)}};
    if (instruction.op.valid()) {
      json["op"] = instruction.op.value();
      json["name"] = graph_.op(instruction.op).name;
    }
    json["piece"] = part_json(part_of(rank, i));
    json["reads"] = numbers_of(rank.reads[i]);
    json["writes"] = numbers_of(rank.writes[i]);
    json["waits"] = std::vector<std::uint32_t>(rank.waits[i].begin(), rank.waits[i].end());
    json["releases"] = numbers_of(rank.releases[i]);
    if (instruction.peer.valid()) {
      json["peer"] = programs_.rank_of(instruction.peer);
      json["tag"] = instruction.task.value();
    }
    if (!rank.members[i].empty()) json["group"] = number_of(group_of(rank, i));
    if (instruction.kind == InstructionKind::AllGather) json["pieces"] = gathered_pieces(rank, i);
    if (instruction.kind == InstructionKind::AllToAll) add_swapped_pieces(rank, i, json);
    return json;
  }

  std::string readme() const;

  const Timeline& timeline_;
  const Cluster& cluster_;
  RankPrograms programs_;
  const Graph& graph_;
  std::vector<Group> groups_;  // every rank makes all of them, in this order
};

std::string Folder::readme() const {
  std::string devices;
  for (const RankProgram& rank : programs_.ranks)
    devices += fmt::format("| {} | {} | {} |\n", rank.rank, cluster_.device(rank.device).name,
                           cluster_.gpu(rank.device).name);
  return fmt::format(
      R"(# {0} on {1}

A training plan that PyTorch runs, one process a device (PyTorch 1.13 or newer, nothing else):

    torchrun --nproc_per_node {2} train.py --steps 3 --keep out

(Where torchrun 1.13 fails in `to_map`, it meets Python 3.11: add `-r 1 -t 1`.) On several machines
start torchrun on each (`--nnodes`, `--node_rank`, `--rdzv_endpoint`), with as many processes as it has
devices below, in this order. `--backend nccl` where each process has a GPU of its
own, `gloo` without; `train.py --help` says more. Rank 0 prints the loss of each step;
`--keep out` writes the parameters, by name, to out/parameters.pt.

Parameters and inputs are synthetic, made from `--seed`: the same as Stratoscope's own engine makes, which
reaches the same parameters up to rounding. With `--weights JOB/weights --inputs JOB/inputs`, of the folder
of a job that Stratoscope launched on real data (or another checkpoint of it), both are those (NumPy reads
them). The global batch is {3}.

| file | |
|---|---|
| train.py | the program, the same for every plan; the only file that is executed |
| graph.json | the training graph: tensors, ops, gradients and updates |
| rank-R.json | what rank R does in a step |

| rank | device | GPU of the plan |
|---|---|---|
{4})",
      graph_.name(), cluster_.name(), programs_.ranks.size(), graph_.batch(), devices);
}

std::vector<ExportedFile> export_pytorch(const ExportInput& input) { return Folder(input).write(); }

}  // namespace
}  // namespace strato::pytorch_export

STRATOSCOPE_EXPORTER_FUNCTION(strato::pytorch_export::export_pytorch)
