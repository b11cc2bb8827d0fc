// Problems of any size without a file.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/search/api/problem.h"
#include "tests/core/program/toy.h"

namespace strato::test {

inline Problem in_even_groups(std::shared_ptr<const Graph> graph, std::size_t groups) {
  Problem problem;
  problem.graph = std::move(graph);
  problem.cluster = toy::cluster(2, 2);
  problem.cost = std::make_shared<toy::Costs>(problem.graph, problem.cluster);
  std::vector<std::int32_t> group_of;
  const std::size_t count = problem.graph->op_count();
  for (std::size_t i = 0; i < count; ++i)
    group_of.push_back(static_cast<std::int32_t>(i * groups / count));
  problem.grouping = std::make_shared<const Grouping>(*problem.graph, group_of,
                                                      std::vector<Nanos>(count, Nanos(10)));
  return problem;
}

// Ops that read the same input, and nothing of each other.
inline Problem isolated_ops(std::size_t ops, std::size_t groups,
                            const std::string& prefix = "op_") {
  toy::Model model(4);
  const TensorId x = model.input("x", 2);
  for (std::size_t i = 0; i < ops; ++i) model.layer(prefix + std::to_string(i), {x}, 2);
  return in_even_groups(std::move(model).build(), groups);
}

// A chain with a shortcut around every second op; names are nested four levels deep.
inline Problem nested_chain(std::size_t ops, std::size_t groups) {
  toy::Model model(4);
  TensorId last = model.input("x", 2), before = last;
  for (std::size_t i = 0; i < ops; ++i) {
    const std::string name = "stage" + std::to_string(i / 1000) + "/block" +
                             std::to_string(i / 100 % 10) + "/unit." + std::to_string(i / 10 % 10) +
                             "/op" + std::to_string(i % 10);
    const TensorId made =
        model.layer(name, i % 2 == 0 ? std::vector{last} : std::vector{last, before}, 2);
    before = last;
    last = made;
  }
  return in_even_groups(std::move(model).build(), groups);
}

}  // namespace strato::test
