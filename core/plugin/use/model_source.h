// A model as it was imported, with what makes a problem of it, and how a workspace keeps it. Pure;
// safe from any thread.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/plugin/api/plugin.h"
#include "core/schedule/dag/fusion.h"
#include "core/search/api/problem.h"
#include "core/store/tables.h"

namespace strato {

inline constexpr int kMostGroups = 1'000'000;  // that one may ask for

struct ModelSource {
  std::filesystem::path path;
  std::string name;                    // for people: the file's name without its ending
  std::shared_ptr<const Graph> graph;  // as imported, forward only
  ImportOptions import;
  ProblemOptions options;
  GroupingMethod grouping = GroupingMethod::Metis;
  std::vector<std::string> remarks = {};  // the importer's, on what of the file is not in the graph
};

// Throws InputError, about `file`, where the row is damaged.
ModelSource model_from(const StoredModel& row, const std::string& file);
StoredModel row_of(const ModelSource& model, const Problem& problem);
StoredCluster row_of(const Cluster& cluster);

}  // namespace strato
