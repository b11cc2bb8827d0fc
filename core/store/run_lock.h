// Held while a run is searched, steered or deleted, so that no two programs do that to the same run
// at once: the later one would write its tree over the other's. Reading needs no lock. It goes with
// the process, also when that is killed. On one machine only.
#pragma once

#include <filesystem>

#include "core/store/stored.h"

namespace strato {

class RunLock {
 public:
  // Throws InputError when another program (or another RunLock) holds it.
  RunLock(const std::filesystem::path& workspace, RunRow run);
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

 private:
  std::filesystem::path file_;
  int handle_ = -1;
};

}  // namespace strato
