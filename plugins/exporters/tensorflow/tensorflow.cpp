// Device placement and order as JSON, for whoever rewrites a TensorFlow graph by node name:
//
//   {"format": "stratoscope-tensorflow", "version": 1,
//    "model": "vgg19", "batch": 96, "cluster": "TAG testbed",
//    "devices": {"v100:0": "/job:worker/replica:0/task:0/device:GPU:0", ...},
//    "nodes": {
//      "conv1": {"mode": "replicate-allreduce", "devices": ["/job:worker/...", "/job:worker/..."],
//                "samples": [[0, 64], [64, 96]], "priority": 3},
//      "fc6":   {"devices": ["/job:worker/...", "/job:worker/..."],
//                "split": {"axis": 1, "slices": [[0, 2048], [2048, 4096]]}},
//      "relu":  {"mode": "model-parallel", "devices": ["/job:worker/..."]}, ...},
//    "order": {"/job:worker/replica:0/task:0/device:GPU:0": ["conv1", "relu", ...], ...}}
//
// A task is a machine of the cluster, a GPU's number its place in its machine. A node's key is the
// op's name in the model; ops of the training graph (gradients, updates) are named after theirs.
//   devices   who computes the op, ascending; of a reshape or other view: who computes its input
//   mode      how the copies are kept equal: the group's, or "duplicate" where each computes all
//   samples   of each device, [first, last) of the global batch; missing where each has all of it
//   split     each device makes a slice of the first output along `axis`, of the whole batch; of an
//             update: a slice of the parameter
//   priority  smaller runs first; missing where the strategy has no order
//   order     what each device computes, one after the other, as simulated
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/io/json.h"
#include "core/plugin/api/plugin.h"

namespace strato {
namespace {

IdVector<DeviceId, std::string> device_names(const Cluster& cluster) {
  IdVector<DeviceId, std::string> names;
  IdVector<MachineId, int> gpus(cluster.machines().size(), 0);
  for (const Device& device : cluster.devices())
    names.push_back(fmt::format("/job:worker/replica:0/task:{}/device:GPU:{}",
                                device.machine.value(), gpus[device.machine]++));
  return names;
}

class Placed {
 public:
  explicit Placed(const ExportInput& input)
      : input_(input),
        program_(*input.outcome.timeline->program),
        graph_(*program_.graph),
        strategy_(complete(input.strategy, *program_.cluster)),
        names_(device_names(*program_.cluster)),
        tasks_of_(graph_.op_count()) {
    for (const auto& group : strategy_.groups)
      if (columns_of(*group) > 1 || expert_rows_of(*group) > 1)
        throw InputError("", "strategy",
                         "has op groups whose devices compute ops together (tensor or expert "
                         "parallelism), which TensorFlow's placement cannot say",
                         "give all groups \"tensor\": 1 and \"expert\": 1");
    if (!strategy_.offloaded.empty())
      throw InputError("", "strategy",
                       "keeps tensors on hosts, which TensorFlow's placement cannot say",
                       "plan with --offload none");
    if (!strategy_.recomputed.empty())
      throw InputError("", "strategy",
                       "has ops that are computed again, which TensorFlow's placement cannot say",
                       "plan with --recompute none");
    for (std::size_t i = 0; i < program_.tasks.size(); ++i) {
      const Task& task = program_.tasks[TaskId(i)];
      const bool computes = task.kind == TaskKind::Compute || task.kind == TaskKind::Update;
      if (computes && task.op.valid()) tasks_of_[task.op].push_back(TaskId(i));
    }
    for (std::vector<TaskId>& tasks : tasks_of_)
      std::ranges::sort(tasks, {}, [this](TaskId id) { return program_.tasks[id].device; });
  }

