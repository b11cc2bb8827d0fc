#include "core/program/exchange/slice_exchange.h"

#include <algorithm>

namespace strato {

bool SliceExchange::is_divided(TensorId tensor, int axis) const {
  return placement_.layout(copies_.owners(tensor)).is_split() &&
         copies_.divided_axis(tensor) == axis;
}

Instance SliceExchange::gather(TensorId tensor, DeviceId device) {
  const AxisRange all =
      placement_.layout(copies_.owners(tensor)).all_of(copies_.divided_axis(tensor));
  return copies_.add(tensor, tasks_.concat(tensor, device, pieces(tensor, device, all), all));
}

Instance SliceExchange::join(TensorId tensor, DeviceId device, const AxisRange& range) {
  const std::vector<Instance> of = pieces(tensor, device, range);
  return of.size() == 1 ? of[0] : copies_.add(tensor, tasks_.concat(tensor, device, of, range));
}

std::vector<Instance> SliceExchange::pieces(TensorId tensor, DeviceId device,
                                            const AxisRange& range) {
  const Layout& owners = placement_.layout(copies_.owners(tensor));
  std::vector<Instance> result;
  for (std::size_t i = 0; i < owners.shards.size(); ++i) {
    AxisRange overlap = owners.range(i, range.axis);
    overlap.begin = std::max(overlap.begin, range.begin);
    overlap.end = std::min(overlap.end, range.end);
    if (overlap.begin < overlap.end) result.push_back(piece(tensor, i, device, overlap));
  }
  return result;
}

// Some of what one part holds.
Instance SliceExchange::piece(TensorId tensor, std::size_t index, DeviceId device,
                              const AxisRange& range) {
  if (const Instance* here = copies_.local(tensor, device, tasks_.part(tensor, range)))
    return *here;
  const Instance from = part(tensor, index, range.axis);
  const AxisRange own = placement_.layout(copies_.owners(tensor)).range(index, range.axis);
  const Instance made = own == range ? from : cut(tensor, from, range);
  return made.device == device ? made
                               : copies_.add(tensor, tasks_.send(tensor, made, device, range));
}

Instance SliceExchange::part(TensorId tensor, std::size_t index, int axis) {
  if (tables_.tensors[tensor].source != Source::Parameter) return copies_.of_shard(tensor, index);
  const Layout& homes = placement_.layout(copies_.owners(tensor));
  return resident(tensor, homes.shards[index].device, homes.range(index, axis));
}

// A Split where `from` is; it is not needed again on the same device.
Instance SliceExchange::cut(TensorId tensor, const Instance& from, const AxisRange& range) {
  if (const Instance* here = copies_.local(tensor, from.device, tasks_.part(tensor, range)))
    return *here;
  return copies_.add(tensor, tasks_.split(tensor, from, range));
}

Instance SliceExchange::bring(TensorId tensor, const Instance& whole, DeviceId device,
                              const AxisRange& range) {
  const Instance made = cut(tensor, whole, range);
  return made.device == device ? made
                               : copies_.add(tensor, tasks_.send(tensor, made, device, range));
}

Instance SliceExchange::resident(TensorId tensor, DeviceId device, const AxisRange& range) {
  residents_.add_slice(tensor, device, range);
  Instance instance;
  instance.device = device;
  instance.part = tasks_.part(tensor, range);
  if (tables_.tensors[tensor].source == Source::Parameter)
    instance.slot = tables_.tensors[tensor].slot;
  return instance;
}

void SliceExchange::gather_at_home(TensorId parameter) {
  std::vector<Instance> parts;
  for (std::size_t i = 0; i < placement_.layout(copies_.owners(parameter)).shards.size(); ++i)
    parts.push_back(part(parameter, i, copies_.divided_axis(parameter)));
  collectives_.all_gather_parts(parameter, parts);
}

}  // namespace strato
