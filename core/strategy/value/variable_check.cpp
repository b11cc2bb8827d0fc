#include "core/strategy/value/variable_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "core/base/error.h"

namespace strato {
namespace {

template <class... Values>
[[noreturn]] void fail_at(const std::string& place, const char* remedy,
                          fmt::format_string<Values...> problem, Values&&... values) {
  throw InputError("", place, fmt::format(problem, std::forward<Values>(values)...), remedy);
}

class VariableCheck {
 public:
  VariableCheck(const Strategy& strategy, const Grouping& grouping, const Cluster& cluster)
      : strategy_(strategy), grouping_(grouping), cluster_(cluster) {}

  void run() {
    check_order();
    for (const VariableSync& variable : strategy_.variables) {
      update_ = variable.update;
      part_ = -1;
      if (variable.axis < 0) fail("count axes from 0", "is divided along axis {}", variable.axis);
      if (variable.parts.empty())
        fail("give at least one, or leave the variable out", "has no part");
      check_partition(variable);
      check_staleness(variable);
      for (const SyncPart& part : variable.parts) check_part(variable, part);
    }
  }

 private:
  template <class... Values>
  [[noreturn]] void fail(const char* remedy, fmt::format_string<Values...> problem,
                         Values&&... values) const {
    std::string place = fmt::format("variable of op number {}", update_.value());
    if (part_ >= 0) place += fmt::format(", part {}", part_);
    fail_at(place, remedy, problem, std::forward<Values>(values)...);
  }

  void check_order() const {
    std::vector<OpId> updates;
    for (const VariableSync& variable : strategy_.variables) updates.push_back(variable.update);
    validate_ops(updates,
                 {"synchronised variables", "choose an update op of the model",
                  "give each variable one entry", "sort them by op"},
                 grouping_);
  }

  void check_partition(const VariableSync& variable) const {
    if (variable.partition.empty()) return;
    const auto there = static_cast<std::int64_t>(variable.parts.size());
    for (const std::int32_t along : variable.partition)
      if (along < 1) fail("give 1 where it is not divided", "has {} parts along an axis", along);
    if (const std::int64_t parts = part_count(variable.partition); parts != there)
      fail("give as many parts as the partition makes, row by row",
           "has {} part{}, its partition {} makes {}", there, there == 1 ? "" : "s",
           fmt::join(variable.partition, "x"), parts);
    if (variable.axis != 0)
      fail("leave one of them out", "has a partition along several axes, and axis {} as well",
           variable.axis);
    if (divided_axes(variable).size() > kMostCutAxes)
      fail("divide it along at most four", "is divided along {} axes",
           divided_axes(variable).size());
  }

  void check_staleness(const VariableSync& variable) const {
    if (variable.staleness < 0)
      fail("count from 0, which is synchronous", "has a staleness of {}", variable.staleness);
    if (variable.staleness == 0) return;
    for (const SyncPart& part : variable.parts)
      if (part.synchroniser != Synchroniser::Ps)
        fail("give all its parts servers (ps), or a staleness of 0",
             "has a staleness of {}, and is all-reduced, which all replicas do in the same step",
             variable.staleness);
  }

  // Every replica multiplies all of it for itself.
  void check_factors(const VariableSync& variable, const SyncPart& part) const {
    if (part.encoding != Encoding::SufficientFactors) return;
    if (part.synchroniser == Synchroniser::Ps)
      fail("take allreduce, or another encoding",
           "sends sufficient factors to a server, and every replica multiplies for itself");
    if (variable.parts.size() > 1)
      fail("leave the variable in one part, or take another encoding",
           "sends sufficient factors, which are those of the whole variable");
    if (part.merge_group >= 0 || !part.sequence.empty())
      fail("nothing is reduced: leave them out",
           "sends sufficient factors, and has a merge group or a reduction sequence");
  }

  void check_part(const VariableSync& variable, const SyncPart& part) {
    ++part_;
    check_factors(variable, part);
    if (part.synchroniser == Synchroniser::Ps)
      check_server(part);
    else
      check_reduction(variable, part);
  }

  void check_device(DeviceId device, const char* role) const {
    if (device.valid() && device.index() < cluster_.device_count()) return;
    fail("choose a device of the cluster",
         "has device number {} as its {}, which the cluster does not have", device.value(), role);
  }

  void check_server(const SyncPart& part) const {
    check_device(part.server, "server");
    if (part.merge_group != -1 || !part.sequence.empty())
      fail("these are for AllReduce: leave them out",
           "has a server, and a merge group or a reduction sequence");
    DeviceId last;
    for (const DeviceId station : part.stations) {
      check_device(station, "transfer station");
      const Device& device = cluster_.device(station);
      if (last.valid() && station <= last)
        fail("sort the stations, each once", "{} station {}",
             station == last ? "repeats" : "has out of order", device.name);
      last = station;
      const auto alike = std::ranges::count_if(part.stations, [&](DeviceId other) {
        return other.valid() && other.index() < cluster_.device_count() &&
               cluster_.device(other).machine == device.machine;
      });
      if (alike > 1)
        fail("give at most one for each machine", "has {} transfer stations in machine {}", alike,
             cluster_.machines()[device.machine].name);
    }
  }

