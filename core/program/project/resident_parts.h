// The parts of tensors that devices hold from step to step, where a program does not say so by
// buffers: slices of parameters whose update is split, and gradients kept for the next step.
// Immutable; safe from any thread.
#pragma once

#include <map>
#include <span>
#include <utility>
#include <vector>

#include "core/program/value/program.h"

namespace strato {

class ResidentParts {
 public:
  // Throws InvariantError where a gradient is kept twice or without a place.
  explicit ResidentParts(const Program& program);

  bool has(TensorId tensor, DeviceId device) const { return find(tensor, device) != nullptr; }
  // The part of a resident tensor that stands for the wanted one: of a parameter that is trained,
  // a slice that the device keeps, or all of it; of others the wanted one itself.
  Part standing_for(TensorId tensor, DeviceId device, const Part& wanted) const;
  // The parts of a gradient that the step before left there.
  std::span<const Part> carried(TensorId tensor, DeviceId device) const;

 private:
  using Place = std::pair<DeviceId, TensorId>;
  const Resident* find(TensorId tensor, DeviceId device) const;  // null: none
  void list_slices();
  void list_carried();

  const Program& program_;
  std::map<Place, std::vector<Part>> slices_, carried_;
};

}  // namespace strato
