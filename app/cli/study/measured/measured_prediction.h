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
  // Of collectives alone, without a framework.
  std::shared_ptr<const Calibration> of_collectives() const { return of_collectives_; }
  // In the precision of the row's products.
  std::shared_ptr<const Calibration> of(const MeasuredRow& row) const;

 private:
  std::map<MeasuredFramework, std::shared_ptr<const Calibration>> by_framework_;
  std::shared_ptr<const Calibration> of_collectives_;
};

// One of each row, in their order, on all cores. `done` hears how many are ready, from any thread.
// Rows behind a stop request are refused.
std::vector<MeasuredPrediction> predict_measured(std::span<const MeasuredRow> rows,
                                                 const MeasuredCalibrations& calibrations,
                                                 const std::function<void(std::size_t)>& done,
                                                 const std::stop_token& stop);

// Predicts step times of the same rows with one calibration after the other.
class MeasuredSteps {
 public:
  // Lays the rows out, with `calibrations`; those that cannot be, or have no time, are left out.
  // Throws InputError where none is left.
  MeasuredSteps(std::span<const MeasuredRow> rows, const MeasuredCalibrations& calibrations);
  ~MeasuredSteps();
  // Of each: log(ours / theirs).
  std::vector<double> errors(const Calibration& calibration) const;

 private:
  struct Case;
  std::vector<Case> cases_;
};

// Seconds of each collective.
std::vector<double> predict_collectives(std::span<const MeasuredCollective> collectives,
                                        const MeasuredCalibrations& calibrations);

}  // namespace strato::cli
