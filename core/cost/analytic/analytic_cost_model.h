// The analytic cost model: a roofline for computing, latency and bandwidth for moving.
#pragma once

#include <memory>

#include "core/cost/value/calibration.h"
#include "core/cost/value/cost_model.h"

namespace strato {

// Roofline per op and GPU (peak rate x an efficiency by op family and size against memory
// bandwidth, plus launch overhead per kernel), latency + bytes / bandwidth for transfers, the
// cheapest of the collective algorithms. Its explain_*() say Analytic, with the calibration's
// relative error. `calibration`: null for Calibration::standard().
std::shared_ptr<const CostModel> make_analytic_cost_model(
    std::shared_ptr<const Graph> graph, std::shared_ptr<const Cluster> cluster,
    std::shared_ptr<const Calibration> calibration = nullptr);

}  // namespace strato
