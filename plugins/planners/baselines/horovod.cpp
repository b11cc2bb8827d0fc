#include "plugins/planners/baselines/horovod.h"

#include <array>
#include <string>

#include "core/base/error.h"
#include "core/search/evaluate/baselines.h"
#include "core/search/tree/search_tree.h"

namespace strato {
namespace {

constexpr std::int64_t kMegabyte = 1 << 20;  // HOROVOD_FUSION_THRESHOLD counts these
constexpr std::array<double, 6> kTried = {0, 1, 4, 16, 64, 128};

struct HorovodSettings {
  Bytes bucket{64 * kMegabyte};
  bool tune = false;

  OptionTable option_table() {
    return {{"bucket",
             bucket,
             OptionUnit::MB,
             {0, 1e6},
             "largest fusion bucket in MB (2^20 bytes); 0: gradients one by one"},
            {"tune", tune, "try buckets of 0, 1, 4, 16, 64 and 128 MB and take the fastest"}};
  }
};

std::string megabytes(Bytes bucket) {
  std::string text = std::to_string(static_cast<double>(bucket.value) / kMegabyte);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text + " MB";
}

class Horovod final : public Planner {
 public:
  std::string name() const override { return "horovod"; }
  bool is_baseline() const override { return true; }
  std::vector<OptionHelp> options() const override { return list_options<HorovodSettings>(); }

  PlanResult plan(const Problem& problem, Evaluator& evaluator, const PlannerOptions& options,
                  Observer& observer, std::stop_token, std::shared_ptr<const SearchTree>) override {
    const auto settings = read_options<HorovodSettings>(options.set);
    std::vector<Strategy> strategies{data_parallel(problem)};
    strategies.front().bucket = settings.bucket;
    if (settings.tune)
      for (const double size : kTried) {
        strategies.push_back(strategies.front());
        strategies.back().bucket = Bytes(static_cast<std::int64_t>(size * kMegabyte));
      }
    const std::vector<Score> scores = evaluator.evaluate(strategies);
    std::size_t best = 0;
    for (std::size_t i = 1; i < scores.size(); ++i)
      if (scores[i].better_than(scores[best])) best = i;
    PlanResult result;
    result.strategy = strategies[best];
    result.score = scores[best];
    result.evaluations = static_cast<std::int64_t>(scores.size());
    result.facts.push_back({"fusion bucket", megabytes(result.strategy.bucket)});
    const Progress done{result.evaluations, result.evaluations, 0, result.score};
    observer.on_improvement(result.strategy, result.score, done);
    return result;
  }
};

}  // namespace

std::unique_ptr<Planner> make_horovod() { return std::make_unique<Horovod>(); }

}  // namespace strato
