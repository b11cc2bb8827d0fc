// The ranks of a job as NCCL knows them, and what is known of their lives.
//
// NCCL runs what is asked of one communicator in that order, and a transfer blocks its stream until
// its peer takes part. So each pair of ranks has a communicator and a stream for each direction:
// transfers wait for their own peer only, and a send never for a receive. Collectives have a
// communicator for each set of members and stream of the program, and a CUDA stream for each of the
// latter: the ranks issue all that they share in one order, so that in one stream they cannot wait
// for each other in a circle.
//
// The channels of pairs are split off the communicator of all ranks (ncclCommSplit) at the start,
// in an order that all ranks know, and used once, so that nothing is connected and no kernel loaded
// while others run. A split takes all ranks, and only the members learn of a set; so theirs are
// made when they first ask for them, with an id that the first member sends the others over the
// channels.
//
// NCCL knows no authentication: its unique ids travel on admitted connections and NCCL's own only.
#pragma once

#include <cuda_runtime.h>
#include <nccl.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "core/graph/value/graph.h"
#include "core/plugin/api/rank_engine.h"
#include "plugins/transports/meeting/admission.h"

namespace strato::nccl_transport {

struct Channel {
  ncclComm_t communicator = nullptr;
  cudaStream_t stream = nullptr;
  std::vector<int> members;  // ascending
};

class Connections {
 public:
  // Connects on the calling thread's current GPU. Throws InputError: no GPU, ranks that do not
  // come, NCCL.
  explicit Connections(const Meeting& meeting);
  // Blocks until all ranks are done, or for a moment.
  ~Connections();
  Connections(const Connections&) = delete;
  Connections& operator=(const Connections&) = delete;

  const Meeting& meeting() const { return meeting_; }
  std::optional<LostRank> lost() const { return watch_->lost(); }
  const Channel& to(int peer) const { return to_.at(peer); }
  const Channel& from(int peer) const { return from_.at(peer); }
  // One thread issues.
  const Channel& group(std::span<const int> members, Stream stream);

  // Starts what `calls` asks of NCCL as one group; `done` is recorded behind it. Throws InputError.
  using Calls = std::function<ncclResult_t(ncclComm_t, cudaStream_t)>;
  void start(const Channel& channel, const Calls& calls, cudaEvent_t done);
  // Any thread. Throws InputError naming who died or does not answer; nothing goes on then.
  void wait(const Channel& channel, cudaEvent_t done);
  // CUDA knows a current GPU for each thread.
  void on_gpu() const;

 private:
  using Time = std::chrono::steady_clock;

  void meet();
  void make_channels(int round, bool upwards);
  void transfer(int peer, std::span<std::byte> bytes, bool sends);  // blocks until it is done
  ncclComm_t join(const ncclUniqueId& id, int place, int members);
  ncclUniqueId id_of_group(std::span<const int> members);
  ncclUniqueId fresh_id();
  // Waits until NCCL has done what it was asked, which goes on in the background.
  void settle(ncclComm_t communicator, ncclResult_t status, std::span<const int> members);
  cudaStream_t make_stream();
  void check(ncclResult_t status, std::span<const int> members);
  void check(cudaError_t status) const;
  void look_after(const Channel& channel);
  [[noreturn]] void fail(std::span<const int> members, const std::string& reason);
  void abort_all();

  Meeting meeting_;  // not idle before all have met
  int gpu_ = 0;
  Channel world_;
  std::map<int, Channel> to_, from_;  // by peer
  std::map<std::pair<Stream, std::vector<int>>, Channel> groups_;
  cudaStream_t tensor_stream_ = nullptr;  // of Stream::TensorCommunication
  std::vector<cudaStream_t> streams_;
  std::vector<ncclComm_t> communicators_;
  std::recursive_mutex mutex_;  // over all calls of NCCL that start something or end everything
  std::atomic<bool> failed_ = false;
  bool aborted_ = false;
  std::unique_ptr<admission::Watch> watch_;
};

// One operation of NCCL's under way, with what of its memory the GPU cannot reach in pinned
// buffers.
class Message final : public Pending {
 public:
  using Bytes = std::span<std::byte>;

  Message(Connections& connections, const Channel& channel);
  ~Message() override;
  Message(const Message&) = delete;
  Message& operator=(const Message&) = delete;

  void transfer(int peer, Bytes bytes, bool sends);  // to the peer, or from it
  // Returns what the GPU is to use in place of `bytes`: the same, or a pinned copy that is copied
  // back by wait() when it is `filled`.
  std::byte* reachable(Bytes bytes, bool filled);
  void start(const Connections::Calls& calls);

  void wait() override;

 private:
  struct FreePinned {
    void operator()(std::byte* data) const { cudaFreeHost(data); }
  };
  struct Pinned {
    std::unique_ptr<std::byte, FreePinned> copy;
    Bytes original;
    bool filled;
  };
  int place_of(int rank) const;  // among the channel's members

  Connections& connections_;
  const Channel& channel_;
  cudaEvent_t done_ = nullptr;
  std::vector<Pinned> pinned_;
};

// ---- what needs no GPU: in which order pairs of ranks get their channels, how wide these are,
// which network interface NCCL may use, and how it names element types

// Every rank meets every other one in exactly one of so many rounds, and each round's pairs have no
// rank in common (a tournament by the circle method).
int round_count(int ranks);
// Whom this rank meets in the round; -1: nobody.
int partner_in(int round, int rank, int ranks);

// Blocks of the GPU that one channel between two ranks may use: all of them together at most half
// of the multiprocessors, so that a kernel that waits for its peer never keeps another from
// starting.
int blocks_of_channel(int ranks, int multiprocessors);

// The name of the interface with this numeric address, "eth0"; empty: none has it.
std::string interface_with(const std::string& address);

// Throws InputError for a type that NCCL does not sum (Bool, I16).
ncclDataType_t sum_type_of(DataType type);

}  // namespace strato::nccl_transport
