#include "core/strategy/variable_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "core/base/error.h"

namespace strato {
namespace {

[[noreturn]] void fail_at(std::string place, std::string problem, const char* remedy) {
  throw InputError("", std::move(place), std::move(problem), remedy);
}

std::size_t ops_of(const Grouping& grouping) {
  std::size_t ops = 0;
  for (const OpGroup& group : grouping.groups()) ops += group.ops.size();
  return ops;
}

class VariableCheck {
 public:
  VariableCheck(const Strategy& strategy, const Grouping& grouping, const Cluster& cluster)
      : strategy_(strategy), grouping_(grouping), cluster_(cluster) {}

  void run() {
    check_order();
    for (const VariableSync& variable : strategy_.variables) {
      if (variable.axis < 0)
        fail_at(place(variable), fmt::format("is divided along axis {}", variable.axis),
                "count axes from 0");
      if (variable.parts.empty())
        fail_at(place(variable), "has no part", "give at least one, or leave the variable out");
      for (std::size_t i = 0; i < variable.parts.size(); ++i) check_part(variable, i);
    }
  }

 private:
  static std::string place(const VariableSync& variable) {
    return fmt::format("variable of op number {}", variable.update.value());
  }

  void check_order() const {
    const std::size_t ops = ops_of(grouping_);
    const char* const list = "synchronised variables";
    OpId last;
    for (const VariableSync& variable : strategy_.variables) {
      const OpId op = variable.update;
      if (!op.valid() || op.index() >= ops)
        fail_at(list, fmt::format("have op number {}, the model has {} ops", op.value(), ops),
                "choose an update op of the model");
      if (op == last)
        fail_at(list, fmt::format("have op number {} twice", op.value()),
                "give each variable one entry");
      if (op < last)
        fail_at(list, fmt::format("have op number {} out of order", op.value()), "sort them by op");
      last = op;
    }
  }

  void check_part(const VariableSync& variable, std::size_t index) {
    const SyncPart& part = variable.parts[index];
    const std::string at = fmt::format("{}, part {}", place(variable), index);
    if (part.synchroniser == Synchroniser::Ps) {
      check_server(part, at);
    } else {
      check_reduction(variable, part, at);
    }
  }

  void check_device(DeviceId device, const char* role, const std::string& at) const {
    if (device.valid() && device.index() < cluster_.device_count()) return;
    fail_at(at,
            fmt::format("has device number {} as its {}, which the cluster does not have",
                        device.value(), role),
            "choose a device of the cluster");
  }

  void check_server(const SyncPart& part, const std::string& at) const {
    check_device(part.server, "server", at);
    if (part.merge_group != -1 || !part.sequence.empty())
      fail_at(at, "has a server, and a merge group or a reduction sequence",
              "these are for AllReduce: leave them out");
    DeviceId last;
    for (const DeviceId station : part.stations) {
      check_device(station, "transfer station", at);
      const Device& device = cluster_.device(station);
      if (last.valid() && station <= last)
        fail_at(at,
                fmt::format("{} station {}", station == last ? "repeats" : "has out of order",
                            device.name),
                "sort the stations, each once");
      last = station;
      const auto alike = std::ranges::count_if(part.stations, [&](DeviceId other) {
        return other.valid() && other.index() < cluster_.device_count() &&
               cluster_.device(other).machine == device.machine;
      });
      if (alike > 1)
        fail_at(at,
                fmt::format("has {} transfer stations in machine {}", alike,
                            cluster_.machines()[device.machine].name),
                "give at most one for each machine");
    }
  }

  void check_reduction(const VariableSync& variable, const SyncPart& part, const std::string& at) {
    if (part.server.valid() || !part.stations.empty())
      fail_at(at, "is all-reduced, and has a server or transfer stations",
              "these are for ps: leave them out");
    if (part.merge_group < -1)
      fail_at(at, fmt::format("has merge group {}", part.merge_group),
              "count merge groups from 0, or take -1 for none");
    check_sequence(variable, part, at);
    if (part.merge_group < 0) return;
    const bool gathered = part.encoding == Encoding::SparseRows || part.encoding == Encoding::TopK;
    if (gathered)
      fail_at(at,
              fmt::format("is in merge group {} and encoded as {}, which is gathered alone",
                          part.merge_group, name_of(part.encoding)),
              "merge what is all-reduced: take it out of the group");
    const auto [first, fresh] = groups_.try_emplace(part.merge_group, &part);
    if (first->second->encoding != part.encoding)
      fail_at(
          at,
          fmt::format("is encoded as {} in merge group {}, others there as {}",
                      name_of(part.encoding), part.merge_group, name_of(first->second->encoding)),
          "encode a merge group in one way");
    if (first->second->sequence != part.sequence)
      fail_at(at,
              fmt::format("has another sequence than others in merge group {}", part.merge_group),
              "reduce a merge group in one order");
  }

