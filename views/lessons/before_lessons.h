// What the window showed before lessons began, to be shown again when they are left: the problem,
// its costs, the strategy, the run it is from, and how steps are simulated. GUI thread only.
#pragma once

#include <optional>

#include "core/cost/model/measured_cost_model.h"
#include "core/strategy/file/named_strategy.h"
#include "views/models/problem_source.h"
#include "views/models/session.h"

namespace strato {

class BeforeLessons {
 public:
  bool known() const { return shown_.has_value(); }
  // Nothing where nothing is open, or something is remembered already. What was given back and is
  // still on its way counts as open.
  void remember(const Session& session);
  // In the background; `failed` of the session tells what cannot be. The workspace must be the one
  // of before. Forgets it. False: there was nothing to remember.
  bool give_back(Session& session);
  void forget() { *this = {}; }

 private:
  struct Shown {
    ModelSource model;
    std::shared_ptr<const Cluster> cluster;
    NamedStrategy strategy;
    QString label;
    CostFiles costs;
    Simulation simulation;
    std::optional<RunRow> run;  // whose history and tree were shown
  };
  std::optional<Shown> shown_, given_back_;
  std::weak_ptr<const Problem> given_over_;  // what was open when it was given back
};

}  // namespace strato
