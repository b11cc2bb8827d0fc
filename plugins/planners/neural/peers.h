// Several processes that train one network: they tell each other numbers through LibTorch's c10d
// TCPStore, which the first one serves. Every process gets the numbers of all in the order of their
// ranks, so that all compute the same bits from them.
//
// A process that is alive says so every second, however long it searches: one that falls silent, or
// whose machine is gone, is lost, and the others end with an InputError.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace strato::neural {

class Peers {
 public:
  // `master`: "host:port" of rank 0. Waits until all are there, at most `patience` seconds and a
  // minute. One process needs no master, and opens no connection. Throws InputError.
  Peers(int rank, int processes, const std::string& master, double patience);
  ~Peers();

  int rank() const;
  int processes() const;
  // Row r is what rank r gave; all processes make the same calls in the same order.
  std::vector<std::vector<float>> exchange(std::span<const float> own);
  // Waits for the others, so that none of them loses the store while it still reads.
  void leave();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// What one step of all processes is: the mean of their gradients and the first one's rate, because
// clocks differ. Nothing: one of them halts, and nobody steps. A process that halts still calls it,
// with gradients of any values. One process: its own.
struct SharedStep {
  std::vector<float> gradients;
  double rate = 0;
};
std::optional<SharedStep> share_step(Peers& peers, std::vector<float> gradients, double rate,
                                     bool halt);

}  // namespace strato::neural
