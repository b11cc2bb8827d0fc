// The tasks that exchanges are made of, with their costs and priorities. Each adds one task to the
// program, and says what stands where afterwards. Not thread safe.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>

#include "core/cost/value/cost_model.h"
#include "core/program/copies/activation_gathers.h"
#include "core/program/copies/copies.h"
#include "core/program/copies/parameter_gathers.h"
#include "core/program/copies/residents.h"
#include "core/program/place/mesh_letters.h"
#include "core/program/place/readers.h"

namespace strato {

class ExchangeTasks {
 public:
  ExchangeTasks(Tables& tables, Placement& placement, Emitter& emitter)
      : tables_(tables), placement_(placement), emitter_(emitter) {}
  // Of the strategy that is placed. Of what rows share (StateSharding), as much as fits in a bucket
  // goes as one message.
  void start(Bytes bucket);
  // By op, for the tasks that follow; empty: first in, first out. A task of an exchange has the
  // priority of the first of the tensor's readers: it is in nobody else's interest.
  void set_priorities(std::span<const std::int32_t> priorities);
  std::int32_t priority(OpId op) const { return priorities_.empty() ? 0 : priorities_[op.index()]; }
  std::int32_t priority(TensorId tensor) const {
    return priority_of_.empty() ? 0 : priority_of_[tensor];
  }

  // What of a message's latency is its own, and not of others in its bucket.
  Nanos latency_in_bucket(Nanos latency, Bytes bytes) const {
    if (bytes >= bucket_) return latency;
    return Nanos(static_cast<std::int64_t>(static_cast<__int128>(latency.value) * bytes.value /
                                           bucket_.value));
  }

  // Which part of a tensor a range of it is: of the batch, in the tensor's kind, or of an axis.
  PartId part(TensorId tensor, const AxisRange& range);
  PartId samples(TensorId tensor, std::int32_t begin, std::int32_t end) {
    const BatchKind kind = tables_.tensors[tensor].kind;
    if (kind == BatchKind::Whole || end - begin == tables_.batch) return kWhole;
    return kind == BatchKind::Batched ? emitter_.parts().samples(begin, end)
                                      : emitter_.parts().partial_sum(begin, end);
  }
  AxisRange samples_of(const Instance& instance) const {
    const AxisRange* samples = emitter_.program().parts[instance.part].along(kBatchAxis);
    return samples ? *samples : all_samples();
  }
  // Of the micro-batch that is lowered.
  AxisRange all_samples() const { return placement_.layouts().now().range; }
  // All of a tensor, as far as it is of these samples.
  PartId all_of(TensorId tensor) {
    const AxisRange all = all_samples();
    return samples(tensor, all.begin, all.end);
  }
  // At least 1.
  Bytes bytes_of(TensorId tensor, PartId part) const;

  // Just this part of what stands there, on the same device.
  Instance split(TensorId tensor, const Instance& from, PartId part);
  // The range of which the pieces are all.
  Instance concat(TensorId tensor, DeviceId device, std::span<const Instance> pieces,
                  const AxisRange& range);
  Instance sum(TensorId tensor, DeviceId device, std::span<const Instance> terms);
  // Adds a term to the sum that stands on its device, in place.
  TaskId add(TensorId tensor, const Instance& sum, const Instance& term);
  // What stands there.
  Instance send(TensorId tensor, const Instance& from, DeviceId to);
  // A parameter's new value, in place, from where it was updated.
  void send_home(TensorId parameter, OpId update, TaskId updated, DeviceId from, DeviceId home);

  PartId axis(const AxisRange& all) { return emitter_.parts().find(Part().cut(all)); }
  // A task that moves all of the tensor; who makes it fills in where.
  Task communication(TaskKind kind, TensorId tensor) const;
  // Of the layout's devices, all of them.
  const CollectiveCost& collective_cost(TaskKind kind, LayoutId layout, Bytes bytes);
  Nanos move_time(DeviceId device, Bytes moved) const;
  void set_transfer(Task& task, DeviceId from, DeviceId to) const;  // as long as its bytes take
  // Of an op's time on the device the share of some of its elements. A cost model knows no slices:
  // rounded up, but no less than the smallest kernel takes, or the op, where that takes less.
  Nanos share_of(Nanos time, DeviceId device, std::int64_t some, std::int64_t all) const;
  // Both add a task whose tensor and bytes are set. `make`: what it makes on the device; what it
  // reads was told before. `move`: a part that it brings from where it is, which it reads.
  Instance make(Task& task, DeviceId device, PartId part, Bytes bytes);
  Instance move(Task& task, const Instance& from, DeviceId to);

 private:
  struct CollectiveKey {
    LayoutId layout;
    TaskKind kind;
    Bytes bytes;
    friend bool operator==(const CollectiveKey&, const CollectiveKey&) = default;
  };
  struct CollectiveHash {
    std::size_t operator()(const CollectiveKey& key) const {
      const auto small =
          static_cast<std::uint64_t>(key.layout) * 16 + static_cast<unsigned>(key.kind);
      return static_cast<std::size_t>(
          (static_cast<std::uint64_t>(key.bytes.value) ^ (small << 40)) * 0x9e3779b97f4a7c15u >> 8);
    }
  };

  Tables& tables_;
  Placement& placement_;
  Emitter& emitter_;
  std::span<const std::int32_t> priorities_;      // by op
  IdVector<TensorId, std::int32_t> priority_of_;  // of the tasks that bring it; empty: all 0
  std::unordered_map<CollectiveKey, CollectiveCost, CollectiveHash> collective_costs_;
  Bytes bucket_;
  std::uint32_t generation_ = 0;  // of the layouts in collective_costs_
};

class MeshTwins;

// What all exchanges work with: a base of those who bring tensors where they are needed. Of one
// lowering, whose parts it refers to.
struct ExchangeBase {
  Tables& tables_;
  Placement& placement_;
  Emitter& emitter_;
  Copies& copies_;
  Residents& residents_;
  ExchangeTasks& tasks_;
  Readers& readers_;
  const MeshLetters& letters_;
  ParameterGathers& gathers_;
  ActivationGathers& activations_;
  MeshTwins& twins_;
};

}  // namespace strato