  void check_reduction(const VariableSync& variable, const SyncPart& part) {
    if (part.server.valid() || !part.stations.empty())
      fail("these are for ps: leave them out",
           "is all-reduced, and has a server or transfer stations");
    if (part.merge_group < -1)
      fail("count merge groups from 0, or take -1 for none", "has merge group {}",
           part.merge_group);
    check_sequence(variable, part);
    if (part.merge_group < 0) return;
    if (is_gathered(part.encoding))
      fail("merge what is all-reduced: take it out of the group",
           "is in merge group {} and encoded as {}, which is gathered alone", part.merge_group,
           name_of(part.encoding));
    const auto [first, fresh] = groups_.try_emplace(part.merge_group, &part);
    if (first->second->encoding != part.encoding)
      fail("encode a merge group in one way",
           "is encoded as {} in merge group {}, others there as {}", name_of(part.encoding),
           part.merge_group, name_of(first->second->encoding));
    if (first->second->sequence != part.sequence)
      fail("reduce a merge group in one order",
           "has another sequence than others in merge group {}", part.merge_group);
  }

  void check_sequence(const VariableSync& variable, const SyncPart& part) const {
    if (part.sequence.empty()) return;
    std::vector<DeviceId> sorted = part.sequence;
    std::ranges::sort(sorted);
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      check_device(sorted[i], "place in the reduction sequence");
      if (i > 0 && sorted[i] == sorted[i - 1])
        fail("name each replica once", "repeats device {} in its reduction sequence",
             cluster_.device(sorted[i]).name);
    }
    const auto& decision = strategy_.groups[grouping_.group_of(variable.update)];
    const bool replicated =
        decision && decision->devices.size() > 1 && splits_batch(decision->mode);
    if (!replicated) return;  // the entry changes nothing
    for (const DeviceShare& share : decision->devices)
      if (!std::ranges::binary_search(sorted, share.device))
        fail("name each replica once", "misses replica {} in its reduction sequence",
             cluster_.device(share.device).name);
    for (const DeviceId device : sorted)
      if (std::ranges::find(decision->devices, device, &DeviceShare::device) ==
          decision->devices.end())
        fail("name each replica once",
             "has device {} in its reduction sequence, which is no replica",
             cluster_.device(device).name);
  }

  const Strategy& strategy_;
  const Grouping& grouping_;
  const Cluster& cluster_;
  OpId update_;                                     // of the variable that is checked
  int part_ = -1;                                   // that is checked; -1: the variable as a whole
  std::map<std::int32_t, const SyncPart*> groups_;  // by merge group: its first part
};

void check_encodings(const VariableSync& variable, const Tensor& tensor, const Graph& graph,
                     const std::string& place) {
  const auto takes = [&](Encoding encoding) {
    return std::ranges::find(variable.parts, encoding, &SyncPart::encoding) != variable.parts.end();
  };
  if (takes(Encoding::SparseRows) && looked_up_rows(graph, variable.update) == 0)
    fail_at(place, "send it as it is: its gradient has no rows of zeros",
            "sends sparse rows, and \"{}\" is not only looked up", tensor.name);
  if (takes(Encoding::SufficientFactors) && gradient_products(graph, variable.update).empty())
    fail_at(place, "send it as it is: it has no factors",
            "sends sufficient factors, and the gradient of \"{}\" is no matrix product "
            "over the samples",
            tensor.name);
  if (takes(Encoding::LowRank) && !is_matrix(tensor))
    fail_at(place, "send it as it is, or take half or top-k",
            "is sent with a low rank, and \"{}\" is no matrix of floating point numbers",
            tensor.name);
}

void check_division(const VariableSync& variable, const Tensor& tensor, const std::string& place) {
  const int last = std::max(variable.axis, static_cast<int>(variable.partition.size()) - 1);
  const bool whole = last == 0 && variable.parts.size() == 1;  // also of a scalar
  if (!whole && static_cast<std::size_t>(last) >= tensor.shape.size())
    fail_at(place, "choose one of its axes, counted from 0",
            "is divided along axis {}, \"{}\" has {} axes", last, tensor.name, tensor.shape.size());
  for (const AxisParts& divided : divided_axes(variable)) {
    const std::int64_t extent = tensor.shape[static_cast<std::size_t>(divided.axis)];
    if (divided.parts > extent)
      fail_at(place, "give at most one part for each index",
              "has {} parts{}, axis {} of \"{}\" has an extent of {}", divided.parts,
              variable.partition.empty() ? "" : " along an axis", divided.axis, tensor.name,
              extent);
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

void validate_ops(std::span<const OpId> ops, const OpListTexts& texts, const Grouping& grouping) {
  OpId last;
  for (const OpId op : ops) {
    if (!op.valid() || op.index() >= grouping.op_count())
      fail_at(texts.place, texts.choose, "have op number {}, the model has {} ops", op.value(),
              grouping.op_count());
    if (op == last) fail_at(texts.place, texts.once, "have op number {} twice", op.value());
    if (op < last) fail_at(texts.place, texts.sort, "have op number {} out of order", op.value());
    last = op;
  }
}

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
      fail_at(place, "name the op that updates it", "is none: the op updates no parameter");
    const Tensor& tensor = graph.tensor(parameter);
    check_division(variable, tensor, place);
    for (const SyncPart& part : variable.parts) {
      if (part.merge_group < 0) continue;
      const Tensor& first = *merged.try_emplace(part.merge_group, &tensor).first->second;
      if (first.type != tensor.type)
        fail_at(place, "merge variables of one type",
                "is of {} in merge group {}, \"{}\" there of {}", name_of(tensor.type),
                part.merge_group, first.name, name_of(first.type));
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