  // One node a line.
  std::string write() const {
    Json about{{"format", "stratoscope-tensorflow"},
               {"version", 1},
               {"model", graph_.name()},
               {"batch", graph_.batch()},
               {"cluster", program_.cluster->name()}};
    for (std::size_t i = 0; i < names_.size(); ++i)
      about["devices"][program_.cluster->device(DeviceId(i)).name] = names_[DeviceId(i)];
    std::string text = json_text(about);
    text.back() = ',';  // of the closing brace
    text += "\n\"nodes\": {";
    for (std::size_t i = 0; i < graph_.op_count(); ++i)
      text += (i > 0 ? ",\n" : "\n") + json_text(graph_.op(OpId(i)).name) + ": " +
              json_text(node(OpId(i)));
    return text + "},\n\"order\": " + json_text(order()) + "}\n";
  }

 private:
  // A view is where its input is made, or where it is read first.
  OpId placed_as(OpId op) const {
    OpId at = op;
    while (tasks_of_[at].empty() && !graph_.op(at).inputs.empty()) {
      const TensorId input = graph_.op(at).inputs[0];
      const OpId maker = input.valid() ? graph_.tensor(input).producer : OpId();
      if (!maker.valid()) break;
      at = maker;
    }
    if (!tasks_of_[at].empty() || graph_.op(op).outputs.empty()) return at;
    for (const OpId reader : graph_.consumers(graph_.op(op).outputs[0]))
      if (!tasks_of_[reader].empty()) return reader;
    return at;
  }

  std::string_view mode_of(OpId op) const {
    if (std::ranges::binary_search(strategy_.duplicated, op)) return name_of(Mode::Duplicate);
    return name_of(strategy_.groups[input_.problem.grouping->group_of(op)]->mode);
  }

  // Writes the part that each task has of a tensor that is cut along several axes: "axes 0,1
  // [0,4)x[8,16)".
  Json parts_of(const std::vector<TaskId>& tasks) const {
    Json parts = Json::array();
    for (const TaskId id : tasks) parts.push_back(describe(program_.cuts_of(program_.tasks[id])));
    return parts;
  }

  Json node(OpId op) const {
    Json json;
    const std::vector<TaskId>& tasks = tasks_of_[placed_as(op)];
    const bool split =
        !tasks_of_[op].empty() && !program_.cuts_of(program_.tasks[tasks[0]]).empty();
    const bool planned_split = std::ranges::count(strategy_.splits, op, &OpSplit::op) > 0;
    if (!split && !planned_split) json["mode"] = mode_of(op);
    json["devices"] = Json::array();
    Json ranges = Json::array();
    bool shares = false;
    for (const TaskId id : tasks) {
      const Task& task = program_.tasks[id];
      json["devices"].push_back(names_[task.device]);
      const AxisRange range = program_.range_of(task);
      ranges.push_back({range.begin, range.end});
      shares = shares || range.size() < graph_.batch();
    }
    if (split) {
      const auto cuts = program_.cuts_of(program_.tasks[tasks[0]]);
      json["split"] = {{"axis", cuts.front().axis}, {"slices", ranges}};
      if (cuts.size() > 1) json["split"] = {{"parts", parts_of(tasks)}};
    } else if (shares && graph_.op(op).phase != Phase::Update) {
      json["samples"] = ranges;
    }
    if (!strategy_.priorities.empty()) json["priority"] = strategy_.priorities[op.index()];
    return json;
  }

  Json order() const {
    const Timeline& timeline = *input_.outcome.timeline;
    std::vector<TaskId> tasks;
    for (const std::vector<TaskId>& some : tasks_of_)
      tasks.insert(tasks.end(), some.begin(), some.end());
    std::ranges::sort(tasks, {},
                      [&](TaskId id) { return std::pair(timeline.tasks[id].start, id); });
    Json json = Json::object();
    for (const std::string& name : names_) json[name] = Json::array();
    for (const TaskId id : tasks) {
      const Task& task = program_.tasks[id];
      json[names_[task.device]].push_back(graph_.op(task.op).name);
    }
    return json;
  }

  const ExportInput& input_;
  const Program& program_;
  const Graph& graph_;
  Strategy strategy_;
  IdVector<DeviceId, std::string> names_;
  IdVector<OpId, std::vector<TaskId>> tasks_of_;
};

std::string export_tensorflow(const ExportInput& input) { return Placed(input).write(); }

}  // namespace
}  // namespace strato

STRATOSCOPE_EXPORTER_FUNCTION(strato::export_tensorflow)
