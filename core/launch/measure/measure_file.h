// measure.json (internal to core/job).
#pragma once

#include <string>
#include <vector>

#include "core/launch/job/job_file.h"
#include "core/launch/measure/measure_job.h"

namespace strato {

struct MeasureFile {
  MeasureJob job;  // without its graphs
  std::vector<StagedGraph> graphs;
};

std::string to_json(const MeasureFile& file);
MeasureFile parse_measure_job(const std::string& json, const std::string& file);

// Throws InputError (place: the option, or the probe) for what no worker can measure.
void check_measure_job(const MeasureJob& job, const std::string& file);

inline std::string graph_file(std::size_t i) { return "graph-" + std::to_string(i) + ".bin"; }

}  // namespace strato
