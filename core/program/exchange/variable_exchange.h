// How variables with an entry of their own are synchronised (Strategy::variables; AutoDist 2.3):
// the Partitioner, Synchronizer and Compressor of one update op, part by part.
//
// Of each part
// - Partitioner: a Split cuts every replica's partial gradient, where there are several parts;
// - Compressor: the same Split, or one of its own, encodes what is sent. What is summed up or
//   received is decoded by the Sum, or by a Concat where there is nothing to sum up. Terms that are
//   not sent are not encoded;
// - Synchronizer, AllReduce: the replicas all-reduce the part, in place, and each updates its
// slice;
//   parts of one merge group on the same devices are one message, ready when the last of them is.
//   What is sparse cannot be reduced on its way: it is all-gathered, and each replica sums it up;
// - Synchronizer, PS: the terms go to the server, by the station of their machine where there is
//   one; it sums up and sends on (in its own machine the server is the station). The server updates
//   the slice, and the new value goes the same way back, in place into the replicas' parameter.
//
// Of a stale variable (VariableSync::staleness, which says what is read when) every replica keeps
// its gradient from step to step, in one Split that comes last. What is said above then begins with
// the gradient that was kept, and waits for nothing of this step; replicas read the parameter as it
// was when the step began (Exchange). From staleness 2 on the server keeps the sum, too, and its
// update and what follows begin with the sum that was kept. So the step takes as long as its
// compute, the way to the server, or the way back, whichever is longest, and what is shared of
// them. It need not be shorter than a synchronous one where the network is busy all the time: with
// a staleness of 1 gradients that were made one after the other, while others came back, are sent
// all at once, and come back all at once. From 2 on both ways begin at once: on exclusive links,
// where a transfer that waits holds up all behind it, they can be in each other's way and cost a
// few per cent more than one after the other; links that are shared fairly carry both.
//
// Every replica keeps the whole parameter. A server that is no replica keeps its slices; optimizer
// state stands where its slice is updated. Slices are tasks with an axis, as those of split ops,
// and with more of them where the variable is divided along several; one part alone is the whole,
// with no axis.
#pragma once

#include <map>
#include <span>
#include <utility>
#include <vector>

#include "core/program/exchange/exchange.h"
#include "core/program/place/emitter.h"
#include "core/program/place/placement.h"
#include "core/strategy/value/variable_check.h"

namespace strato {

class VariableExchange {
 public:
  VariableExchange(Tables& tables, Placement& placement, Emitter& emitter, Exchange& exchange)
      : tables_(tables), placement_(placement), emitter_(emitter), exchange_(exchange) {}
  void start(Program& program);

  // All tasks of an update op for which Placement::variable() knows an entry, its own included.
  // Call it when every gradient is made.
  void lower(OpId update);

 private:
  struct SyncedPart {
    OpId update;
    TensorId parameter, gradient;
    const SyncPart* sync = nullptr;
    std::size_t index = 0;
    int staleness = 0;
    std::vector<AxisRange> ranges;  // none: all of it
    std::int32_t more_cuts = -1;    // Task::more_cuts
    PartShape shape;
    Bytes bytes;  // as it is
  };
  SyncedPart part_of(const VariableSync& variable, std::size_t index);
  std::span<const Shard> replicas(const SyncedPart& part) const {
    return placement_.homes(part.update).shards;
  }
  // A term or sum of the part's gradient on a device.
  struct Term {
    Instance at;
    Encoding encoding = Encoding::None;  // as it is there
  };
  Task task_of(TaskKind kind, const SyncedPart& part, DeviceId device) const;
  Bytes encoded(const SyncedPart& part, const Instance& samples) const;
  Bytes bytes_of(const SyncedPart& part, TensorId tensor) const;
  Bytes bytes_of(const SyncedPart& part, const Term& term) const;
  Term partial(const SyncedPart& part, std::size_t replica) const;
  // Which part of its gradient stands there.
  PartId part_at(const SyncedPart& part, const Instance& at);
  bool is_cut(const SyncedPart& part) const { return !part.ranges.empty(); }

  // Each adds one task, or none where there is nothing to do.
  Term cut(const SyncedPart& part, std::size_t replica, Encoding encoding, bool fresh = false);
  Term outgoing(const SyncedPart& part, std::size_t replica);
  Term encode(const SyncedPart& part, const Term& sum);
  Term split(const SyncedPart& part, const Instance& from, Bytes read, Encoding encoding);
  Term add_up(const SyncedPart& part, DeviceId device, std::span<const Term> terms);
  TaskId update(const SyncedPart& part, DeviceId device, const Term& gradient);
  void keep_part(const SyncedPart& part, TensorId tensor, DeviceId device);

  // AllReduce (variable_reduction.cpp).
  void reduce(const SyncedPart& part);
  std::vector<SyncedPart> merged_with(const SyncedPart& part);
  void all_reduce(std::span<const SyncedPart> parts);
  void all_gather(const SyncedPart& part);
  CollectiveCost collective_cost(Collective kind, const SyncedPart& part, Bytes bytes);
  void set_cost(Task& task, const CollectiveCost& cost) const;

  // PS (variable_server.cpp).
  void serve(const SyncedPart& part);
  DeviceId station_of(const SyncedPart& part, DeviceId replica) const;
  Term send(const SyncedPart& part, const Term& term, DeviceId to);
  Term collect(const SyncedPart& part, DeviceId station);
  void send_back(const SyncedPart& part, TaskId updated);
  Instance send_value(const SyncedPart& part, const Instance& from, DeviceId to);

  // What stays from step to step (variable_stale.cpp).
  Instance carried(const SyncedPart& part, const Instance& made) const;
  void keep_gradients(const SyncedPart& whole);
  void keep_sum(const SyncedPart& part, const Term& sum, TaskId updated);
  void keep(const SyncedPart& part, const Instance& made, Bytes bytes);

  Tables& tables_;
  Placement& placement_;
  Emitter& emitter_;
  Exchange& exchange_;
  Program* program_ = nullptr;
  // Of merge groups that are reduced: by replica.
  std::map<std::pair<OpId, std::size_t>, std::vector<Term>> reduced_;
  std::vector<DeviceId> members_;  // of the collective being made
  // Of the gradients that replicas of the variable being lowered kept.
  std::map<DeviceId, std::vector<TaskId>> readers_;
};

}  // namespace strato
