// Studies whose cells are what planners find: the kinds "speedup", "sfb", "iterations", "strategy",
// "duplicated", "placements" and "splits". The format is described in resources/studies/README.md.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "app/cli/study/file.h"

namespace strato::cli {

enum class SearchStudyKind {
  Speedup,     // how much faster than another planner
  Sfb,         // step times, and speed-ups between pairs of columns
  Iterations,  // evaluations until data parallelism is beaten, on random clusters
  Strategy,    // GPUs of each type per op, and how gradients are synchronised
  Duplicated,  // which ops sufficient factor broadcasting duplicates
  Placements,  // planners beside each other: step times, planning times, what fusion leaves
  Splits,      // which ops a planner splits
};
std::string_view name_of(SearchStudyKind kind);

// What a column of "placements" has; the last four need no planner. Curve: the last point of one
// that the planner drew of its own course.
enum class Measure { StepTime, PlanningTime, Curve, Nodes, FusedNodes, Ccr, FusedCcr };
inline bool is_of_fusion(Measure measure) { return measure >= Measure::Nodes; }

// What the paper has in a cell: nothing, a number, or "OOM".
struct OutOfMemory {};
using Reported = std::variant<std::monostate, double, OutOfMemory>;

struct SearchColumn {
  std::string label, planner;
  std::string cluster;  // empty: the study's
  int gpus = 0;         // of each machine; 0: all
  std::string over;     // column or planner that a speed-up is over; empty: none
  std::map<std::string, std::string>
      set;  // planner's options; {model}: the row's; {resources}: their folder
  std::optional<std::pair<double, double>> range;  // all that the paper says of its cells
  std::string gpu, exchange;                       // of "strategy": what is counted
  Measure measure = Measure::StepTime;             // of "placements"
  std::string curve;                               // of Measure::Curve: its name
  std::int64_t iterations = 0;                     // 0: the study's
};

struct SearchRow {
  std::string label, model;
  std::int64_t batch = 1;
  std::map<std::string, std::int64_t> dimensions;
  std::string cluster;           // empty: the columns'
  int gpus = 0;                  // of each machine; 0: as many as the columns say
  std::string over;              // of "speedup"; empty: as the columns say
  std::vector<Reported> values;  // by column
};

struct OpRow {  // of "splits"; nothing: the paper does not say
  std::string label, op;
  std::optional<double> milliseconds, thousand_parameters;
  bool is_split = false;
};

struct OpTypeRow {  // of "duplicated"
  std::string label;
  std::vector<std::string> types;  // our names
  double reported = 0;
};

struct SearchStudy {
  std::string file, name, source, calibration = "standard";
  SearchStudyKind kind = SearchStudyKind::Speedup;
  std::int64_t iterations = 200;
  int groups = 60;
  bool floor = true;             // PlannerOptions::floor
  bool per_gpu_batch = false;    // a row's batch is each GPU's (weak scaling)
  bool framework = false;        // of "speedup": steps take a framework's own time, too
  int topologies = 10;           // of "iterations"
  std::uint64_t first_seed = 1;  // of its random clusters
  std::vector<SearchColumn> columns;
  std::vector<SearchRow> rows;
  std::vector<OpTypeRow> op_types;
  std::vector<OpRow> ops;
};

// A study file of any kind. One of kind "sfb" is both: its column of data parallelism without SFB
// is also predicted as a measured step.
struct StudyFile {
  std::optional<Study> steps;
  std::optional<SearchStudy> searches;
};

// Throws InputError with the exact place.
StudyFile read_study_file(const std::filesystem::path& file);
StudyFile parse_study_file(std::string_view json, const std::string& file);

}  // namespace strato::cli
