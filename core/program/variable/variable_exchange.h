// How variables with an entry of their own are synchronised (Strategy::variables; AutoDist 2.3):
// the Partitioner, Synchronizer and Compressor of one update op, part by part.
//
// Of each part
// - Partitioner: a Split cuts every replica's partial gradient, where there are several parts;
// - Compressor: the same Split, or one of its own, encodes what is sent. What is summed up or
//   received is decoded by the Sum, or by a Concat where there is nothing to sum up. Terms that are
//   not sent are not encoded;
// - Synchronizer, AllReduce: the replicas all-reduce the part, in place, and each updates its
//   slice; parts of one merge group on the same devices are one message, ready when the last of
//   them is. What is sparse cannot be reduced on its way: it is all-gathered, and each replica sums
//   it up;
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
// with no axis. Not thread safe.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "core/program/variable/sync_tasks.h"

namespace strato {

class VariableExchange : ExchangeBase {
 public:
  explicit VariableExchange(const ExchangeBase& base) : ExchangeBase(base), sync_(base) {}
  void start() { reduced_.clear(); }

  // All tasks of an update op for which SyncedVariables knows an entry, its own included.
  // Call it when every gradient is made.
  void lower(OpId update);

 private:
  void keep_gradients(const SyncedPart& first, TaskId since);

  void reduce(const SyncedPart& part);
  std::vector<SyncedPart> merged_with(const SyncedPart& part) const;
  void all_reduce(std::span<const SyncedPart> parts);
  void all_gather(const SyncedPart& part);
  void commit(Task& task, const SyncedPart& part);

  // Where a replica sends its term, and has the new value from. In the server's machine that is the
  // server.
  DeviceId station_of(const SyncedPart& part, DeviceId replica) const;
  GradientTerm collect(const SyncedPart& part, DeviceId station);
  std::vector<GradientTerm> terms_at_server(const SyncedPart& part);
  void serve(const SyncedPart& part);
  void send_back(const SyncedPart& part, TaskId updated);

  SyncTasks sync_;
  // Of the parts of merge groups that are reduced, until each is updated: by replica.
  std::map<std::pair<OpId, std::size_t>, std::vector<GradientTerm>> reduced_;
};

}  // namespace strato