  void check_sequence(const VariableSync& variable, const SyncPart& part,
                      const std::string& at) const {
    if (part.sequence.empty()) return;
    std::vector<DeviceId> sorted = part.sequence;
    std::ranges::sort(sorted);
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      check_device(sorted[i], "place in the reduction sequence", at);
      if (i > 0 && sorted[i] == sorted[i - 1])
        fail_at(at,
                fmt::format("repeats device {} in its reduction sequence",
                            cluster_.device(sorted[i]).name),
                "name each replica once");
    }
    const auto& decision = strategy_.groups[grouping_.group_of(variable.update)];
    const bool replicated =
        decision && decision->devices.size() > 1 &&
        (decision->mode == Mode::ReplicateAllReduce || decision->mode == Mode::ReplicatePs);
    if (!replicated) return;  // the entry changes nothing
    for (const DeviceShare& share : decision->devices)
      if (!std::ranges::binary_search(sorted, share.device))
        fail_at(at,
                fmt::format("misses replica {} in its reduction sequence",
                            cluster_.device(share.device).name),
                "name each replica once");
    for (const DeviceId device : sorted)
      if (std::ranges::find(decision->devices, device, &DeviceShare::device) ==
          decision->devices.end())
        fail_at(at,
                fmt::format("has device {} in its reduction sequence, which is no replica",
                            cluster_.device(device).name),
                "name each replica once");
  }

  const Strategy& strategy_;
  const Grouping& grouping_;
  const Cluster& cluster_;
  std::map<std::int32_t, const SyncPart*> groups_;  // by merge group: its first part
};

// How many rows look-ups touch: with samples of the batch, and always.
struct LookedUp {
  std::int64_t by_batch = 0, fixed = 0;
};

// Adds those that a gradient's rows come from; false: they come from something else, too.
bool add_look_ups(const Graph& graph, TensorId gradient, const Tensor& parameter, LookedUp& rows) {
  const OpId producer = graph.tensor(gradient).producer;
  if (!producer.valid()) return false;
  const Op& op = graph.op(producer);
  if (op.type == "GatherGrad" && op.inputs.size() >= 2) {
    const auto rank = static_cast<std::int64_t>(parameter.shape.size());
    const std::int64_t axis = op.integer("axis", 0);
    const Tensor& indices = graph.tensor(op.inputs[1]);
    const bool batched = indices.batch.kind == BatchKind::Batched;
    (batched ? rows.by_batch : rows.fixed) += indices.elements();
    return graph.tensor(gradient).shape == parameter.shape && (axis == 0 || axis == -rank);
  }
  if (op.type != "AddN" && op.type != "Add" && op.type != "Identity") return false;
  return std::ranges::all_of(op.inputs, [&](TensorId input) {
    return input.valid() && add_look_ups(graph, input, parameter, rows);
  });
}

LookedUp look_ups(const Graph& graph, OpId update) {
  const TensorId parameter = parameter_of(graph, update);
  if (!parameter.valid() || graph.tensor(parameter).shape.empty()) return {};
  LookedUp rows;
  const TensorId gradient = graph.op(update).inputs[1];
  return add_look_ups(graph, gradient, graph.tensor(parameter), rows) ? rows : LookedUp();
}

std::string describe_part(const SyncPart& part, const Cluster& cluster) {
  const auto names = [&](const std::vector<DeviceId>& devices) {
    std::vector<std::string> result;
    for (const DeviceId device : devices) result.push_back(cluster.device(device).name);
    return fmt::format("{}", fmt::join(result, ", "));
  };
  std::string text = part.synchroniser == Synchroniser::Ps
                         ? "PS on " + cluster.device(part.server).name
                         : std::string("AllReduce");
  if (!part.stations.empty()) text += " by " + names(part.stations);
  if (part.encoding != Encoding::None) text += fmt::format(", {}", name_of(part.encoding));
  if (part.merge_group >= 0) text += fmt::format(", group {}", part.merge_group);
  if (!part.sequence.empty()) text += ", in the order " + names(part.sequence);
  return text;
}

}  // namespace

void validate_variables(const Strategy& strategy, const Grouping& grouping,
                        const Cluster& cluster) {
  if (!strategy.variables.empty()) VariableCheck(strategy, grouping, cluster).run();
}

