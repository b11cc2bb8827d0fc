// Learns, on the connections of the admission, that a rank has died or has left, and tells the
// others through rank 0.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "plugins/transports/meeting/socket.h"

namespace strato::admission {

// Thread safe.
class Watch {
 public:
  // `connections`: rank 0 by rank, the others to rank 0 alone.
  Watch(int rank, std::vector<Socket> connections);
  ~Watch();

  // The first rank that went without leaving; -1: none so far. Waits so long for news.
  int lost(std::chrono::milliseconds patience = {}) const;
  // Says that this rank is done, and waits until all others are, or one is lost, or so long.
  void leave(std::chrono::milliseconds patience);

 private:
  struct Peer {
    int rank = 0;
    Socket socket;
    bool left = false, gone = false;
  };

  void run();
  void hear(Peer& peer);
  void lose(int rank);
  void note_left(Peer& peer);
  void tell_all(char what, int rank);
  bool all_left() const;  // with the mutex held

  int rank_;
  std::vector<Peer> peers_;
  Socket wake_, waker_;  // a pipe; closing the second ends the thread's waiting
  mutable std::mutex mutex_;
  mutable std::condition_variable news_;
  int lost_ = -1;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

}  // namespace strato::admission
