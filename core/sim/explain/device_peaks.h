// What is in each device's memory at the moment of its peak, by what it is there for. Pure
// functions of a timeline; deterministic; safe from any thread.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/value/graph.h"
#include "core/sim/timeline/timeline.h"

namespace strato {

enum class MemoryCause : std::uint8_t {
  Parameters,      // as they rest between steps
  CastParameters,  // the same in the precision that products are computed in
  Gathered,        // parts of parameters that other devices keep (ZeRO's stage 3)
  OptimizerState,
  Gradients,  // of parameters
  Activations,
  Logits,        // what a loss reads of the model, and its gradient
  PassedBack,    // gradients of activations
  Communicated,  // what other devices have sent, other than the above
  Inputs,        // samples and constants
};
inline constexpr std::size_t kMemoryCauses = 10;
std::string_view name_of(MemoryCause cause);   // "cast_parameters"
std::string_view label_of(MemoryCause cause);  // "cast parameters"

struct DevicePeak {
  Nanos moment;
  Bytes peak;                                 // with what is resident
  std::array<Bytes, kMemoryCauses> by_cause;  // MemoryCause; their sum is the peak
  // By forward op what is there of its outputs and of their gradients: Activations, Logits,
  // PassedBack and Communicated.
  std::map<OpId, Bytes> by_op = {};
  TaskId running = {};  // what the device computes at that moment; invalid: nothing
};
// Of devices whose tasks another one stands for (Timeline::like): that one's.
IdVector<DeviceId, DevicePeak> device_peaks(const Timeline& timeline);

// Devices of one stage, and of as much memory, that have the same in it at their peaks.
struct DevicesAlike {
  std::int32_t stage = -1;  // -1: there are no stages
  std::vector<DeviceId> devices;
};
std::vector<DevicesAlike> devices_alike(const Timeline& timeline,
                                        const IdVector<DeviceId, DevicePeak>& peaks);

// What a device does at its peak, for people: "in the backward pass of fc6 of micro-batch 2 of 4".
std::string running_text(const Program& program, TaskId running);

// Calls `hold` with each part of a tensor that is in the memory of a device at the moment of that
// device's peak, and with its buffer: invalid of what is resident. Devices whose tasks another one
// stands for are left out.
using HeldAtPeak = std::function<void(DeviceId, TensorId, Bytes, BufferId)>;
void each_held_at_peak(const Timeline& timeline, const HeldAtPeak& hold);

}  // namespace strato
