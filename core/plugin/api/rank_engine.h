// An engine that computes the instructions of one rank: a compute engine (numeric: real tensors;
// replay: real buffers, and time as simulated) and a transport, both plugins. The worker
// (app/worker) drives them and knows neither LibTorch nor CUDA.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/graph/value/graph.h"
#include "core/plugin/api/engine.h"
#include "core/program/rank/rank_program.h"

namespace strato {

// The values of a rank on its device. run() is called by the compute stream's thread, memory() by
// those of communication; never at the same time for one value (the rank program's waits see to
// it).
class RankExecution {
 public:
  virtual ~RankExecution() = default;

  // Steps count from 1: loads the step's input batch.
  virtual void begin_step(std::int64_t step) = 0;
  // Compute, View, Update, Split, Concat or Sum. Throws InputError naming the op when the device's
  // memory does not suffice or the library refuses it.
  virtual void run(std::size_t instruction) = 0;
  // Contiguous bytes of a value that a transport reads or fills; one that is not there yet is
  // allocated.
  virtual std::span<std::byte> memory(ValueId value) = 0;
  virtual void release(ValueId value) = 0;

  // A resident value's elements, little endian.
  virtual std::string read(ValueId value) const = 0;
  virtual void write(ValueId value, const std::string& elements) = 0;

  // The value of the graph's loss in the last step, as far as it was computed here (losses of
  // shards add up). Nothing when this rank computes none, or with the replay engine.
  virtual std::optional<double> loss() const = 0;
  virtual Bytes peak_memory() const = 0;  // of the steps so far
};

// `rows` times `width` bytes, each row so far after the one before.
struct RowCopy {
  std::byte* to = nullptr;
  std::size_t to_pitch = 0;
  const std::byte* from = nullptr;
  std::size_t from_pitch = 0;
  std::size_t width = 0, rows = 1;
};

// A RankExecution is also a DeviceMemory when the host cannot touch what its memory() spans:
// whoever would copy there asks it to. Only a transport that reaches_devices() (NCCL) may be given
// such memory: it reads pointers as the device does. Any thread; a copy is done when the call
// returns.
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;
  // Both ends are of this device, or of the host.
  virtual void copy(const RowCopy& rows) = 0;
  // Returns memory for a transport's pieces. Throws std::bad_alloc.
  virtual std::shared_ptr<std::byte> scratch(std::size_t bytes) = 0;
};

class RankEngine {
 public:
  virtual ~RankEngine() = default;
  virtual std::string software() const = 0;  // "LibTorch 1.13.1, oneDNN 2.6.3"
  // Throws InputError for an unknown device, or naming an op that is not supported.
  virtual std::unique_ptr<RankExecution> prepare(std::shared_ptr<const Graph> graph,
                                                 std::shared_ptr<const RankProgram> program,
                                                 const EngineOptions& options) const = 0;
};

// A collective or transfer that is going on; destroy it only when it is done.
class Pending {
 public:
  virtual ~Pending() = default;
  // Throws InputError naming the peer or the members when the connection broke or the
  // meeting's patience() ended.
  virtual void wait() = 0;
};

// The meeting point of the ranks of one job.
struct Meeting {
  int rank = 0, ranks = 1;
  std::string host = "127.0.0.1";  // of rank 0
  std::uint16_t port = 0;
  std::string interface;  // address to listen on; empty: the one that reaches `host`
  std::string secret;     // of the job: every peer presents it before any payload is read
  std::chrono::milliseconds timeout{10'000};
  // So much longer than `timeout` may an operation wait, once all have met: the ranks of a
  // measurement wait for each other as long as it may last.
  std::chrono::milliseconds idle{0};
  std::chrono::milliseconds patience() const { return timeout + idle; }  // of an operation
  // A rank may take this long to answer once it is known to listen (at most `timeout`), and one of
  // those that have met may give no sign of life for so long. One that computes for long gives
  // signs.
  std::chrono::milliseconds connect{6'000}, silence{5'000};
};

// A rank that others can do nothing with any more.
struct LostRank {
  int rank = 0;
  std::string problem;   // "is lost: its connection broke"
  bool stopped = false;  // its process is there, or its machine cannot be reached: it tells nothing
};

// Whose a collective is: ranks, this one among them; ascending, or in a ring's order, to be gone
// around. On which stream it is.
struct Members : std::span<const int> {
  using std::span<const int>::span;
  Members(std::span<const int> ranks, Stream on) : std::span<const int>(ranks), stream(on) {}
  Stream stream = Stream::Communication;
};

// Moves bytes between ranks. Operations start when called and go on in the background; two with the
// same peers do so in the order of the calls, collectives if they are on one stream, too. What is
// on another stream never waits for them. All ranks call for what they share in one order,
// whichever stream it is on. `tag` is the program's task id. Not thread safe: one thread issues,
// any thread waits. The process ignores SIGPIPE, so that what is written to a rank that is gone is
// an error of the operation.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual std::unique_ptr<Pending> send(int to, std::uint32_t tag, std::span<std::byte> bytes) = 0;
  virtual std::unique_ptr<Pending> receive(int from, std::uint32_t tag,
                                           std::span<std::byte> bytes) = 0;
  virtual std::unique_ptr<Pending> all_reduce(const Members& members, std::uint32_t tag,
                                              DataType type,
                                              std::vector<std::span<std::byte>> values) = 0;
  // `pieces[i]`: where member i's bytes go; ours is filled already.
  virtual std::unique_ptr<Pending> all_gather(const Members& members, std::uint32_t tag,
                                              std::vector<std::span<std::byte>> pieces) = 0;
  // `pieces[i]`: our term of what member i gets; our own piece holds the sum afterwards.
  virtual std::unique_ptr<Pending> reduce_scatter(const Members& members, std::uint32_t tag,
                                                  DataType type,
                                                  std::vector<std::span<std::byte>> pieces) = 0;
  // `sent[i]`: what member i gets of ours; `received[i]`: where what we get of its goes. Our own
  // piece does not travel. Pieces that meet have the same size.
  virtual std::unique_ptr<Pending> all_to_all(const Members& members, std::uint32_t tag,
                                              std::vector<std::span<std::byte>> sent,
                                              std::vector<std::span<std::byte>> received) = 0;
  // Whether it moves what is in the memory of a device, too (see DeviceMemory).
  virtual bool reaches_devices() const { return false; }
  virtual void barrier() = 0;
  // Small texts to rank 0 (results, errors, times), in rank order; empty elsewhere. Blocks.
  virtual std::vector<std::string> gather(const std::string& text) = 0;
  // The first rank that is known to be lost, whether an operation waits for it or not. Any thread.
  virtual std::optional<LostRank> lost() const { return std::nullopt; }
};

}  // namespace strato
