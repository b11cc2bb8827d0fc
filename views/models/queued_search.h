// One search apart from the session: it owns its problem, and writes its run into a workspace while
// it goes on, as the session does for its own.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "core/search/run/run_record.h"
#include "core/search/run/tournament.h"
#include "views/models/problem_source.h"
#include "views/models/queued_place.h"

namespace strato {

struct QueuedSearch {  // all that it needs, as it was when a person asked for it
  std::string planner;
  RunOptions options;
  ModelSource model;
  ClusterSource cluster;
  std::shared_ptr<const Problem> problem;  // null: of one that was left from another time
  std::filesystem::path workspace;
  std::shared_ptr<QueuedPlace> place = {};  // given up once its run is stored; null: it has none
};

struct QueuedProgress {
  RunRow run = 0;
  Nanos baseline;  // data parallel with AllReduce
  Progress progress;
};

struct QueuedResult {
  RunRow run = 0;     // 0: it could not even be begun
  std::string error;  // why it failed; else empty
  std::string note;
  bool stopped = false;
  Nanos baseline;
  Progress progress;  // at the end
};

// Blocks until the planner is done, or soon after a stop, and until all of it is stored. `tell` is
// called on this thread a few times a second; `written` on another one whenever the workspace has
// changed. Nothing is thrown: what goes wrong is in the result, and in the run's note.
QueuedResult run_and_store(const QueuedSearch& search, const PlannerFactory& make_planner,
                           const std::function<void(const QueuedProgress&)>& tell,
                           const std::function<void()>& written, std::stop_token stop);

}  // namespace strato
