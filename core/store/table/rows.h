// The numbers of what a workspace keeps (SQLite's row ids), and the connection that its tables are
// read and written through.
#pragma once

#include <cstdint>

namespace strato {

using ModelRow = std::int64_t;  // SQLite row ids
using ClusterRow = std::int64_t;
using StrategyRow = std::int64_t;
using RunRow = std::int64_t;
using TrainingRow = std::int64_t;
using LaunchRow = std::int64_t;
using QueuedRow = std::int64_t;

namespace store {
class Connection;
}

}  // namespace strato
