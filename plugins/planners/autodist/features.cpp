#include "plugins/planners/autodist/features.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/error.h"
#include "plugins/planners/autodist/placing.h"

namespace strato::autodist {
namespace {

struct MergeGroup {
  double bytes = 0, parts = 0, ready = 0;  // ready: when the last of its gradients is made
};

double log_of(double value, double scale) { return std::log1p(std::max(value, 0.0)) / scale; }
double extent(const Variable& variable, std::size_t axis) {
  return axis < variable.shape.size() ? static_cast<double>(variable.shape[axis]) : 1;
}

// Shape, sparsity, data type, and where it stands in the model.
std::vector<float> fixed_features(const SyncTask& task, std::size_t v) {
  const Variable& variable = task.variables[v];
  const auto all = static_cast<double>(std::max<std::int64_t>(task.bytes().value, 1));
  const std::vector<double> values = {
      log_of(static_cast<double>(variable.bytes.value), 20),
      static_cast<double>(variable.bytes.value) / all,
      static_cast<double>(variable.shape.size()) / 4,
      log_of(extent(variable, 0), 12),
      log_of(extent(variable, 1), 12),
      variable.sparse ? 1.0 : 0.0,
      size_of(variable.type) / 8.0,
      variable.ready,
      static_cast<double>(v) / static_cast<double>(task.variables.size()),
  };
  return {values.begin(), values.end()};
}

std::map<std::int32_t, MergeGroup> messages_of(const SyncTask& task, const SyncPlan& plan) {
  std::map<std::int32_t, MergeGroup> messages;
  for (std::size_t v = 0; v < plan.size(); ++v)
    for (std::size_t p = 0; p < plan[v].parts.size(); ++p) {
      const std::int32_t group = plan[v].parts[p].merge_group;
      if (group < 0) continue;
      MergeGroup& message = messages[group];
      message.bytes += static_cast<double>(part_bytes(task.variables[v], plan[v], p).value);
      ++message.parts;
      message.ready = std::max(message.ready, task.variables[v].ready);
    }
  return messages;
}

// Means over a variable's parts.
struct PartMeans {
  double servers = 0, rows = 0, stations = 0, load = 0, place = 0;
  double message_bytes = 0, message_parts = 0, message_ready = 0, alone = 0;
};

}  // namespace

Featurizer::Featurizer(const SyncTask& task) : task_(task), model_(task) {
  for (std::size_t v = 0; v < task.variables.size(); ++v) fixed_.push_back(fixed_features(task, v));
  if (!task.variables.empty()) reference_ = std::max(model_.seconds(plain_plan(task)), 1e-9);
}

PlanFeatures Featurizer::of(const SyncPlan& plan) const {
  const auto all = static_cast<double>(std::max<std::int64_t>(task_.bytes().value, 1));
  const auto machines = static_cast<double>(task_.machines.size());
  const std::map<std::int32_t, MergeGroup> messages = messages_of(task_, plan);
  const NodeLoads loads = loads_of(task_, plan);
  const std::vector<Components> components = model_.of_variables(plan);
  PlanFeatures features;
  for (std::size_t v = 0; v < plan.size(); ++v) {
    const VariableSync& sync = plan[v];
    const auto count = static_cast<double>(sync.parts.size());
    PartMeans means;
    for (const SyncPart& part : sync.parts) {
      means.rows += part.encoding == Encoding::SparseRows ? 1 / count : 0;
      if (part.synchroniser == Synchroniser::Ps) {
        const std::size_t machine = task_.machine_of[part.server.index()];
        means.servers += 1 / count;
        means.stations += part.stations.empty() ? 0 : 1 / count;
        means.load += machines * static_cast<double>(loads.by_machine()[machine].value) / all / count;
        means.place += static_cast<double>(machine) / machines / count;
      } else if (part.merge_group >= 0) {
        const MergeGroup& message = messages.at(part.merge_group);
        means.message_bytes += message.bytes / all / count;
        means.message_parts += log_of(message.parts, 6) / count;
        means.message_ready += (message.ready - task_.variables[v].ready) / count;
      } else {
        means.alone += 1 / count;
      }
    }
    const bool with_last = v > 0 && sync.parts[0].merge_group >= 0 &&
                           sync.parts[0].merge_group == plan[v - 1].parts.back().merge_group;
    features.rows.insert(features.rows.end(), fixed_[v].begin(), fixed_[v].end());
    for (const double value :
         {log_of(count, 4), sync.axis / 4.0, sync.axis == 0 ? 0.0 : 1.0, count > 1 ? 1.0 : 0.0,
          means.servers, means.rows, means.stations, means.load, means.place, means.message_bytes,
          log_of(means.message_bytes * all, 20), means.message_parts, means.message_ready,
          means.alone, with_last ? 1.0 : 0.0})
      features.rows.push_back(static_cast<float>(value));
    for (const double z : components[v])
      features.rows.push_back(static_cast<float>(std::sqrt(z / reference_)));
  }
  CHECK(features.rows.size() == plan.size() * kFeatures, "a row for each variable");
  const Components whole = model_.of_plan(plan);
  for (std::size_t i = 0; i < kComponents; ++i)
    features.whole[i] = static_cast<float>(whole[i] / reference_);
  return features;
}

}  // namespace strato::autodist
