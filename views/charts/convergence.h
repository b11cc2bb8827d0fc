// How several runs came down, as data for one chart, apart from drawing: read from a workspace,
// which holds those that are under way to within a second.
#pragma once

#include <QString>
#include <vector>

#include "core/base/units.h"
#include "core/store/workspace.h"
#include "views/charts/series.h"

namespace strato {

inline constexpr std::size_t kMostLines = 24;  // in one chart: that many can be told apart

struct ConvergenceRun {
  RunRow run = 0;
  QString name, problem;  // "tag #4", "vgg19 on tag-testbed"
  RunState state = RunState::Finished;
  Nanos baseline;                // data parallel; 0: not known
  std::int64_t evaluations = 0;  // so far
  double seconds = 0;
  std::vector<HistoryPoint> history;
};

// In the order of `runs`, each once, at most kMostLines; those that are gone are left out.
std::vector<ConvergenceRun> read_runs(const Workspace& workspace, const std::vector<RunRow>& runs);
// The latest runs of a model on a cluster, the oldest of them first.
std::vector<RunRow> latest_runs(const Workspace& workspace, const Digest& model,
                                const Digest& cluster, std::size_t most);

enum class ConvergenceOver { Evaluations, Seconds };
enum class ConvergenceOf { StepTime, Speedup };  // the latter compares runs of different problems

struct ConvergenceLine {
  QString name;
  std::vector<QPointF> points;  // a staircase; ms, or times as fast as data parallel
  bool outside = false;         // all of it is far worse than the best: beyond the end of the axis
};
struct ConvergenceChart {
  std::vector<ConvergenceLine> lines;  // as many as runs; without points where there is none
  StepRange x_range, y_range;
};
// Speed-ups are of those runs only whose baseline is known.
ConvergenceChart chart_of(const std::vector<ConvergenceRun>& runs, ConvergenceOver over,
                          ConvergenceOf of);
bool are_of_one_problem(const std::vector<ConvergenceRun>& runs);

}  // namespace strato
