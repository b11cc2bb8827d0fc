// Inside core/store only: the tables of a workspace file, and how a file of an older version
// becomes one of this.
#pragma once

#include <span>

namespace strato::store {

// Brings a file from schema version `to - 1` to `to`. Entries ascend by one from 1.
struct Migration {
  int to;
  const char* sql;
};
std::span<const Migration> migrations();

}  // namespace strato::store
