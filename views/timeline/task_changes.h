// What the tasks of one timeline take beside those of another of the same graph: by op and what is
// done for it (computation, update, reshuffling, communication), on the slowest device. Pure
// function; safe from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/sim/engine/simulate.h"

namespace strato {

enum class Change : std::uint8_t { OnlyHere, MuchFaster, Faster, Same, Slower, MuchSlower };
inline constexpr std::size_t kChanges = 6;

struct TaskChanges {
  struct Part {            // of an op
    Nanos longest, first;  // its longest task, and the first start of all
    bool known = false;    // there is one
  };
  std::vector<Part> here, there;  // by key_of

  static std::size_t key_of(const Task& task);
  Change of(const Task& task) const;
};

// As seen from either of the two; null when they are not of the same graph.
struct BothChanges {
  std::shared_ptr<const TaskChanges> here, there;
};
BothChanges compare_tasks(const Timeline& here, const Timeline& there);

}  // namespace strato
