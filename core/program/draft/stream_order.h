// The order that a rank's two streams need: what an instruction waits for beyond its own stream,
// and where values are released.
//
// An instruction is known to have ended when another starts because both are on the compute stream,
// or because of waits. Communication that was started earlier may be under way still, also when a
// later one has ended.
#pragma once

#include <cstdint>
#include <vector>

#include "core/program/rank/rank_program.h"

namespace strato {

struct Need {
  std::uint32_t later, earlier;  // instructions: the one cannot start before the other ends
  friend auto operator<=>(const Need&, const Need&) = default;
};

// Fills waits and releases of a program whose other rows are there. base_of: by value, the value
// whose memory it shares, or invalid.
void order_streams(RankProgram& program, std::vector<Need> needs,
                   const IdVector<ValueId, ValueId>& base_of);

}  // namespace strato
