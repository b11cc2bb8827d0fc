// Workspaces with a model of any size, without a file of a framework.
#pragma once

#include <QString>
#include <filesystem>
#include <string>

#include "core/graph/build/graph_file.h"
#include "core/store/workspace.h"
#include "tests/core/program/toy.h"

namespace strato {

// A chain with a shortcut around every second op, as training graphs have; names are nested.
inline std::shared_ptr<const Graph> nested_chain(std::size_t ops) {
  toy::Model model(4);
  TensorId last = model.input("x", 64), before = last;
  for (std::size_t i = 0; i < ops; ++i) {
    const std::string name = "stage" + std::to_string(i / 1000) + "/block" +
                             std::to_string(i / 100 % 10) + "/op" + std::to_string(i % 100);
    const TensorId made =
        model.layer(name, i % 2 == 0 ? std::vector{last} : std::vector{last, before}, 64);
    before = last;
    last = made;
  }
  return std::move(model).build();
}

// Ops that read the same input, and nothing of each other.
inline std::shared_ptr<const Graph> isolated_ops(std::size_t ops) {
  toy::Model model(4);
  const TensorId x = model.input("x", 64);
  for (std::size_t i = 0; i < ops; ++i) model.layer("op_" + std::to_string(i), {x}, 64);
  return std::move(model).build();
}

// Of the one model on a cluster of two machines with two GPUs each.
inline void store_model(const std::filesystem::path& file, const Graph& graph,
                        const std::string& name, int groups) {
  Workspace workspace(file);
  StoredModel model;
  model.name = name;
  model.digest = graph.digest();
  model.options = R"({"batch":4,"training":false,"groups":)" + std::to_string(groups) + "}";
  model.content = serialise(graph);
  workspace.add(model);
  const auto cluster = toy::cluster(2, 2);
  StoredCluster stored;
  stored.name = cluster->name();
  stored.json = cluster->json();
  stored.digest = cluster->digest();
  workspace.add(stored);
}

}  // namespace strato
