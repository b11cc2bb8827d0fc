// The experience of a training of `tag`: the examples that it learns from, and how its checkpoints
// keep them.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/random.h"
#include "plugins/planners/learned/kit/training/checkpoint.h"
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

// The latest examples of a training.
class ExampleBuffer {
 public:
  // Keeps the latest `most`; `instances` must outlive it.
  ExampleBuffer(TrainingInstances& instances, std::size_t most, int threads)
      : instances_(instances), most_(most), threads_(threads) {}

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

struct Experience {
  std::deque<Record> records;  // latest examples, oldest first
  BestKnown known;
};

std::string write_experience(const Experience& experience);
// Throws InputError when it is damaged; `file`: its name, for messages.
Experience read_experience(std::string_view bytes, const std::string& file);

// A checkpoint that a version before the archive of tensors wrote. Throws InputError.
learned::Checkpoint read_old_checkpoint(std::string_view bytes, const std::string& file);

}  // namespace strato::tag
