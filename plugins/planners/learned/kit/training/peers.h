// Several processes that train one network: they tell each other numbers through LibTorch's c10d
// TCPStore, which the first one serves. Every process gets the numbers of all in the order of their
// ranks, so that all compute the same bits from them.
//
// A process that is alive says so every second, however long it searches: one that falls silent, or
// whose machine is gone, is lost, and the others end with a PeerLost.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.h"

namespace strato::learned {

struct PeerLost : InputError {
  using InputError::InputError;
};

class Peers {
 public:
  // `master`: "host:port" of rank 0. Waits until all are there, at most `patience` seconds and a
  // minute. One process needs no master, and opens no connection. Throws InputError.
  Peers(int rank, int processes, const std::string& master, double patience);
  ~Peers();

  int rank() const;
  int processes() const;
  // Row r is what rank r gave; all processes make the same calls in the same order.
  // Throws PeerLost.
  std::vector<std::vector<float>> exchange(std::span<const float> own);
  std::vector<std::string> exchange_bytes(std::string_view own);  // the same, at most 8 MiB a row
  // Waits for the others, so that none of them loses the store while it still reads.
  void leave();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// A process says whether it makes the next step. Of several answers the last one here counts for
// all, so that all end for the same reason.
enum class Going { On, Stopped, Finished, NothingToLearn };

// The answer that counts for all.
Going agree(Peers& peers, Going here);

// The mean of all gradients and the first one's rate, because clocks differ.
std::pair<std::vector<float>, double> share_gradients(Peers& peers, std::vector<float> gradients,
                                                      double rate);

// All processes have this in common between two steps.
struct SharedState {
  std::int64_t step = 0;
  double elapsed_seconds = 0;
  std::string network;  // its state, as bytes
};

// Called by all processes before the first step, since a training goes on after a pause, or after
// one of them was lost, from a checkpoint of each, which need not be of the same step: they begin
// at the step of the one that is the furthest, with its weights; of several with the first one's.
// Returns what is to be taken over; nothing where all stand there already, or where it is the
// caller's own. Throws InputError when a process is lost.
std::optional<SharedState> agree_on_start(Peers& peers, const SharedState& own);

}  // namespace strato::learned
