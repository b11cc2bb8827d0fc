// The latest examples of a training.
#pragma once

#include <deque>
#include <vector>

#include "core/base/random.h"
#include "plugins/planners/learned/tag/training/examples.h"

namespace strato::tag {

// An example with the record that it can be made from again.
struct KeptExample {
  Record record;
  Example example;
};

// In order; records of which nothing legal is left are passed over. Those of one search stand
// together, so their features are made together. Throws InputError for a record of another
// training.
std::vector<KeptExample> with_features(TrainingInstances& instances,
                                       const std::vector<Record>& records, int threads);

class ExampleBuffer {
 public:
  // Keeps the latest `most`; `instances` must outlive it.
  ExampleBuffer(TrainingInstances& instances, int most, int threads)
      : instances_(instances), most_(static_cast<std::size_t>(most)), threads_(threads) {}

  std::size_t add(const std::vector<Record>& records);  // how many examples they made
  bool empty() const { return kept_.empty(); }
  // Drawn with replacement; examples of one problem side by side, because they are computed
  // together.
  std::vector<Example> minibatch(int size, Random& random) const;
  std::deque<Record> records() const;  // oldest first

 private:
  TrainingInstances& instances_;
  const std::size_t most_;
  const int threads_;
  std::deque<KeptExample> kept_;  // oldest first
};

}  // namespace strato::tag
