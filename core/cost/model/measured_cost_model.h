// The cost model of the program: measurements where there are some, else the calibrated roofline.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/cost/value/cost_model.h"
#include "core/cost/value/profile.h"

namespace strato {

// The sources that a cost model is made from. The default is the analytic model alone.
struct CostSources {
  std::shared_ptr<const Calibration> calibration;  // null: Calibration::standard()
  std::shared_ptr<const Profile> profile;          // null: nothing was measured
};

// Measured costs where the profile has them, fits between and beyond them, the calibrated roofline
// for the rest. Fills `warnings` (when given) with what of the profile cannot be used, in
// sentences.
std::shared_ptr<const CostModel> make_cost_model(std::shared_ptr<const Graph> graph,
                                                 std::shared_ptr<const Cluster> cluster,
                                                 const CostSources& sources,
                                                 std::vector<std::string>* warnings = nullptr);

// Costs may come from files that a person names, beside the analytic model.
struct CostFiles {
  std::vector<std::string> profiles;  // merged
  std::string calibration;            // file, or the name of a bundled one; empty: the standard
  bool empty() const { return profiles.empty() && calibration.empty(); }
};

// Throws InputError. `warnings`: what is odd about pooling these profiles.
CostSources read_costs(const CostFiles& files, std::vector<std::string>* warnings = nullptr);
// Files as absolute paths, which hold wherever the program is started.
CostFiles absolute(CostFiles files);

// Says what is odd about pooling two profiles: the same ops measured on another machine or with
// other software. Empty: nothing is.
std::string mixture_warning(const Profile& a, const Profile& b);
// For people, and to tell two results' sources apart: "" for the standard calibration alone.
std::string describe(const CostSources& sources);

// How much of a graph on a cluster a profile covers, and how well its fits meet its measurements.
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
