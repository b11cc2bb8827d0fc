// The analytic cost model under a calibration. Private to this folder; everybody else goes through
// make_cost_model().
#pragma once

#include <memory>

#include "core/cost/calibration.h"
#include "core/cost/cost_model.h"

namespace strato {

// Never null arguments. Its explain_*() say Analytic, with the calibration's relative error.
std::shared_ptr<const CostModel> make_calibrated_cost_model(
    std::shared_ptr<const Graph> graph, std::shared_ptr<const Cluster> cluster,
    std::shared_ptr<const Calibration> calibration);

}  // namespace strato
