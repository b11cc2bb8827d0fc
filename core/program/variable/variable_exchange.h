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
// with no axis. Not thread safe.
#pragma once

#include "core/program/variable/sync_tasks.h"
#include "core/program/variable/variable_reduction.h"
#include "core/program/variable/variable_server.h"

namespace strato {

class VariableExchange {
 public:
  VariableExchange(Tables& tables, Placement& placement, Emitter& emitter, const Copies& copies,
                   Residents& residents, ExchangeTasks& tasks)
      : placement_(placement),
        emitter_(emitter),
        copies_(copies),
        sync_(tables, placement, emitter, copies, residents, tasks),
        reduction_(tables, placement, emitter, tasks, sync_),
        server_(*tables.cluster, emitter, sync_) {}
  void start() { reduction_.start(); }

  // All tasks of an update op for which SyncedVariables knows an entry, its own included.
  // Call it when every gradient is made.
  void lower(OpId update);

 private:
  void keep_gradients(const SyncedPart& first, TaskId since);

  const Placement& placement_;
  Emitter& emitter_;
  const Copies& copies_;
  SyncTasks sync_;
  VariableReduction reduction_;
  VariableServer server_;
};

}  // namespace strato
