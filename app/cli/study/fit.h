// Fits the constants of a calibration to the cells of studies that are meant for it.
#pragma once

#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>

#include "app/cli/study/run.h"

namespace strato::cli {

// One number that is fitted. Several constants of a calibration may follow it.
struct FitParameter {
  std::string_view name;
  double low, high;
  double (*get)(const Calibration&);
  void (*set)(Calibration&, double);
};

// Coordinate search in the logarithms of the parameters with halving steps, from `calibration` on:
// deterministic. `objective` is made least; `progress` hears it after each sweep. Once it is asked
// to stop it returns the best so far.
Calibration fit_parameters(std::span<const FitParameter> parameters, Calibration calibration,
                           const std::function<double(const Calibration&)>& objective,
                           const std::function<void(const std::string&)>& progress,
                           const std::stop_token& stop = {});
// How far they were moved: a slight pull to where they began, for those that nothing depends on.
double fit_pull(std::span<const FitParameter> parameters, const Calibration& calibration,
                const Calibration& start);
// Of one prediction: |log error|, rounded at the bottom, so that what fits well does not pull.
double fit_term(double ours, double theirs);
// The families that stream through memory keep the proportions that they have in the standard.
void scale_streams(Calibration& calibration, double elementwise);

// Where a fit begins: the standard calibration, and guesses for the framework's part.
Calibration fit_start();

// Minimises the mean |log(ours / theirs)| over the cells with `calibrate` set and a number: the
// same whatever the number of threads.
Calibration fit(std::span<const StudyCase> cases, Calibration calibration,
                const std::function<void(const std::string&)>& progress);

}  // namespace strato::cli
