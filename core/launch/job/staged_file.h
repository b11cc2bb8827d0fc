// Files beside a job's heading (internal to core/launch): written down with size and digest, and
// read only if they are the same.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "core/base/digest.h"
#include "core/graph/value/graph.h"
#include "core/io/json.h"
#include "core/launch/job/job.h"

namespace strato {

// A file beside job.json: its size is checked before it is read, its digest afterwards.
struct StagedFile {
  std::uintmax_t bytes = 0;
  Digest digest;
};
StagedFile staged(const std::string& content);
// Throws InputError when the file is not the one that was staged.
std::string read_staged(const std::filesystem::path& file, const StagedFile& expected);
Json to_json(const StagedFile& file);
StagedFile staged_file_from(const JsonView& view);

// A file with a graph, which has to be understood as it was when it was staged.
struct StagedGraph {
  StagedFile file;
  Digest graph;
};
StagedGraph stage_graph(const std::filesystem::path& file, const Graph& graph);
std::shared_ptr<const Graph> read_staged(const std::filesystem::path& file,
                                         const StagedGraph& expected);
Json to_json(const StagedGraph& graph);
StagedGraph staged_graph_from(const JsonView& view);

// A JobPlan's files.
struct StagedPlan {
  StagedFile plan;
  std::optional<StagedFile> calibration, profile;
  bool priorities = true, fair_links = false;
  Digest digest;  // of the problem and the strategy
};
StagedPlan stage_plan(const std::filesystem::path& folder, const JobPlan& plan);
JobPlan read_staged(const std::filesystem::path& folder, const StagedPlan& expected);

}  // namespace strato
