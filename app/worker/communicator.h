// Issues the communication of a rank program on a transport: which bytes of which values go where.
//
// issue() is for one thread; what it returns may be finished by any thread.
#pragma once

#include <memory>
#include <new>
#include <span>
#include <stdexcept>
#include <unordered_map>
#include <vector>

#include "app/worker/cut_layout.h"
#include "app/worker/value_memory.h"
#include "core/plugin/api/rank_engine.h"
#include "core/program/rank/rank_program.h"

namespace strato::worker {

// The transport failed: probably the consequence of what happened to another rank.
class PeerFailure : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Runs `call`, and makes a PeerFailure of what the transport throws; a lack of memory is this
// rank's own failure.
template <class Call>
auto on_transport(Call&& call) {
  try {
    return call();
  } catch (const std::logic_error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    throw PeerFailure(error.what());
  }
}

// One instruction under way.
class Operation {
 public:
  virtual ~Operation() = default;
  // Waits until it is done, and puts what came where it belongs. Throws PeerFailure.
  virtual void finish() = 0;
};

class Communicator {
 public:
  // Of rank r's device: device_of_rank[r]. All of them outlive the communicator.
  Communicator(const Graph& graph, const RankProgram& program,
               std::span<const DeviceId> device_of_rank, RankExecution& execution,
               Transport& transport);

  // Throws PeerFailure, or what the engine throws when the memory does not suffice.
  std::unique_ptr<Operation> issue(std::size_t instruction);

  // Instructions of one lane end in the order in which they start: transfers to one peer, from one
  // peer, collectives of the same members on one stream, copies to the host, from there. Numbered
  // from 0.
  std::size_t lane(std::size_t instruction) const { return lane_[instruction]; }
  std::size_t lane_count() const { return lanes_; }

 private:
  int rank_of(DeviceId device) const;
  std::vector<int> ranks_of(std::span<const DeviceId> devices) const;
  DataType type_of(ValueId value) const;
  void assign_lanes();
  void copy(ValueId from, std::span<std::byte> to);
  CutLayout::Copy row_copy() const;

  std::unique_ptr<Operation> move_slice(std::size_t index, ValueId value);
  std::unique_ptr<Operation> send(std::size_t index);
  std::unique_ptr<Operation> receive(std::size_t index);
  std::unique_ptr<Operation> all_reduce(std::size_t index);
  std::unique_ptr<Operation> all_gather(std::size_t index);
  std::unique_ptr<Operation> reduce_scatter(std::size_t index);
  std::unique_ptr<Operation> all_to_all(std::size_t index);
  std::unique_ptr<Operation> copy_with_host(std::size_t index);
  std::size_t own_place(std::size_t index) const;  // among the members

  const Graph& graph_;
  const RankProgram& program_;
  RankExecution& execution_;
  ValueMemory memory_;
  Transport& transport_;
  std::unordered_map<DeviceId, int> rank_of_;
  std::vector<std::size_t> lane_;  // by instruction
  std::size_t lanes_ = 0;
};

}  // namespace strato::worker
