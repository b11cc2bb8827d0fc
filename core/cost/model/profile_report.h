// Reports how much of a model on a cluster was measured.
#pragma once

#include <string>
#include <vector>

#include "core/cost/value/profile.h"

namespace strato {

// A profile covers a part of a graph on a cluster, and its fits meet its measurements more or less
// well.
struct ProfileReport {
  struct Gpu {
    std::string name;
    std::size_t ops = 0, measured = 0;  // that make tasks; with a measurement
    double time_covered = 0;            // share of the step's compute time, 0 to 1
    // Relative, root mean square per signature, leave-one-out over its batch sizes; 0 when none has
    // two.
    double median_error = 0, worst_error = 0;
  };
  std::vector<Gpu> gpus;
  std::vector<std::string> unused;   // signatures in the profile that the graph does not have
  std::vector<std::string> missing;  // "OP on GPU" without a measurement, most expensive first
};
ProfileReport report(const Profile& profile, const Graph& graph, const Cluster& cluster);

}  // namespace strato
