// The strategies of a workspace. Its errors and threads are those of the workspace.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/digest.h"
#include "core/store/table/rows.h"

namespace strato {

enum class Origin : std::uint8_t { Run, Edit, Import };
struct StoredStrategy {
  StrategyRow id = 0;
  ModelRow model = 0;
  ClusterRow cluster = 0;
  std::optional<StrategyRow> parent;  // the strategy that it was edited from
  std::optional<RunRow> run;          // the run that found it
  Origin origin = Origin::Run;
  std::string label;
  std::string json;  // strategy_file.h text
  Digest digest;
  std::int64_t step_time_ns = 0;
  bool feasible = false;
  std::string created;  // ISO 8601, UTC
};

class StrategyTable {
 public:
  explicit StrategyTable(store::Connection& connection) : connection_(connection) {}

  // A strategy that is there already for model and cluster keeps its first parent and name; but
  // what runs only had on their way to their best is taken over by what is of no run.
  StrategyRow add(const StoredStrategy& strategy);
  void rename(StrategyRow strategy, std::string_view label);
  std::vector<StoredStrategy> all() const;  // without json
  std::optional<StoredStrategy> find(StrategyRow id) const;

 private:
  void take_over(StrategyRow row, const StoredStrategy& strategy);

  store::Connection& connection_;
};

}  // namespace strato
