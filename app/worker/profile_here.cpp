#include "app/worker/profile_here.h"

#include "app/worker/measure_rank.h"
#include "core/base/error.h"
#include "core/cost/value/profile.h"
#include "core/graph/train/training_graph.h"
#include "core/launch/profiling/op_times.h"
#include "core/plugin/use/import_model.h"

namespace strato::worker {
namespace {

std::shared_ptr<const Graph> training_graph(const ProfileHere& what, const PluginRegistry& plugins,
                                            std::optional<std::int64_t> batch) {
  ImportOptions options;
  options.batch = batch;
  const Graph forward = import_model(plugins, what.graph, options);
  return std::make_shared<const Graph>(
      make_training_graph(simplify(forward, false), optimizer_from(what.optimizer)));
}

}  // namespace

void profile_here(const ProfileHere& what, const PluginRegistry& plugins) {
  if (what.graph.empty()) throw InputError("", "--graph", "is missing", "name a model file");
  if (what.output.empty()) throw InputError("", "--output", "is missing", "name the profile");
  const auto engine = plugins.engine(what.engine);
  const EngineDevice device = device_of(*engine, what.device);
  const auto largest = training_graph(what, plugins, what.batch);
  const std::string model = what.graph.stem().string();
  Profile profile;
  for (const std::int64_t batch : halves(largest->batch())) {
    const bool first = batch == largest->batch();
    const auto graph = first ? largest : training_graph(what, plugins, batch);
    check_memory(*graph, device);
    OpTimesOptions how;
    how.engine.device = device.name;
    how.engine.threads = what.threads;
    const ProfiledGraph measured = measure_ops(*engine, graph, how, {}, [](double) {});
    add_ops(profile, measured, model, device.name.substr(0, device.name.find(':')), first);
  }
  profile.name = model + ", measured by a worker alone";
  profile.host = device.hardware;
  profile.software = engine->software();
  write_profile(what.output, normalised(std::move(profile)));
}

}  // namespace strato::worker
