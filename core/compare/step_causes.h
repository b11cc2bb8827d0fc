// Explains the difference of two step times cause by cause: the critical paths of two timelines,
// each cut into reasons that add up to its step time (core/sim/explain/path_pieces.h), stand side
// by side. Values; safe from any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/sim/explain/path_pieces.h"

namespace strato {

// Devices by name of their kind: "1080ti" for those of the machines "1080ti-0" to "1080ti-3", with
// the GPU's type where a machine has several.
IdVector<DeviceId, std::string> device_kinds(const Cluster& cluster);

struct Cause {
  std::optional<Reason> reason;  // nothing: several, folded
  std::string text;              // "waiting for 1080ti", "AllReduce", "4 other causes"
  Nanos from, to;                // of the critical path
  Nanos change() const { return to - from; }
};
// Largest change first, whatever its sign; causes that take the same time in both are last. All
// `from` add up to the first step time, all `to` to the second.
std::vector<Cause> step_causes(const Timeline& from, const std::vector<PathPiece>& from_path,
                               const Timeline& to, const std::vector<PathPiece>& to_path);

// The first ones, and one for all others; at most `most` (2 or more) in all. Sums stay. Causes that
// change nothing are dropped.
std::vector<Cause> folded(const std::vector<Cause>& causes, std::size_t most);

std::string_view words_for(TensorRole role);  // "gradients", "parameters", "activations"

}  // namespace strato
