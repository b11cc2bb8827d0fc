// Slices along other axes than the batch: what ops that are split so read and make (FastT 5.2,
// Algorithm 2, lines 16 to 30: a split node at a producer, a concatenation at a consumer).
//
// What is made in parts, or kept so, goes as it is to a reader that is split along the same axis;
// any other gathers it. Of what stands whole somewhere a slice is cut out there (Split), and sent.
// Not thread safe.
#pragma once

#include <vector>

#include "core/program/exchange/collectives.h"
#include "core/program/exchange/copies.h"
#include "core/program/exchange/exchange_tasks.h"
#include "core/program/exchange/residents.h"

namespace strato {

class SliceExchange {
 public:
  SliceExchange(const Tables& tables, const Placement& placement, Copies& copies,
                Residents& residents, ExchangeTasks& tasks, Collectives& collectives)
      : tables_(tables),
        placement_(placement),
        copies_(copies),
        residents_(residents),
        tasks_(tasks),
        collectives_(collectives) {}

  // Is it made or kept in parts along this axis?
  bool is_divided(TensorId tensor, int axis) const;
  // All of what is made or kept in parts, by Transfers and a Concat; and a slice of it along the
  // axis of the parts.
  Instance gather(TensorId tensor, DeviceId device);
  Instance join(TensorId tensor, DeviceId device, const AxisRange& range);
  // A parameter that is kept in parts to all of it on all devices that keep it, by one AllGather.
  void gather_at_home(TensorId parameter);

  // The slice that is brought to the device from where the whole stands.
  Instance bring(TensorId tensor, const Instance& whole, DeviceId device, const AxisRange& range);
  // From here on the device has the slice of a tensor that no op produces.
  Instance resident(TensorId tensor, DeviceId device, const AxisRange& range);

 private:
  std::vector<Instance> pieces(TensorId tensor, DeviceId device, const AxisRange& range);
  Instance piece(TensorId tensor, std::size_t part, DeviceId device, const AxisRange& range);
  Instance part(TensorId tensor, std::size_t part, int axis);
  Instance cut(TensorId tensor, const Instance& from, const AxisRange& range);

  const Tables& tables_;
  const Placement& placement_;
  Copies& copies_;
  Residents& residents_;
  ExchangeTasks& tasks_;
  Collectives& collectives_;
};

}  // namespace strato
