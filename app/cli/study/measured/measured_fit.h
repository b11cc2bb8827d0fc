// Fits the constants of a framework's calibration to measured training steps.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "app/cli/study/measured/measured_prediction.h"

namespace strato::cli {

// Of every other row, at most 120 of them; the others are for checks. Starts from the calibration
// of the first row's framework. Throws InputError where no row can be predicted.
Calibration fit_measured(std::span<const MeasuredRow> rows,
                         const MeasuredCalibrations& calibrations,
                         const std::function<void(const std::string&)>& progress);

}  // namespace strato::cli
