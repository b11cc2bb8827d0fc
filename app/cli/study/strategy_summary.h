// What a strategy does, in a few numbers (TAG table 4).
#pragma once

#include <map>
#include <string>

#include "core/search/api/problem.h"
#include "core/strategy/value/strategy.h"

namespace strato::cli {

struct StrategySummary {
  // By GPU type: on how many of its GPUs an op runs, mean over the ops that run at all (views do
  // not).
  std::map<std::string, double> gpus;
  // Parts of the gradients that are summed by AllReduce and at parameter servers; the rest is made
  // whole where it is used. By number of gradients, and by their bytes.
  double allreduce = 0, ps = 0, allreduce_bytes = 0, ps_bytes = 0;
};

StrategySummary summarise(const Problem& problem, Strategy strategy);

// How often each op type is among the duplicated ops, by our names.
std::map<std::string, int> duplicated_types(const Problem& problem, const Strategy& strategy);

}  // namespace strato::cli
