// Admits ranks to a job: before a rank opens anything of a transport's, it presents the job's
// secret at rank 0, on a connection that stays open until the end and tells when a rank dies.
//
// The means to connect a transport (ports, a fresh random token for each pair of ranks, NCCL's
// unique id) are handed out on the admitted connections only.
//
// This excludes others who can reach the ports: other users of the machines, other jobs, port
// scanners, a stale worker of an earlier job. It does not hide or sign what is sent: whoever reads
// or alters the traffic between the machines sees the secret and the data. Use it on a network that
// you trust, or through a tunnel.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "core/base/error.h"
#include "core/plugin/api/rank_engine.h"
#include "plugins/transports/meeting/socket.h"

namespace strato::admission {

struct Roster {
  std::string address;              // on which the others reach this rank
  std::vector<Socket> connections;  // rank 0: by rank, its own not open; others: to rank 0 alone
  std::vector<std::string> tokens;  // by rank: of the pair of it and this rank
};

// Blocks until all ranks are there. Throws InputError: the port is taken, rank 0 does not answer
// within the timeout, ranks that did not come (by number), the secret is refused.
Roster admit(const Meeting& meeting);

// All ranks' texts, by rank; every rank calls it.
std::vector<std::string> exchange(const Meeting& meeting, const Roster& roster,
                                  const std::string& own);

// Both throw InputError of this rank, the second about another one.
[[noreturn]] void refuse(const Meeting& meeting, const std::string& problem,
                         const std::string& remedy);
[[noreturn]] void refuse_rank(const Meeting& meeting, int rank, const std::string& problem);

// Takes as long for texts that differ early as for equal ones.
bool equal(const std::string& a, const std::string& b);

// Learns, on the connections of the admission, that a rank has died, hangs or has left, and tells
// the others through rank 0. Every rank and rank 0 give each other signs of life. A process that
// was stopped, or a machine that cannot be reached, falls silent; one that computes for long does
// not: a thread of its own speaks.
//
// Thread safe.
class Watch {
 public:
  // `connections`: rank 0 by rank, the others to rank 0 alone.
  Watch(const Meeting& meeting, std::vector<Socket> connections);
  ~Watch();

  // The first rank that went without leaving, or fell silent. Waits so long for news.
  std::optional<LostRank> lost(std::chrono::milliseconds patience = {}) const;
  // Says that this rank is done, and waits until all others are, or one is lost, or so long.
  void leave(std::chrono::milliseconds patience);

 private:
  struct Peer {
    int rank = 0;
    Socket socket;
    Clock::time_point heard;  // before it has spoken: when it will have begun
    bool left = false, gone = false;
  };

  void run();
  void hear(Peer& peer);
  void note(Peer& peer, char what, int rank);
  void beat();
  void lose(int rank, bool silent);  // with the mutex held
  void tell_all(char what, int rank);
  bool all_left() const;  // with the mutex held

  int rank_;
  std::chrono::milliseconds silence_;
  Clock::time_point beaten_;  // when this one last gave a sign
  std::vector<Peer> peers_;
  Pipe wake_ = Pipe::make();  // closing its end to write ends the thread's waiting
  mutable std::mutex mutex_;
  mutable std::condition_variable news_;
  std::optional<LostRank> lost_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

// A transport reports with this that something which it asked of others failed. Waits a moment
// until a death is known everywhere. Throws InputError naming the rank that died, or else those of
// `others` (this rank may be among them) that do not answer.
[[noreturn]] void throw_failure(const Meeting& meeting, const Watch& watch,
                                std::span<const int> others);

// Nothing is left to wait for.
class Done final : public Pending {
 public:
  void wait() override {}
};

// A job of one rank: nobody to talk to.
class AloneTransport final : public Transport {
 public:
  using Bytes = std::span<std::byte>;
  std::unique_ptr<Pending> send(int, std::uint32_t, Bytes) override { return nobody(); }
  std::unique_ptr<Pending> receive(int, std::uint32_t, Bytes) override { return nobody(); }
  std::unique_ptr<Pending> all_reduce(const Members&, std::uint32_t, DataType,
                                      std::vector<Bytes>) override {
    return std::make_unique<Done>();
  }
  std::unique_ptr<Pending> all_gather(const Members&, std::uint32_t, std::vector<Bytes>) override {
    return std::make_unique<Done>();
  }
  std::unique_ptr<Pending> reduce_scatter(const Members&, std::uint32_t, DataType,
                                          std::vector<Bytes>) override {
    return std::make_unique<Done>();
  }
  std::unique_ptr<Pending> all_to_all(const Members&, std::uint32_t, std::vector<Bytes>,
                                      std::vector<Bytes>) override {
    return std::make_unique<Done>();
  }
  void barrier() override {}
  std::vector<std::string> gather(const std::string& text) override { return {text}; }

 private:
  [[noreturn]] static std::unique_ptr<Pending> nobody() { CHECK(false, "a job of one rank"); }
};

// A job of more ranks has a transport of this class.
template <class Many>
std::unique_ptr<Transport> make_transport(const Meeting& meeting) {
  if (meeting.ranks == 1) return std::make_unique<AloneTransport>();
  return std::make_unique<Many>(meeting);
}

// Moves bytes to a rank or from it and blocks until that is done; of no bytes, nothing happens.
using MoveBytes = std::function<void(int peer, std::span<std::byte> bytes, bool sends)>;

// By rank; on other ranks than 0 none. Every rank calls it. A text goes after its size.
std::vector<std::string> gather_texts(const Meeting& meeting, const std::string& own,
                                      const MoveBytes& move);

}  // namespace strato::admission
