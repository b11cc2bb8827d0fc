// Searches of a training, and the examples that come of them.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plugins/planners/learned/tag/network/network.h"
#include "plugins/planners/learned/tag/training/instances.h"

namespace strato::tag {

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

}  // namespace strato::tag
