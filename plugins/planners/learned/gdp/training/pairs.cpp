#include "plugins/planners/learned/gdp/training/pairs.h"

#include "core/base/random.h"
#include "plugins/planners/learned/kit/training/random_stream.h"

namespace strato::gdp {
namespace {

// GDP places on up to eight devices (section 4.1).
RandomClusterOptions small_clusters() {
  RandomClusterOptions options;
  options.most_machines = 3;
  options.most_gpus = 4;
  return options;
}

}  // namespace

TrainingPairs::TrainingPairs(const TrainingOptions& options, int groups, int held_out)
    : options_(options),
      held_out_(options.random_clusters > 0 ? held_out : 0),
      problems_(options, groups, small_clusters(), held_out_) {}

Pair TrainingPairs::pair(std::int64_t number, double whole) const {
  Random random(learned::random_stream(options_.seed, "visit", number));
  const auto draw = [&](std::int32_t count) {
    return static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(count)));
  };
  Pair pair;
  pair.key.model = draw(problems_.model_count());
  pair.key.cluster = draw(problems_.cluster_count() - held_out_);
  pair.whole = random.uniform() < whole;
  return pair;
}

Pair TrainingPairs::held_out_pair(std::int64_t number) const {
  const auto at = static_cast<std::int32_t>(number);
  const std::int32_t clusters = problems_.cluster_count();
  const std::int32_t first = held_out_ > 0 ? clusters - held_out_ : 0;
  return {{at % problems_.model_count(), first + at % (clusters - first)}, at % 2 == 0};
}

}  // namespace strato::gdp
