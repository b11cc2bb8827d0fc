// Plans the measurements on a cluster, the most useful first.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/launch/measure/measure_job.h"

namespace strato {

// Everything there is to measure on a cluster, by one rank a device: all ops of the graphs on each
// GPU type, the transfers of every pair both ways, and all-reduce, all-gather and reduce-scatter of
// all devices, of every machine's, of every GPU type's and of one device a machine. First one pair
// of each kind (which GPU types, one machine or two), then the sets, then the others.
MeasureJob make_measure_job(const Cluster& cluster, const std::string& name,
                            std::vector<std::shared_ptr<const Graph>> graphs,
                            const MeasureJobOptions& options);

}  // namespace strato
