#include "core/program/copies/copies.h"

namespace strato {

void Copies::start() {
  const auto places =
      static_cast<std::size_t>(tables_.micro_batches > 1 ? tables_.micro_batches + 1 : 1);
  made_.assign(tables_.tensors.size() * places, Made());
  instances_.clear();
  heads_.clear();
}

std::size_t Copies::declare(TensorId tensor, LayoutId layout) {
  forget_copies(tensor);
  Made& made = this->made(tensor);
  made.first = static_cast<std::int32_t>(instances_.size());
  made.layout = layout;
  made.form = Form::Whole;
  const Layout& at = placement_.layout(layout);
  const BatchKind kind = tables_.tensors[tensor].kind;
  if (at.sharded && kind == BatchKind::Batched) made.form = Form::Slices;
  if (at.sharded && kind == BatchKind::Partial) made.form = Form::Partials;
  if (at.is_mesh) made.form = Form::OnMesh;
  instances_.resize(instances_.size() + at.shards.size());
  return static_cast<std::size_t>(made.first);
}

void Copies::stand_in_parts(TensorId output, int axis) {
  made(output).form = Form::Parts;
  made(output).axis = static_cast<std::int8_t>(axis);
}

void Copies::forget_copies(TensorId tensor) {
  Made& made = this->made(tensor);
  made.copies = -1;
  made.fetches = 0;
  made.no_collective = false;
  made.root = DeviceId();
}

void Copies::forget_gathered(TensorId tensor) {
  const std::int32_t lists = made(tensor).copies;
  if (lists < 0) return;
  const IdVector<TaskId, Task>& tasks = emitter_.program().tasks;
  for (std::size_t place = 0; place < kept_devices(tables_, placement_); ++place) {
    std::int32_t* at = &heads_[static_cast<std::size_t>(lists) + place];
    while (*at >= 0) {
      Instance& here = instances_[static_cast<std::size_t>(*at)];
      if (here.task.valid() && tasks[here.task].kind == TaskKind::AllGather)
        *at = here.next;
      else
        at = &here.next;
    }
  }
}

Instance Copies::add(TensorId tensor, const Instance& instance) {
  std::int32_t& lists = made(tensor).copies;
  if (lists < 0) {
    lists = static_cast<std::int32_t>(heads_.size());
    heads_.resize(heads_.size() + kept_devices(tables_, placement_), -1);
  }
  std::int32_t& last =
      heads_[static_cast<std::size_t>(lists) + kept_place(placement_, instance.device)];
  const auto before = std::exchange(last, static_cast<std::int32_t>(instances_.size()));
  instances_.push_back(instance);
  instances_.back().next = before;
  return instance;
}

const Instance* Copies::own(TensorId tensor, DeviceId device) const {
  const Made& made = this->made(tensor);
  if (made.layout < 0) return nullptr;
  const std::int32_t at = placement_.layout(made.layout).position(device);
  return at < 0 ? nullptr : &of_shard(tensor, static_cast<std::size_t>(at));
}

const Instance* Copies::local(TensorId tensor, DeviceId device, PartId part) const {
  if (const Instance* here = own(tensor, device); here && here->part == part) return here;
  for (std::int32_t i = last_copy(tensor, device); i >= 0;) {
    const Instance& here = instances_[static_cast<std::size_t>(i)];
    if (here.part == part) return &here;
    i = here.next;
  }
  return nullptr;
}

const Instance* Copies::covering(TensorId tensor, DeviceId device, PartId samples) const {
  const IdVector<PartId, Part>& parts = emitter_.program().parts;
  const AxisRange range = parts[samples].first();
  const auto covers = [&](const Instance& here) {
    if (here.part == kWhole) return true;
    const Part& has = parts[here.part];
    return has.is_samples() && samples != kWhole && has.first().contains(range);
  };
  const Instance* made = own(tensor, device);
  if (made && made->part == samples) return made;
  const Instance* found = nullptr;
  for (std::int32_t i = last_copy(tensor, device); i >= 0;) {
    const Instance& here = instances_[static_cast<std::size_t>(i)];
    if (here.part == samples) return &here;
    if (covers(here)) found = &here;  // the last in the list was made first
    i = here.next;
  }
  return made && covers(*made) ? made : found;
}

const Instance* Copies::holding(TensorId tensor, DeviceId device, const Part& part) const {
  const IdVector<PartId, Part>& parts = emitter_.program().parts;
  const auto is_it = [&](const Instance& here) { return parts[here.part] == part; };
  const auto has_it = [&](const Instance& here) { return contains(parts[here.part], part); };
  const Instance* exact = first_there(tensor, device, is_it);
  return exact ? exact : first_there(tensor, device, has_it);
}

LayoutId Copies::owners(TensorId tensor) const {
  const TensorFacts& facts = tables_.tensors[tensor];
  return facts.source == Source::Parameter ? placement_.homes_id(facts.op) : made(tensor).layout;
}

int Copies::divided_axis(TensorId tensor) const {
  const TensorFacts& facts = tables_.tensors[tensor];
  return facts.source == Source::Parameter ? placement_.split(facts.op)->axis : made(tensor).axis;
}

DeviceId Copies::nearest(TensorId tensor, LayoutId copies, DeviceId to) {
  if (placement_.layout(copies).has(to)) return to;
  const std::span<const DeviceId> near = placement_.layouts().nearest(copies, to);
  return near[static_cast<std::size_t>(made(tensor).fetches++) % near.size()];
}

}  // namespace strato
