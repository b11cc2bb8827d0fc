// Several processes that train one network: they tell each other numbers through LibTorch's c10d
// TCPStore, which the first one serves. Every process gets the numbers of all in the order of their
// ranks, so that all compute the same bits from them.
//
// A process that is alive says so every second, however long it searches: one that falls silent, or
// whose machine is gone, is lost, and the others end with an InputError.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace strato::tag {

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

}  // namespace strato::tag
