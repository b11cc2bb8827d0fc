#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>

#include "core/base/error.h"
#include "core/strategy/file/rebind.h"
#include "core/strategy/value/variable_check.h"

namespace strato {
namespace {

class VariableBinder {
 public:
  VariableBinder(const Graph& graph, const Grouping& grouping, const Cluster& cluster,
                 Rebound& result)
      : graph_(graph), grouping_(grouping), cluster_(cluster), result_(result) {}

  void bind(std::span<const NamedVariable> named) {
    std::unordered_map<std::string_view, OpId> updates;  // by the parameter's name
    for (std::size_t i = 0; i < graph_.op_count(); ++i)
      if (const TensorId parameter = parameter_of(graph_, OpId(i)); parameter.valid())
        updates.emplace(graph_.tensor(parameter).name, OpId(i));
    std::vector<std::string_view> missing;
    for (const NamedVariable& variable : named) {
      const auto update = updates.find(variable.variable);
      if (update == updates.end())
        missing.push_back(variable.variable);
      else
        bind(variable, update->second);
    }
    if (missing.empty()) return;
    result_.unmatched.push_back(
        fmt::format("variables: {} of its {} are not trained in the model, such as \"{}\"",
                    missing.size(), named.size(), missing.front()));
  }

 private:
  void bind(const NamedVariable& named, OpId update) {
    place_ = fmt::format("variable \"{}\"", named.variable);
    VariableSync variable{update, named.axis, {}, named.staleness, named.partition};
    for (const NamedPart& part : named.parts) {
      if (part.synchroniser == Synchroniser::Ps && !cluster_.find_device(part.server).valid())
        return say(fmt::format("its server \"{}\" is not in the cluster, dropped", part.server));
      variable.parts.push_back(bind(part, update));
    }
    // The check tells whether the entry divides the variable so, and fits the others' merge groups.
    Strategy checked = result_.strategy;
    checked.variables.push_back(std::move(variable));
    std::ranges::sort(checked.variables, {}, &VariableSync::update);
    try {
      validate_variables(checked, grouping_, cluster_);
      validate_variables(checked, graph_);
    } catch (const InputError& error) {
      return say(error.problem() + ", dropped");
    }
    result_.strategy.variables = std::move(checked.variables);
  }

  SyncPart bind(const NamedPart& named, OpId update) {
    SyncPart part{.synchroniser = named.synchroniser,
                  .encoding = named.encoding,
                  .server = named.synchroniser == Synchroniser::Ps
                                ? cluster_.find_device(named.server)
                                : DeviceId(),
                  .merge_group = named.merge_group};
    bind_stations(named, part);
    bind_sequence(named, update, part);
    if (const char* objection = objection_to(part.encoding, update)) {
      part.encoding = Encoding::None;
      say(objection);
    }
    return part;
  }

  // Says why the variable's gradient cannot be sent so; null: it can.
  const char* objection_to(Encoding encoding, OpId update) const {
    if (encoding == Encoding::SparseRows && looked_up_rows(graph_, update) == 0)
      return "it is not only looked up, its rows are not sent as sparse ones";
    if (encoding == Encoding::SufficientFactors && gradient_products(graph_, update).empty())
      return "its gradient is no matrix product, factors of it are not sent";
    if (encoding == Encoding::LowRank && !is_matrix(graph_.tensor(parameter_of(graph_, update))))
      return "it is no matrix, it is not sent with a low rank";
    return nullptr;
  }

  void bind_stations(const NamedPart& named, SyncPart& part) {
    std::set<MachineId> machines;
    for (const std::string& name : named.stations) {
      const DeviceId station = cluster_.find_device(name);
      if (!station.valid())
        say(fmt::format("its station \"{}\" is not in the cluster, dropped", name));
      else if (!machines.insert(cluster_.device(station).machine).second)
        say(fmt::format("its station \"{}\" is the second in its machine, dropped", name));
      else
        part.stations.push_back(station);
    }
    std::ranges::sort(part.stations);
  }

  // A sequence is of all replicas: in another cluster, or of another group, it means nothing.
  void bind_sequence(const NamedPart& named, OpId update, SyncPart& part) {
    if (named.sequence.empty()) return;
    for (const std::string& name : named.sequence)
      part.sequence.push_back(cluster_.find_device(name));
    std::vector<DeviceId> sorted = part.sequence;
    std::ranges::sort(sorted);
    const auto& decision = result_.strategy.groups[grouping_.group_of(update)];
    const bool known = sorted.front().valid();  // one that is unknown is the least
    const bool replicated =
        decision && decision->devices.size() > 1 && splits_batch(decision->mode);
    const bool fits =
        !replicated || std::ranges::equal(sorted, decision->devices, {}, {}, &DeviceShare::device);
    if (known && fits) return;
    part.sequence.clear();
    say("its reduction sequence is not of its replicas, dropped");
  }

  void say(const std::string& what) { result_.unmatched.push_back(place_ + ": " + what); }

  const Graph& graph_;
  const Grouping& grouping_;
  const Cluster& cluster_;
  Rebound& result_;
  std::string place_;
};

}  // namespace

void bind_variables(std::span<const NamedVariable> named, const Graph& graph,
                    const Grouping& grouping, const Cluster& cluster, Rebound& result) {
  if (!named.empty()) VariableBinder(graph, grouping, cluster, result).bind(named);
}

}  // namespace strato
