// What stands on the devices through the whole step: of the tensors that no op produces, and of
// gradients that are kept from step to step. Not thread safe.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "core/program/place/emitter.h"
#include "core/program/place/mesh_letters.h"
#include "core/program/place/symmetry.h"

namespace strato {

class Residents {
 public:
  Residents(const Tables& tables, const Placement& placement, const MeshLetters& letters)
      : tables_(tables), placement_(placement), letters_(letters) {}
  // Of the strategy that is placed: every parameter is where it is at home, and nothing else yet.
  void start();

  // From here on the device has these samples of the tensor, all of it, or this slice. The samples
  // that a device has of one tensor are kept as one range, and so are slices along one axis; where
  // it has slices along several axes, it has all of it.
  // Samples are kept so for each micro-batch.
  void add(TensorId tensor, DeviceId device, std::int32_t begin, std::int32_t end) {
    if (tables_.tensors[tensor].kind != BatchKind::Batched) return add_all(tensor, device);
    const std::int32_t micro = std::max(placement_.layouts().now().micro, 0);
    samples_[cell(tensor, device, micro)].add(begin, end);
  }
  void add_all(TensorId tensor, DeviceId device) {
    samples_[cell(tensor, device)].add(0, tables_.batch);
  }
  void add_slice(TensorId tensor, DeviceId device, const AxisRange& range);
  // All of the tensor, a slice of it, or a slice along several axes.
  void add_kept(TensorId tensor, DeviceId device, const Part& part);
  // A part that has nothing in common with those that were added so.
  void add_part(TensorId tensor, DeviceId device, const Part& part) {
    parts_[{device, tensor}].push_back(part);
    ++part_count_;
  }
  std::size_t part_count() const { return part_count_; }  // that were added so
  // What devices have of this micro-batch's samples they have of those that follow, too.
  void repeat_samples(std::int32_t micro);
  // A part of a gradient stays on the device from step to step.
  void carry(const Resident& gradient) { carried_.push_back(gradient); }
  // Every shard of the op, or this one, has the samples of the tensor that it reads.
  void add_reader(OpId op, TensorId tensor);
  void add_reader(OpId op, TensorId tensor, std::size_t shard);
  void add_homes(TensorId parameter);

  // Samples and whole tensors alone, of a step in one micro-batch.
  Bytes bytes(TensorId tensor, DeviceId device) const {
    return bytes(tensor, samples_[cell(tensor, device)]);
  }
  void forget(TensorId tensor);

  // `ids`: of the program's parts.
  void list(PartIndex& ids, std::vector<Resident>& residents) const;

 private:
  using Place = std::pair<DeviceId, TensorId>;

  std::size_t cell(TensorId tensor, DeviceId device, std::int32_t micro = 0) const {
    const auto slot = static_cast<std::size_t>(tables_.tensors[tensor].slot);
    const std::size_t block = static_cast<std::size_t>(micro) * kept_devices(tables_, placement_);
    return (block + kept_place(placement_, device)) * tables_.slots.size() + slot;
  }
  Bytes bytes(TensorId tensor, const SampleRange& has) const {
    if (has.end <= has.begin) return Bytes(0);
    return slice_bytes(tables_.tensors[tensor], has.begin, has.end, tables_.batch);
  }
  bool add_samples(PartIndex& ids, Place place, const SampleRange& has,
                   std::vector<Resident>& residents) const;
  bool list_samples(PartIndex& ids, Place place, std::size_t cell,
                    std::vector<Resident>& residents) const;
  void list_parts(PartIndex& ids, Place place, std::vector<Resident>& residents) const;

  const Tables& tables_;
  const Placement& placement_;
  const MeshLetters& letters_;
  std::vector<SampleRange> samples_;  // micro-batch x kept device x slot
  std::map<Place, Part> slices_;
  std::map<Place, std::vector<Part>> parts_;
  std::size_t part_count_ = 0;
  std::vector<Resident> carried_;
};

}  // namespace strato
