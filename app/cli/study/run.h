// What we predict for the cells of studies.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "app/cli/study/file.h"
#include "core/cost/value/calibration.h"
#include "core/graph/group/grouping.h"
#include "core/program/value/program.h"

namespace strato::cli {

// A cell with everything that does not depend on the calibration.
struct StudyCase {
  const Study* study = nullptr;
  StudyCell cell;
  std::shared_ptr<const Graph> graph;        // the training graph
  std::shared_ptr<const Grouping> grouping;  // what is kept at the host, and the rest
  std::string cluster;                       // its file, restricted to the GPUs in use
  int machines = 1, gpus = 1;                // in use

  const StudyRow& row() const { return study->rows[cell.row]; }
  const StudyColumn& column() const { return study->columns[cell.column]; }
  double reported_seconds() const;          // of one step
  double speed(double step_seconds) const;  // what the paper counts, per second
  double in_unit(double step_seconds) const;
  // One GPU needs none: its variables are its own.
  Exchange exchange() const { return gpus == 1 ? Exchange::AllReduce : row().exchange; }
  std::string strategy() const;  // for people
};

// Step time = the larger of what the devices take and what reading the samples takes, and what the
// framework's process takes to start the kernels (it starts them one after the other and the
// devices wait for it), and a fixed part.
struct Prediction {
  double seconds = 0;
  double devices = 0, dispatch = 0, input = 0;
  bool fits = true;
};

// What is simulated of a case: it depends on the constants that simulation_key() holds, and a fit,
// which changes one constant after the other, simulates again only where one of them has changed.
struct Simulated {
  double seconds = 0;
  double kernels = 0;  // that one process starts
  bool fits = true;
};

// Imports every model once for every batch. `studies` must outlive the result. Throws InputError.
std::vector<StudyCase> prepare(std::span<const Study> studies);

// Kernels of the program that one process starts: those of all GPUs of a machine.
double kernels_of_a_process(const StudyCase& study_case, const Program& program);

// All of these are safe from any thread.
Digest simulation_key(const StudyCase& study_case, const Calibration& calibration);
Simulated simulate(const StudyCase& study_case, const Calibration& calibration);
Prediction predict(const StudyCase& study_case, const Simulated& simulated,
                   const Calibration& calibration);
std::vector<Prediction> predict_all(std::span<const StudyCase> cases,
                                    const Calibration& calibration);

}  // namespace strato::cli
