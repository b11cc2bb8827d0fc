// The cost model that all but tests use: measurements where there are some, else the calibrated
// roofline.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/cost/value/cost_model.h"

namespace strato {

// The sources that a cost model is made from. The default is the analytic model alone.
struct CostSources {
  std::shared_ptr<const Calibration> calibration;  // null: Calibration::standard()
  std::shared_ptr<const Profile> profile;          // null: nothing was measured
};

// Measured costs where the profile has them, fits between and beyond them, the calibrated roofline
// for the rest. Fills `warnings` (when given) with what of the profile cannot be used, one sentence
// each.
std::shared_ptr<const CostModel> make_cost_model(std::shared_ptr<const Graph> graph,
                                                 std::shared_ptr<const Cluster> cluster,
                                                 const CostSources& sources,
                                                 std::vector<std::string>* warnings = nullptr);

}  // namespace strato
