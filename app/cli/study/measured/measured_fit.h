// Fits the constants of a framework's calibration to measured training steps.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "app/cli/study/measured/measured_prediction.h"

namespace strato::cli {

// To every other row, at most 120 of them, from the calibration of the first one's framework on.
// Its relative error is that of as many of the others. Throws InputError where none can be
// predicted.
Calibration fit_measured(std::span<const MeasuredRow> rows,
                         const MeasuredCalibrations& calibrations,
                         const std::function<void(const std::string&)>& progress,
                         const std::stop_token& stop);

}  // namespace strato::cli
