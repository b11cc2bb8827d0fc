// Fits the constants of a calibration to the cells of studies that are meant for it.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "app/cli/study/run.h"

namespace strato::cli {

// Where a fit begins: the standard calibration, and guesses for the framework's part.
Calibration fit_start();

// Minimises the mean |log(ours / theirs)| over the cells with `calibrate` set and a number, by
// coordinate search in the logarithms of the constants with halving steps: deterministic, and the
// same whatever the number of threads. `progress` hears the objective after each sweep.
Calibration fit(std::span<const StudyCase> cases, Calibration calibration,
                const std::function<void(const std::string&)>& progress);

}  // namespace strato::cli
