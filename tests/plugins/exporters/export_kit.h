// A strategy of a small problem, and what an exporter makes of it.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "core/search/api/evaluator.h"
#include "core/search/api/problem.h"
#include "core/search/evaluate/outcome.h"
#include "tests/plugins/shipped.h"

namespace strato {

struct Exportable {
  Exportable(Problem of, Strategy what)
      : problem(std::move(of)),
        strategy(std::move(what)),
        outcome(simulate_strategy(problem, strategy)) {}
  ExportInput input() const { return {problem, strategy, outcome}; }

  Problem problem;
  Strategy strategy;
  Outcome outcome;
};

inline std::map<std::string, std::string> exported_folder(const std::string& format,
                                                          const Exportable& what) {
  std::map<std::string, std::string> files;
  for (ExportedFile& file : registry().exporter(format)->write_folder(what.input())) {
    EXPECT_TRUE(files.emplace(file.name, std::move(file.content)).second) << file.name;
  }
  return files;
}

// LeNet on two fast devices and two slow ones, one decision for all groups.
inline Exportable lenet(Mode mode, std::vector<DeviceShare> devices) {
  Problem problem = make_problem(sample_model("lenet", 8), toy::small_cluster(2, 2), {});
  Strategy strategy;
  strategy.groups.resize(problem.grouping->size(), Decision{mode, std::move(devices)});
  return {std::move(problem), std::move(strategy)};
}

}  // namespace strato