void validate_variables(const Strategy& strategy, const Graph& graph) {
  std::map<std::int32_t, const Tensor*> merged;  // by merge group: its first variable
  for (const VariableSync& variable : strategy.variables) {
    const std::string place = fmt::format("variable of op \"{}\"", graph.op(variable.update).name);
    const TensorId parameter = parameter_of(graph, variable.update);
    if (!parameter.valid())
      fail_at(place, "is none: the op updates no parameter", "name the op that updates it");
    const Tensor& tensor = graph.tensor(parameter);
    const bool whole = variable.axis == 0 && variable.parts.size() == 1;  // also of a scalar
    if (!whole && static_cast<std::size_t>(variable.axis) >= tensor.shape.size())
      fail_at(place,
              fmt::format("is divided along axis {}, \"{}\" has {} axes", variable.axis,
                          tensor.name, tensor.shape.size()),
              "choose one of its axes, counted from 0");
    if (!whole) {
      const std::int64_t extent = tensor.shape[static_cast<std::size_t>(variable.axis)];
      if (static_cast<std::int64_t>(variable.parts.size()) > extent)
        fail_at(place,
                fmt::format("has {} parts, axis {} of \"{}\" has an extent of {}",
                            variable.parts.size(), variable.axis, tensor.name, extent),
                "give at most one part for each index");
    }
    for (const SyncPart& part : variable.parts) {
      if (part.merge_group < 0) continue;
      const Tensor& first = *merged.try_emplace(part.merge_group, &tensor).first->second;
      if (first.type != tensor.type)
        fail_at(place,
                fmt::format("is of {} in merge group {}, \"{}\" there of {}", name_of(tensor.type),
                            part.merge_group, first.name, name_of(first.type)),
                "merge variables of one type");
    }
    const bool sparse = std::ranges::any_of(
        variable.parts, [](const SyncPart& part) { return part.encoding == Encoding::SparseRows; });
    if (sparse && looked_up_rows(graph, variable.update) == 0)
      fail_at(place,
              fmt::format("sends sparse rows, and \"{}\" is not only looked up", tensor.name),
              "send it as it is: its gradient has no rows of zeros");
  }
}

TensorId parameter_of(const Graph& graph, OpId update) {
  const Op& op = graph.op(update);
  if (op.phase != Phase::Update || op.inputs.size() < 2 || !op.inputs[0].valid() ||
      !op.inputs[1].valid())
    return {};
  return graph.update_of(op.inputs[0]) == update ? op.inputs[0] : TensorId();
}

std::int64_t looked_up_rows(const Graph& graph, OpId update) {
  const LookedUp rows = look_ups(graph, update);
  return rows.by_batch + rows.fixed;
}

PartShape part_shape(const Tensor& variable, int axis, std::int64_t begin, std::int64_t end) {
  PartShape part{variable.elements(), variable.shape.empty() ? 1 : variable.shape[0]};
  if (variable.shape.empty()) return part;
  const std::int64_t extent = variable.shape[static_cast<std::size_t>(axis)];
  part.elements = part.elements / std::max<std::int64_t>(1, extent) * (end - begin);
  if (axis == 0) part.rows = end - begin;
  return part;
}

std::int64_t encoded_rows(const Graph& graph, OpId update, const PartShape& part,
                          std::int64_t samples) {
  const LookedUp all = look_ups(graph, update);
  const auto of_batch = static_cast<__int128>(all.by_batch) * samples + graph.batch() - 1;
  const std::int64_t rows = static_cast<std::int64_t>(of_batch / graph.batch()) + all.fixed;
  return std::clamp<std::int64_t>(rows, 1, std::max<std::int64_t>(1, part.rows));
}

std::int64_t encoded_elements(const PartShape& part) {
  return std::max<std::int64_t>(1, (part.elements + 99) / 100);
}

Bytes encoded_bytes(const Graph& graph, OpId update, Encoding encoding, const PartShape& part,
                    std::int64_t samples) {
  constexpr std::int64_t kNumber = 8;  // bytes of a row's number or an element's place
  const Tensor& variable = graph.tensor(graph.op(update).inputs[0]);
  const std::int64_t element = size_of(variable.type);
  std::int64_t bytes = part.elements * element;
  if (encoding == Encoding::SparseRows) {
    const std::int64_t row = part.elements / std::max<std::int64_t>(1, part.rows) * element;
    bytes = encoded_rows(graph, update, part, samples) * (row + kNumber);
  } else if (encoding == Encoding::TopK) {
    bytes = encoded_elements(part) * (element + kNumber);
  } else if (encoding == Encoding::Half) {
    bytes = part.elements * 2;
  }
  return Bytes(std::max<std::int64_t>(1, bytes));
}

std::string describe(const VariableSync& variable, const Graph& graph, const Cluster& cluster) {
  std::vector<std::string> parts;
  for (const SyncPart& part : variable.parts) parts.push_back(describe_part(part, cluster));
  const TensorId parameter = parameter_of(graph, variable.update);
  const std::string& name =
      parameter.valid() ? graph.tensor(parameter).name : graph.op(variable.update).name;
  if (parts.size() == 1) return name + ": " + parts[0];
  return fmt::format("{}: {} parts along axis {}: {}", name, parts.size(), variable.axis,
                     fmt::join(parts, "; "));
}

}  // namespace strato
