// Learns, on the connections of the admission, that a rank has died, hangs or has left, and tells
// the others through rank 0.
//
// Every rank and rank 0 give each other signs of life. A process that was stopped, or a machine
// that cannot be reached, falls silent; one that computes for long does not: a thread of its own
// speaks.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "core/plugin/api/rank_engine.h"
#include "plugins/transports/meeting/socket.h"

namespace strato::admission {

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

}  // namespace strato::admission
