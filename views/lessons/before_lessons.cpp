#include "views/lessons/before_lessons.h"

#include <utility>

#include "core/io/file.h"
#include "core/strategy/file/named_strategy.h"

namespace strato {
namespace {

// Of "mcts #3", where a workspace has it and its best strategy is what is shown.
std::optional<RunRow> stored_run(const Session& session) {
  const QString& name = session.search().run;
  const WorkspaceLists* workspace = session.workspace();
  const qsizetype number = name.lastIndexOf(QLatin1Char('#'));
  if (workspace == nullptr || number < 0 || session.snapshot().label != name) return std::nullopt;
  bool is_number = false;
  const RunRow row = name.mid(number + 1).toLongLong(&is_number);
  if (!is_number) return std::nullopt;
  const StoredRun* run = workspace->run(row);
  return run && run->best ? std::optional(row) : std::nullopt;
}

void open_costs(Session& session, const CostFiles& costs) {
  for (const std::string& profile : costs.profiles) session.open_profile(profile);
  if (costs.calibration.empty()) return;
  const std::filesystem::path file = costs.calibration;
  std::error_code none;
  session.open_calibration(std::filesystem::exists(file, none)
                               ? file
                               : home_directory() / "resources" / "calibrations" /
                                     (costs.calibration + ".json"));
}

}  // namespace

void BeforeLessons::remember(const Session& session) {
  const Snapshot& snapshot = session.snapshot();
  const ModelSource* model = session.model_source();
  if (shown_ || !snapshot.problem || model == nullptr) return;
  const std::optional<Shown> given_back = std::exchange(given_back_, std::nullopt);
  if (given_back && given_over_.lock() == snapshot.opened) {
    shown_ = given_back;
    return;
  }
  const Problem& problem = *snapshot.problem;
  shown_ =
      Shown{*model,
            problem.cluster,
            name_strategy(snapshot.strategy, *problem.graph, *problem.grouping, *problem.cluster),
            snapshot.label,
            snapshot.cost_files,
            session.simulation(),
            stored_run(session)};
}

bool BeforeLessons::give_back(Session& session) {
  const std::optional<Shown> shown = std::exchange(shown_, std::nullopt);
  if (!shown) return false;
  given_back_ = shown;
  given_over_ = session.snapshot().opened;
  session.set_simulation(shown->simulation);
  if (shown->run) {
    session.show_run(*shown->run);  // with its costs, history and tree
    return true;
  }
  session.close_costs();
  open_costs(session, shown->costs);
  session.open_problem(shown->model, shown->cluster, shown->strategy, shown->label);
  return true;
}

}  // namespace strato
