// Runs the searches of studies, each once however many cells need it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "app/cli/interrupt.h"
#include "app/cli/study/search_file.h"
#include "app/cli/study/strategy_summary.h"
#include "core/io/json.h"
#include "core/search/api/planner.h"

namespace strato::cli {

struct SearchLimits {
  std::optional<std::int64_t> iterations;  // nothing: the study's
  std::optional<int> topologies;           // nothing: the study's
  int seeds = 1;                           // 1, 2, ... of them; results are means over them
  int threads = 0;
};

// What is searched. `cluster` is a sample's name or a file; empty: the random one of `topology`.
struct StudySearch {
  std::string model;
  std::int64_t batch = 1;
  std::map<std::string, std::int64_t> dimensions;
  std::string cluster, calibration;
  int gpus = 0;                // of each machine; 0: all
  bool per_gpu_batch = false;  // `batch` is each GPU's
  std::uint64_t topology = 0;
  int groups = 60;
  std::string planner;
  std::map<std::string, std::string> set;
  std::int64_t iterations = 200;
  std::uint64_t seed = 1;
  bool until_beaten = false;  // stops when data parallelism is beaten
  bool floor = true;          // PlannerOptions::floor
  bool with_steps = false;    // PlannerOptions::record_steps
  bool framework = false;     // the step takes a framework's own time, too
  auto operator<=>(const StudySearch&) const = default;
};

struct StudyResult {
  enum State {
    Found,     // a strategy
    NotBuilt,  // there is no such planner here
    Refused,   // the planner does not serve this; `note` says why
    NotDone,   // Ctrl-C came before its end
  };
  State state = NotDone;
  std::string note;
  Score score;
  std::int64_t evaluations = 0;
  std::optional<std::int64_t> evaluations_to_beat;
  StrategySummary summary;
  std::map<std::string, int> duplicated;
  std::vector<PlanResult::Fact> facts;
  std::map<std::string, double> curve_ends;    // by name: the last point of each curve
  std::shared_ptr<const PlanningSteps> steps;  // when they were asked for
  double planning_seconds = 0;                 // of the planner alone
  double wall_seconds = 0;
};

class StudySearches {
 public:
  explicit StudySearches(Interrupt& interrupt) : interrupt_(interrupt) {}

  // `title`: of the study, for the progress line. Throws InputError for models and clusters; what a
  // planner refuses is a result.
  const StudyResult& run(const StudySearch& search, const SearchLimits& limits,
                         const std::string& title);
  // Of the search; kept until another one is asked for.
  const Problem& problem(const StudySearch& search);
  bool stopped() const { return interrupt_.requested(); }
  Json json(const StudySearch& search) const;  // of one that was run

 private:
  using ModelKey = std::tuple<std::string, std::int64_t, std::map<std::string, std::int64_t>>;
  StudyResult search(const StudySearch& search, const SearchLimits& limits,
                     const std::string& title);

  Interrupt& interrupt_;
  std::map<StudySearch, StudyResult> results_;
  std::map<ModelKey, std::shared_ptr<const Graph>> models_;  // as imported
  std::optional<Problem> problem_;                           // the last one
  StudySearch problem_of_;
};

}  // namespace strato::cli
