// A chain of four layers in four groups on the TAG testbed.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/strategy/file/named_strategy.h"
#include "tests/core/cost/toy.h"

namespace strato::toy {

struct Problem {
  explicit Problem(int layers = 4, int groups = 4)
      : graph(chain(layers)), cluster(sample_cluster("tag-testbed")) {
    for (std::size_t i = 0; i < graph->op_count(); ++i) {
      // Times that fall along the chain, so that groups keep their order.
      times.push_back(Nanos(static_cast<std::int64_t>(1000 - 10 * i)));
      group_of.push_back(std::min(static_cast<int>(i) / 2, groups - 1));
    }
    grouping = Grouping(*graph, group_of, times);
  }

  Decision on(std::initializer_list<const char*> devices,
              Mode mode = Mode::ReplicateAllReduce) const {
    Decision decision{mode, {}};
    for (const char* name : devices) decision.devices.push_back({cluster->find_device(name), 1});
    return decision;
  }

  std::shared_ptr<const Graph> graph;
  std::shared_ptr<const Cluster> cluster;
  std::vector<Nanos> times;
  std::vector<std::int32_t> group_of;
  Grouping grouping;
};

}  // namespace strato::toy
