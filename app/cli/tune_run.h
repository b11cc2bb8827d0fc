// A round of `tune`, or a trial, on real processes: staged, launched, followed, stored.
#pragma once

#include <memory>
#include <string>

#include "app/cli/context.h"
#include "app/cli/interrupt.h"
#include "app/cli/launch_options.h"
#include "core/launch/measured/tune.h"

namespace strato::cli {

// What is planned, and how it is run, by commands that do both again and again.
struct PlanAndRunOptions {
  ModelOptions model;
  CostOptions costs;
  PlannerChoice planner;
  LaunchOptions launch;
  std::string cluster;

  PlanAndRunOptions() { launch.set_name = "--launcher-set"; }  // --set is the planner's
  void declare(CLI::App& command);
};

struct RoundSetting {
  const LaunchOptions& options;
  const LoadedModel& model;
  const Problem& problem;  // as it was given: of the cluster that strategies are stored with
  // What ops take in truth, of engines that replay; null: the engine knows.
  std::shared_ptr<const CostModel> replayed;
  std::string folder;    // of all rounds; empty: temporary ones
  Workspace* workspace;  // null: nothing is stored
  Interrupt& interrupt;
  std::string what = "tune, round";  // a round is called in the workspace
};

// A job that fails is a failed run; throws InputError where it cannot be started at all.
PlanRun run_round(const RoundSetting& setting, const TunePlan& plan);

}  // namespace strato::cli
