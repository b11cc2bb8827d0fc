// What is predicted of measured training steps: each model is laid out as it was measured, by the
// planner "pipeline", and simulated once.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "app/cli/study/measured/measured_row.h"
#include "core/cost/value/calibration.h"

namespace strato::cli {

struct MeasuredPrediction {
  double seconds = 0;
  double bytes = 0;     // of the device that has most; 0: nothing was measured of it
  std::string refused;  // why nothing is predicted, in place of both
};

// The constants of a framework, by its bundled calibration; or one for all.
class MeasuredCalibrations {
 public:
  // `given`: a file or a bundled name; empty: each framework's own. Throws InputError.
  explicit MeasuredCalibrations(const std::string& given);
  std::shared_ptr<const Calibration> of(MeasuredFramework framework) const;
  // In the precision of the row's products.
  std::shared_ptr<const Calibration> of(const MeasuredRow& row) const;

 private:
  std::map<MeasuredFramework, std::shared_ptr<const Calibration>> by_framework_;
};

// One of each row, in their order, on all cores. `done` hears how many are ready, from any thread.
// Rows behind a stop request are refused.
std::vector<MeasuredPrediction> predict_measured(std::span<const MeasuredRow> rows,
                                                 const MeasuredCalibrations& calibrations,
                                                 const std::function<void(std::size_t)>& done,
                                                 const std::stop_token& stop);

// How far predictions of these rows are off with a calibration: the mean of fit_term() (fit.h). The
// rows are laid out once, with `calibrations`.
std::function<double(const Calibration&)> measured_error(std::span<const MeasuredRow> rows,
                                                         const MeasuredCalibrations& calibrations);

// Seconds of each collective.
std::vector<double> predict_collectives(std::span<const MeasuredCollective> collectives,
                                        const MeasuredCalibrations& calibrations);

}  // namespace strato::cli
