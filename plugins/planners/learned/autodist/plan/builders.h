// Hand-designed strategy builders (AutoDist 2.1, 3.1, 3.2): synchronisation as known systems do it,
// composed of node configs.
#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/planners/learned/autodist/plan/sync_task.h"

namespace strato::autodist {

struct BuilderOptions {
  std::int64_t chunk = 64;               // allreduce: adjacent variables of one message
  Bytes bucket{std::int64_t{64} << 20};  // horovod, parallax: most bytes of one message
  Bytes large{std::int64_t{4} << 20};    // variables from here on are divided by those that divide
  std::uint64_t seed = 1;                // of those that draw
};

inline constexpr std::int64_t kAnyParts = std::numeric_limits<std::int64_t>::max();

std::vector<std::string_view> builder_names();  // ascending by effort, not by name

// Throws InputError for a name that is not there.
SyncPlan build(std::string_view name, const SyncTask& task, const BuilderOptions& options);

struct BuiltPlan {
  std::string name;  // "allreduce chunk=64"
  SyncPlan plan;
};
// Every builder, those with an option at several of its values: what a person would try.
std::vector<BuiltPlan> all_builds(const SyncTask& task, std::uint64_t seed);

// Adjacent all-reduced parts of one data type become messages of at most `limit` bytes and `most`
// parts; a part that is larger stands alone. Row-wise encoded ones stay on their own.
void merge_adjacent(const SyncTask& task, SyncPlan& plan, Bytes limit, std::int64_t most);

}  // namespace strato::autodist
