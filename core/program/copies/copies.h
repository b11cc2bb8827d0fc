// Where every tensor stands while a program is lowered: on its producer's devices, and where
// exchanges have brought copies or parts of it, so that two readers share one. Not thread safe.
#pragma once

#include <cstdint>
#include <vector>

#include "core/program/place/emitter.h"
#include "core/program/place/placement.h"
#include "core/program/place/symmetry.h"

namespace strato {

class Copies {
 public:
  // As what a tensor stands on its producer's devices.
  enum class Form : std::uint8_t { Absent, Whole, Slices, Partials, Parts, OnMesh };
  struct Made {
    std::int32_t first = -1;  // instance of shard 0 of the layout; the others' follow it
    LayoutId layout = -1;
    // Where heads_ has a list for each kept device of the instances that exchanges made; -1: none.
    std::int32_t copies = -1;
    std::int32_t fetches = 0;  // from equally near copies, to take turns
    Form form = Form::Absent;
    std::int8_t axis = -1;  // of Parts: the axis along which it is divided
    bool no_collective = false;
    DeviceId root;  // where partial sums were summed up
  };

  Copies(const Tables& tables, Placement& placement, const Emitter& emitter)
      : tables_(tables), placement_(placement), emitter_(emitter) {}
  void start();

  // What runs for each micro-batch makes a tensor each time; what runs once finds the sum of them.
  Made& made(TensorId tensor) { return made_[place_of(tensor)]; }
  const Made& made(TensorId tensor) const { return made_[place_of(tensor)]; }
  const Instance& instance(std::size_t at) const { return instances_[at]; }
  void set(std::size_t at, const Instance& instance) { instances_[at] = instance; }
  const Instance& of_shard(TensorId tensor, std::size_t shard) const {
    return instances_[first(tensor) + shard];
  }
  std::size_t first(TensorId tensor) const { return static_cast<std::size_t>(made(tensor).first); }
  // The instance for shard 0 where every shard of the layout has the tensor at hand, and the others
  // follow it; else -1.
  std::int32_t at_hand(TensorId tensor, LayoutId layout) const {
    return made(tensor).layout == layout ? made(tensor).first : -1;
  }

  // Declares that an output stands in the layout. One instance a shard is to be set: the index of
  // the first is returned.
  std::size_t declare(TensorId tensor, LayoutId layout);
  // The output was declared in the layout of an op that is split: it is divided along this axis.
  void stand_in_parts(TensorId output, int axis);
  // What was made stays; copies that exchanges made of it are forgotten.
  void forget_copies(TensorId tensor);
  // Those that were gathered, only.
  void forget_gathered(TensorId tensor);

  Instance add(TensorId tensor, const Instance& instance);
  // The instance that holds exactly this part on the device; null: none.
  const Instance* local(TensorId tensor, DeviceId device, PartId part) const;
  // The same of slices, or of a whole tensor that carries the batch; else one that holds these
  // samples and more: what the device made, or its first copy.
  const Instance* covering(TensorId tensor, DeviceId device, PartId samples) const;

  // What holds all elements of this part on the device: the part itself, or else what was made or
  // brought there first; null: nothing.
  const Instance* holding(TensorId tensor, DeviceId device, const Part& part) const;
  // What was made or brought there first for which the predicate is true; null: nothing.
  template <class Predicate>
  const Instance* first_there(TensorId tensor, DeviceId device, const Predicate& fits) const {
    if (const Instance* made = own(tensor, device); made && fits(*made)) return made;
    const Instance* found = nullptr;
    for (std::int32_t i = last_copy(tensor, device); i >= 0;) {
      const Instance& here = instances_[static_cast<std::size_t>(i)];
      if (fits(here)) found = &here;
      i = here.next;
    }
    return found;
  }

  // The layout in which a tensor was made, or a parameter is kept; and where that is a split one,
  // the axis along which it is divided.
  LayoutId owners(TensorId tensor) const;
  int divided_axis(TensorId tensor) const;
  // Of the copies in a layout the one that is fetched next to the device: the device's own, or one
  // of the nearest, which take turns.
  DeviceId nearest(TensorId tensor, LayoutId copies, DeviceId to);

 private:
  std::size_t place_of(TensorId tensor) const {
    if (tables_.micro_batches == 1) return tensor.index();
    const OpId producer = tables_.graph->tensor(tensor).producer;
    const bool repeated = producer.valid() && tables_.is_repeated(producer);
    const auto micro =
        static_cast<std::size_t>(repeated ? placement_.layouts().now().micro + 1 : 0);
    return micro * tables_.tensors.size() + tensor.index();
  }
  const Instance* own(TensorId tensor, DeviceId device) const;  // what the device made of it
  // The device's copy that was made last; the others follow it. -1: none.
  std::int32_t last_copy(TensorId tensor, DeviceId device) const {
    const std::int32_t lists = made(tensor).copies;
    return lists < 0 ? -1
                     : heads_[static_cast<std::size_t>(lists) + kept_place(placement_, device)];
  }

  const Tables& tables_;
  Placement& placement_;
  const Emitter& emitter_;
  std::vector<Made> made_;  // by place_of()
  std::vector<Instance> instances_;
  std::vector<std::int32_t> heads_;  // of lists of instances; one for each device of a tensor
};

}  // namespace strato
