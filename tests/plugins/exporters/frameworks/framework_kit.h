// Small transformers, plans of them, and what exporters for training frameworks make of these.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "core/io/json.h"
#include "core/search/evaluate/outcome.h"
#include "core/search/run/run_planner.h"
#include "tests/message_of.h"
#include "tests/plugins/importers/transformers/config_kit.h"
#include "tests/plugins/shipped.h"

namespace strato {

namespace fs = std::filesystem;

inline const test::ConfigFolder& folder() {
  static const test::ConfigFolder made;
  return made;
}
inline fs::path written(const std::string& name, const std::string& text) {
  const fs::path file = folder() / name;
  std::ofstream(file) << text;
  return file;
}

// A model of the samples with so many layers, in short sequences.
inline Problem small_model(const std::string& name, std::int64_t batch, int layers = 8) {
  std::ifstream config(fs::path(kSourceFolder) / "tests/data/transformers" / (name + ".json"));
  Json json = Json::parse(config);
  for (const char* key : {"num_hidden_layers", "n_layer"})
    if (json.contains(key)) json[key] = layers;
  ImportOptions options;
  options.batch = batch;
  options.dimensions["sequence"] = 128;
  const fs::path file = written(name + ".json", json.dump());
  return make_problem(registry().importer_for(file)->import(file, options),
                      toy::sample_cluster("h100-2x8"), {});
}

inline Strategy planned_by(const std::string& planner, const Problem& problem, OptionTexts set,
                           std::vector<PlanResult::Fact>* facts = nullptr) {
  PlannerOptions options;
  options.set = std::move(set);
  Observer quiet;
  PlanResult result = run_planner(*registry().planner(planner), problem, options, quiet, {});
  if (facts != nullptr) *facts = result.facts;
  return result.strategy;
}
inline Strategy read_back(const Problem& problem, const std::string& script,
                          std::vector<PlanResult::Fact>* facts = nullptr) {
  return planned_by("configuration", problem, {{"file", written("run.sh", script).string()}},
                    facts);
}

inline std::string script_of(const Problem& problem, const Strategy& strategy,
                             const std::string& format = "megatron") {
  const Outcome outcome = simulate_strategy(problem, strategy);
  return registry().exporter(format)->write({problem, strategy, outcome});
}
inline std::string refusal_of(const Problem& problem, const Strategy& strategy) {
  return message_of([&] { script_of(problem, strategy); });
}

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace strato
