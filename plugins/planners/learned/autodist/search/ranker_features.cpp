#include <cmath>
#include <map>

#include "core/base/error.h"
#include "plugins/planners/learned/autodist/search/ranker.h"

namespace strato::autodist {
namespace {

constexpr std::size_t kOfPlan = 16;  // features that a plan says

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

// Describes what a plan says of a variable, means over its parts.
class Describer {
 public:
  Describer(const SyncTask& task, const SyncPlan& plan) : task_(task), plan_(plan) {}

  std::array<double, kOfPlan> of(std::size_t v) const {
    const NodeConfig& sync = plan_[v];
    const auto count = static_cast<double>(sync.parts.size());
    Means sum;
    for (const SyncPart& part : sync.parts) add(sum, v, part);
    const bool with_last = v > 0 && sync.parts[0].merge_group >= 0 &&
                           sync.parts[0].merge_group == plan_[v - 1].parts.back().merge_group;
    const double message = sum.message_bytes / count;
    return {log_of(count, 4),
            sync.axis / 4.0,
            sync.axis == 0 ? 0.0 : 1.0,
            count > 1 ? 1.0 : 0.0,
            sum.servers / count,
            sum.rows / count,
            sum.stations / count,
            sum.load / count,
            sum.place / count,
            message,
            log_of(message * static_cast<double>(task_.bytes().value), 20),
            sum.message_parts / count,
            sum.message_wait / count,
            sum.alone / count,
            with_last ? 1.0 : 0.0,
            sync.sharded ? 1.0 : 0.0};
  }

 private:
  struct Means {
    double servers = 0, rows = 0, stations = 0, load = 0, place = 0;
    double message_bytes = 0, message_parts = 0, message_wait = 0, alone = 0;
  };
  void add(Means& sum, std::size_t v, const SyncPart& part) const {
    const auto all = static_cast<double>(std::max<std::int64_t>(task_.bytes().value, 1));
    const auto machines = static_cast<double>(task_.machines.size());
    sum.rows += part.encoding == Encoding::SparseRows;
    if (part.synchroniser == Synchroniser::Ps) {
      const std::size_t machine = task_.machine_of[part.server.index()];
      sum.servers += 1;
      sum.stations += !part.stations.empty();
      sum.load += machines * static_cast<double>(loads_.by_machine()[machine].value) / all;
      sum.place += static_cast<double>(machine) / machines;
    } else if (part.merge_group >= 0) {
      const Message& message = messages_.at(part.merge_group);
      sum.message_bytes += static_cast<double>(message.bytes.value) / all;
      sum.message_parts += log_of(static_cast<double>(message.parts), 6);
      sum.message_wait += message.ready - task_.variables[v].ready;
    } else {
      sum.alone += 1;
    }
  }

  const SyncTask& task_;
  const SyncPlan& plan_;
  const std::map<std::int32_t, Message> messages_ = messages_of(task_, plan_);
  const NodeLoads loads_ = loads_of(task_, plan_);
};

}  // namespace

Featurizer::Featurizer(const SyncTask& task) : task_(task), model_(task) {
  for (std::size_t v = 0; v < task.variables.size(); ++v) {
    fixed_.push_back(fixed_features(task, v));
    CHECK(fixed_.back().size() + kOfPlan == kRawFeatures, "the features that are announced");
  }
  if (!task.variables.empty()) reference_ = std::max(model_.seconds(plain_plan(task)), 1e-9);
}

PlanFeatures Featurizer::of(const SyncPlan& plan) const {
  const Describer describer(task_, plan);
  const std::vector<Components> components = model_.of_variables(plan);
  const std::size_t rows = row_count();
  PlanFeatures features;
  features.rows.assign(rows * kFeatures, 0);
  for (std::size_t v = 0; v < plan.size(); ++v) {
    const std::size_t row = v * rows / plan.size();
    // Variables v with this row: those from the first to the one before the next row's first.
    const auto first = [&](std::size_t r) { return (r * plan.size() + rows - 1) / rows; };
    const auto share = 1 / static_cast<double>(first(row + 1) - first(row));
    float* to = features.rows.data() + row * kFeatures;
    const auto add = [&](double value) { *to++ += static_cast<float>(share * value); };
    for (const float value : fixed_[v]) add(value);
    for (const double value : describer.of(v)) add(value);
    for (const double z : components[v]) add(std::sqrt(z / reference_));
  }
  const Components whole = model_.of_plan(plan);
  for (std::size_t i = 0; i < kComponents; ++i)
    features.whole[i] = static_cast<float>(whole[i] / reference_);
  return features;
}

}  // namespace strato::autodist
