// How many of a program's buffers are there at once.
#pragma once

#include <algorithm>
#include <vector>

#include "core/sim/timeline/timeline.h"

namespace strato {

// At most, of those for which `counts` is true of the buffer and the task that takes it.
template <class Counts>
int most_at_once(const Timeline& timeline, const Counts& counts) {
  const Program& program = *timeline.program;
  struct Life {
    Nanos begin, end;
  };
  std::vector<Life> lives;
  const IdVector<BufferId, Lifetime> all = lifetimes(timeline);
  for (const BufferId buffer : all.ids())
    if (counts(program.buffers[buffer], program.tasks[all[buffer].taken_by]))
      lives.push_back({timeline.tasks[all[buffer].taken_by].start,
                       timeline.tasks[all[buffer].released_by].end});
  std::ptrdiff_t most = 0;
  for (const Life& life : lives)
    most = std::max(most, std::ranges::count_if(lives, [&](const Life& other) {
                      return other.begin <= life.begin && life.begin < other.end;
                    }));
  return static_cast<int>(most);
}

}  // namespace strato
