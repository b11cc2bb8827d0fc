// The planner "tag" (TAG 4.2): tree search with the graph network's prior, and sufficient factor
// broadcasting in every strategy that it looks at; beyond the paper, its best ones are tried
// without that, too, and it goes on from what is better.
#include <optional>
#include <tuple>

#include "core/plugin/api/plugin.h"
#include "core/program/sfb/sfb.h"
#include "core/search/api/trainer.h"
#include "core/search/portfolio/tree_search.h"
#include "plugins/planners/learned/tag/training/trainer.h"

namespace {

using namespace strato;

struct TagOptions : TreeSearchOptions {
  std::filesystem::path weights;
  bool network = true;
  double mix = 0.1;
  bool sfb = true;

  TagOptions() { sieve = true; }
  void follow_paper() {
    TreeSearchOptions::follow_paper();
    mix = 0;
  }
  OptionTable option_table() {
    OptionTable table = TreeSearchOptions::option_table();
    return table.add(
        {{"weights", weights, "file of the network's weights; empty: the bundled ones"},
         {"prior", network, {"uniform", "network"}, "network, or uniform: the search without it"},
         {"mix", mix, {0, 1}, "part of the prior that is uniform (variant=paper: 0)"},
         {"sfb", sfb, "sufficient factor broadcasting where it is cheaper"}});
  }
};

// The search has mostly done so itself: then the evaluator remembers.
void try_without_sfb(PlanResult& result, Evaluator& evaluator) {
  if (result.strategy.duplicated.empty()) return;
  Strategy without = result.strategy;
  without.duplicated.clear();
  const Score score = evaluator.evaluate(without);
  ++result.evaluations;
  if (!score.better_than(result.score)) return;
  result.strategy = std::move(without);
  result.score = score;
}

class Tag final : public Planner {
 public:
  std::string name() const override { return "tag"; }
  bool wants_feedback() const override { return true; }
  std::vector<OptionHelp> options() const override { return list_options<TagOptions>(); }
  Trainer* trainer() override {
    if (trainer_ == nullptr) trainer_ = tag::make_trainer();
    return trainer_.get();
  }
  PlanResult plan(const Problem& problem, Evaluator& evaluator, const PlannerOptions& common,
                  Observer& observer, std::stop_token stop,
                  std::shared_ptr<const SearchTree> resume) override {
    TagOptions options = read_options<TagOptions>(common.set);
    std::string note;
    PriorProvider* const prior = this->prior(options, note);
    std::unique_ptr<SfbSolver> sfb;
    if (options.sfb) {
      SfbOptions how;
      how.costs = options.paper ? SfbCosts::Printed : SfbCosts::CostModel;
      how.method = SfbMethod::MinimumCut;
      how.threads = common.threads;
      sfb = std::make_unique<SfbSolver>(problem.graph, problem.grouping, problem.cluster,
                                        problem.cost, how);
      options.finish_always = options.paper;
      options.finish = [&sfb](Strategy& strategy) { sfb->apply(strategy); };
    }
    PlanResult result = tree_search(
        {problem, evaluator, common, observer, std::move(stop), std::move(resume)}, options, prior);
    try_without_sfb(result, evaluator);
    if (const std::size_t ops = result.strategy.duplicated.size(); ops > 0)
      note += "; " + std::to_string(ops) + " ops duplicated by SFB";
    result.note += note;
    return result;
  }

 private:
  // Kept from plan to plan while the options say the same: a steered search goes on with what it
  // knows.
  PriorProvider* prior(const TagOptions& options, std::string& note) {
    const auto file = options.weights.empty() ? tag::bundled_weights() : options.weights;
    const bool missing = options.weights.empty() && !std::filesystem::exists(file);
    if (!options.network || missing) {
      if (options.network)
        note = "; no network, the prior is uniform: " + file.string() +
               " is missing (stratoscope-cli train tag makes it)";
      prior_key_.reset();
      return nullptr;
    }
    std::error_code gone;
    const PriorKey key(file, std::filesystem::last_write_time(file, gone), options.mix);
    if (gone || key != prior_key_) {
      network_ = tag::Network::load(file);
      prior_ = std::make_unique<tag::NetworkPrior>(*network_, options.mix);
    }
    prior_key_ = key;
    return prior_.get();
  }

  // The file of the weights, when it was written, and the part that is uniform.
  using PriorKey = std::tuple<std::filesystem::path, std::filesystem::file_time_type, double>;
  std::optional<tag::Network> network_;
  std::unique_ptr<PriorProvider> prior_;
  std::optional<PriorKey> prior_key_;
  std::unique_ptr<Trainer> trainer_;
};

std::unique_ptr<Planner> make(std::string_view) { return std::make_unique<Tag>(); }

}  // namespace

STRATOSCOPE_PLANNER(make)
