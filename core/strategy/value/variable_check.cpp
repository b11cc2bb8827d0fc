#include "core/strategy/value/variable_check.h"

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
      check_partition(variable);
      check_staleness(variable);
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

  void check_partition(const VariableSync& variable) const {
    if (variable.partition.empty()) return;
    const auto there = static_cast<std::int64_t>(variable.parts.size());
    for (const std::int32_t along : variable.partition)
      if (along < 1)
        fail_at(place(variable), fmt::format("has {} parts along an axis", along),
                "give 1 where it is not divided");
    if (const std::int64_t parts = part_count(variable.partition); parts != there)
      fail_at(place(variable),
              fmt::format("has {} part{}, its partition {} makes {}", there, there == 1 ? "" : "s",
                          fmt::join(variable.partition, "x"), parts),
              "give as many parts as the partition makes, row by row");
    if (variable.axis != 0)
      fail_at(place(variable),
              fmt::format("has a partition along several axes, and axis {} as well", variable.axis),
              "leave one of them out");
    if (divided_axes(variable).size() > kMostCutAxes)
      fail_at(place(variable),
              fmt::format("is divided along {} axes", divided_axes(variable).size()),
              "divide it along at most four");
  }

  void check_staleness(const VariableSync& variable) const {
    if (variable.staleness < 0)
      fail_at(place(variable), fmt::format("has a staleness of {}", variable.staleness),
              "count from 0, which is synchronous");
    if (variable.staleness == 0) return;
    for (const SyncPart& part : variable.parts)
      if (part.synchroniser != Synchroniser::Ps)
        fail_at(place(variable),
                fmt::format("has a staleness of {}, and is all-reduced, which all replicas do in "
                            "the same step",
                            variable.staleness),
                "give all its parts servers (ps), or a staleness of 0");
  }

  // Every replica multiplies all of it for itself.
  void check_factors(const VariableSync& variable, const SyncPart& part,
                     const std::string& at) const {
    if (part.encoding != Encoding::SufficientFactors) return;
    if (part.synchroniser == Synchroniser::Ps)
      fail_at(at, "sends sufficient factors to a server, and every replica multiplies for itself",
              "take allreduce, or another encoding");
    if (variable.parts.size() > 1)
      fail_at(at, "sends sufficient factors, which are those of the whole variable",
              "leave the variable in one part, or take another encoding");
    if (part.merge_group >= 0 || !part.sequence.empty())
      fail_at(at, "sends sufficient factors, and has a merge group or a reduction sequence",
              "nothing is reduced: leave them out");
  }

  void check_part(const VariableSync& variable, std::size_t index) {
    const SyncPart& part = variable.parts[index];
    const std::string at = fmt::format("{}, part {}", place(variable), index);
    check_factors(variable, part, at);
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
    if (is_gathered(part.encoding))
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

void check_encodings(const VariableSync& variable, const Tensor& tensor, const Graph& graph,
                     const std::string& place) {
  const auto takes = [&](Encoding encoding) {
    return std::ranges::find(variable.parts, encoding, &SyncPart::encoding) != variable.parts.end();
  };
  if (takes(Encoding::SparseRows) && looked_up_rows(graph, variable.update) == 0)
    fail_at(place, fmt::format("sends sparse rows, and \"{}\" is not only looked up", tensor.name),
            "send it as it is: its gradient has no rows of zeros");
  if (takes(Encoding::SufficientFactors) && gradient_products(graph, variable.update).empty())
    fail_at(place,
            fmt::format("sends sufficient factors, and the gradient of \"{}\" is no matrix product "
                        "over the samples",
                        tensor.name),
            "send it as it is: it has no factors");
  if (takes(Encoding::LowRank) && !is_matrix(tensor))
    fail_at(
        place,
        fmt::format("is sent with a low rank, and \"{}\" is no matrix of floating point numbers",
                    tensor.name),
        "send it as it is, or take half or top-k");
}

void check_division(const VariableSync& variable, const Tensor& tensor, const std::string& place) {
  const int last = std::max(variable.axis, static_cast<int>(variable.partition.size()) - 1);
  const bool whole = last == 0 && variable.parts.size() == 1;  // also of a scalar
  if (!whole && static_cast<std::size_t>(last) >= tensor.shape.size())
    fail_at(place,
            fmt::format("is divided along axis {}, \"{}\" has {} axes", last, tensor.name,
                        tensor.shape.size()),
            "choose one of its axes, counted from 0");
  for (const AxisParts& divided : divided_axes(variable)) {
    const std::int64_t extent = tensor.shape[static_cast<std::size_t>(divided.axis)];
    if (divided.parts > extent)
      fail_at(place,
              fmt::format("has {} parts{}, axis {} of \"{}\" has an extent of {}", divided.parts,
                          variable.partition.empty() ? "" : " along an axis", divided.axis,
                          tensor.name, extent),
              "give at most one part for each index");
  }
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
    check_division(variable, tensor, place);
    for (const SyncPart& part : variable.parts) {
      if (part.merge_group < 0) continue;
      const Tensor& first = *merged.try_emplace(part.merge_group, &tensor).first->second;
      if (first.type != tensor.type)
        fail_at(place,
                fmt::format("is of {} in merge group {}, \"{}\" there of {}", name_of(tensor.type),
                            part.merge_group, first.name, name_of(first.type)),
                "merge variables of one type");
    }
    check_encodings(variable, tensor, graph, place);
  }
}

bool keeps_results(const Strategy& strategy) {
  return std::ranges::all_of(strategy.variables, [](const VariableSync& variable) {
    return variable.staleness == 0 &&
           std::ranges::none_of(variable.parts,
                                [](const SyncPart& part) { return is_lossy(part.encoding); });
  });
}

std::int64_t part_count(std::span<const std::int32_t> partition) {
  constexpr std::int64_t kMost = std::int64_t{1} << 31;
  std::int64_t count = 1;
  for (const std::int32_t along : partition)
    count = along < 0 ? kMost : std::min(kMost, count * along);
  return count;
}

std::string describe_division(const VariableSync& variable) {
  const std::vector<AxisParts> divided = divided_axes(variable);
  if (divided.empty()) return {};
  if (divided.size() == 1)
    return fmt::format("{} parts along axis {}", divided[0].parts, divided[0].axis);
  std::string parts, axes;
  for (const AxisParts& each : divided) {
    const bool last = &each == &divided.back();
    parts += fmt::format("{}{}", parts.empty() ? "" : "x", each.parts);
    axes += fmt::format("{}{}", axes.empty() ? "" : last ? " and " : ", ", each.axis);
  }
  return fmt::format("{} parts, {} along axes {}", variable.parts.size(), parts, axes);
}

std::string describe(const VariableSync& variable, const Graph& graph, const Cluster& cluster) {
  std::vector<std::string> parts;
  for (const SyncPart& part : variable.parts) parts.push_back(describe_part(part, cluster));
  const TensorId parameter = parameter_of(graph, variable.update);
  const std::string& name =
      parameter.valid() ? graph.tensor(parameter).name : graph.op(variable.update).name;
  std::string text = name + ": ";
  if (parts.size() > 1) text += describe_division(variable) + ": ";
  text += fmt::format("{}", fmt::join(parts, "; "));
  if (variable.staleness > 0)
    text +=
        fmt::format("; {} step{} stale", variable.staleness, variable.staleness == 1 ? "" : "s");
  return text;
}

}  // namespace strato
