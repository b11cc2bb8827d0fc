// A continuous line of straight pieces: what curves of measured times are made of. Private to this
// folder.
#pragma once

#include <limits>
#include <span>

namespace strato {

inline constexpr double kEndless = std::numeric_limits<double>::infinity();

struct LinePiece {
  double from, until;  // kEndless: the last piece
  double time, slope;  // nanoseconds at `from`, per unit
};

// `pieces` ascend, and the last one has no end; before the first one, the first one goes on.
inline double time_on_line(std::span<const LinePiece> pieces, double place) {
  const LinePiece* piece = pieces.data();
  while (place >= piece->until) ++piece;
  return piece->time + piece->slope * (place - piece->from);
}

}  // namespace strato
