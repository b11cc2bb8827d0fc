// Parts of variables that all replicas reduce, and update each for itself. Not thread safe.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "core/program/variable/sync_tasks.h"

namespace strato {

class VariableReduction {
 public:
  VariableReduction(Tables& tables, const Placement& placement, Emitter& emitter,
                    ExchangeTasks& tasks, SyncTasks& sync)
      : tables_(tables), placement_(placement), emitter_(emitter), tasks_(tasks), sync_(sync) {}
  void start() { reduced_.clear(); }
  void reduce(const SyncedPart& part);

 private:
  std::vector<SyncedPart> merged_with(const SyncedPart& part) const;
  void all_reduce(std::span<const SyncedPart> parts);
  void all_gather(const SyncedPart& part);
  void commit(Task& task, Collective kind, const SyncedPart& part);

  Tables& tables_;
  const Placement& placement_;
  Emitter& emitter_;
  ExchangeTasks& tasks_;
  SyncTasks& sync_;
  // Of the parts of merge groups that are reduced, until each is updated: by replica.
  std::map<std::pair<OpId, std::size_t>, std::vector<GradientTerm>> reduced_;
};

}  // namespace strato
