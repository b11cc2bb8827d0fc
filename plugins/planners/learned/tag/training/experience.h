// The experience of a training of `tag`: the instances that its searches search, the examples that
// come of them, and how its checkpoints keep those.
#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "plugins/planners/learned/tag/training/trainer.h"

namespace strato::tag {

using learned::ProblemKey;

// One model on one cluster, with what the search decides there.
struct TrainingInstance {
  Problem problem;
  std::vector<GroupId> order;  // of the search's decisions
  FeatureMaker maker;          // its actions are the search's
  double feedback = 1;         // part of its examples that see runtime feedback
};

// An example without its features, which follow from it: small enough to keep many in a checkpoint.
struct Record {
  ProblemKey instance;
  std::vector<std::int32_t> decided;  // actions of the first groups in the search's order
  std::vector<std::pair<std::int32_t, float>> target;  // (action, frequency), frequencies above 0
  friend bool operator==(const Record&, const Record&) = default;
};

// The best strategy that was found on each instance, as actions in the search's order.
using BestKnown = std::map<ProblemKey, std::vector<std::int32_t>>;

struct SearchOrder {
  ProblemKey key;
  std::uint64_t seed = 1;
  bool uniform = false;  // without the network's prior
  // The best strategy that earlier searches of the instance have found, as actions in the search's
  // order; empty: none. What is learned from is never worse.
  std::vector<std::int32_t> known;
  bool go_on = false;  // from that
};

struct Searched {
  std::vector<Record> records;
  std::vector<std::int32_t> best;  // the best strategy known by now
  Score score;                     // of that
};

// One search on one thread and what is learned from it; depends on its arguments only. Empty when
// it was stopped.
Searched search_records(const TrainingInstance& instance, const SearchOrder& order,
                        const Network& network, const TrainSettings& settings,
                        std::stop_token stop);

// The features of records of one instance, in order; the target is empty where nothing legal is
// left of it. Throws InputError for a record that does not fit the instance.
std::vector<Example> make_examples(const TrainingInstance& instance,
                                   std::span<const Record> records);

// Every model on every cluster, made when first needed. Thread-safe. Keeps the instances that were
// used last.
class TrainingInstances {
 public:
  // Throws InputError when there is nothing to train on.
  TrainingInstances(const TrainingOptions& options, const TrainSettings& settings);

  const learned::TrainingProblems& problems() const { return problems_; }
  std::shared_ptr<const TrainingInstance> instance(const ProblemKey& key);

 private:
  std::shared_ptr<const TrainingInstance> make(const ProblemKey& key) const;

  const TrainSettings settings_;
  const learned::TrainingProblems problems_;
  std::mutex mutex_;
  std::list<std::pair<ProblemKey, std::shared_ptr<const TrainingInstance>>>
      latest_;  // newest first
};

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
