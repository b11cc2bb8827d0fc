// The tasks that synchronise one part of a variable: its terms cut, encoded, sent, summed up, the
// update, and what is kept for the next step. Not thread safe.
#pragma once

#include <span>

#include "core/program/copies/exchange_tasks.h"
#include "core/strategy/value/variable_check.h"

namespace strato {

// A part of a variable as it is lowered.
struct SyncedPart {
  OpId update;
  TensorId parameter, gradient;
  const SyncPart* sync = nullptr;
  std::size_t index = 0;  // in its variable
  int staleness = 0;
  Part box;     // of the variable
  Bytes bytes;  // of its gradient, as it is
  bool is_cut() const { return !box.is_whole(); }
};

// A term or sum of a part's gradient on a device.
struct GradientTerm {
  Instance at;
  Encoding encoding = Encoding::None;  // as it is there
};

class SyncTasks : ExchangeBase {
 public:
  explicit SyncTasks(const ExchangeBase& base) : ExchangeBase(base) {}

  SyncedPart part_of(const VariableSync& variable, std::size_t index) const;
  std::span<const Shard> replicas(const SyncedPart& part) const {
    return placement_.homes(part.update).shards;
  }
  // The part of the variable that these samples' gradient is a term of.
  PartId part(const SyncedPart& part, const AxisRange& samples);
  Bytes bytes_of(const SyncedPart& part, const GradientTerm& term) const;
  Task task_of(TaskKind kind, const SyncedPart& part, DeviceId device);

  // Each adds one task, or none where there is nothing to do.
  //
  // A replica's term. `fresh`: nobody else may read what it is. And as it is sent.
  GradientTerm cut(const SyncedPart& part, std::size_t replica, Encoding encoding,
                   bool fresh = false);
  GradientTerm outgoing(const SyncedPart& part, std::size_t replica);
  GradientTerm encode(const SyncedPart& part, const GradientTerm& sum);
  // Decoded. The terms are of samples that follow each other.
  GradientTerm add_up(const SyncedPart& part, DeviceId device, std::span<const GradientTerm> terms);
  GradientTerm send(const SyncedPart& part, const GradientTerm& term, DeviceId to);
  // A slice takes its share of the op's time, but no less than the smallest kernel does.
  TaskId update(const SyncedPart& part, DeviceId device, const GradientTerm& gradient);
  // The new value, in place where the target keeps the parameter.
  Instance send_value(const SyncedPart& part, const Instance& from, DeviceId to);
  // The step that follows has it.
  void keep(const SyncedPart& part, const Instance& made, Bytes bytes);

 private:
  GradientTerm partial(const SyncedPart& part, std::size_t replica) const;
  GradientTerm split(const SyncedPart& part, const Instance& from, Encoding encoding);
  void keep_state(const SyncedPart& part, TensorId tensor, DeviceId device);
};

}  // namespace strato
