#include "plugins/planners/search/portfolio/portfolio.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "core/base/error.h"
#include "core/base/quantity_text.h"
#include "core/search/evaluate/baselines.h"
#include "core/search/portfolio/tree_search.h"
#include "core/search/run/usual_planner.h"

namespace strato::portfolio {
namespace {

constexpr double kShareOfSlow = 0.15, kShareOfSearch = 0.1;  // of a time budget, each

bool is_steered(const SearchTree& tree) {
  const auto excluded = [](const SearchTree::Vertex& vertex) { return vertex.weight == 0; };
  const auto pinned = [](const auto& pin) { return pin.has_value(); };
  return tree.focus > 0 || std::ranges::any_of(tree.pinned, pinned) ||
         std::ranges::any_of(tree.vertices, excluded);
}

std::string worth(const Score& score) {
  return time_text(score.step_time) + (score.feasible ? "" : ", out of memory");
}

}  // namespace

// Stands between one planner and who watches the portfolio: only what is better than all before
// goes on.
class Portfolio::Relay final : public Observer {
 public:
  Relay(Portfolio& run, std::string who, const Frame& frame, bool shows_tree)
      : run_(run), who_(std::move(who)), frame_(frame), shows_tree_(shows_tree) {}

  void on_progress(const Progress&) override {
    run_.request_.observer.on_progress(run_.progress());
  }
  void on_improvement(const Strategy& strategy, const Score& score, const Progress&) override {
    const Strategy whole = frame_.complete(strategy);
    if (!strategy.is_complete() || !run_.leader_.offer(who_, whole, score)) return;
    run_.request_.observer.on_improvement(whole, score, run_.progress());
  }
  void on_tree(std::shared_ptr<const SearchTree> tree) override {
    if (shows_tree_) run_.request_.observer.on_tree(std::move(tree));
  }

 private:
  Portfolio& run_;
  const std::string who_;
  const Frame& frame_;
  const bool shows_tree_;
};

Portfolio::Portfolio(const PlanRequest& request, const Settings& settings,
                     const PluginRegistry& registry, const std::vector<Entrant>& entrants)
    : request_(request),
      problem_(request.problem),
      evaluator_(request.evaluator),
      options_(request.options),
      settings_(settings),
      registry_(registry),
      entrants_(entrants),
      passes_on_(request.stop, [this] { over_.request_stop(); }) {
  frames_.emplace_back(problem_);
  if (!timed()) return;
  const std::string_view usual = usual_planner(problem_);
  std::ranges::stable_partition(entrants_, [&](const Entrant& e) { return e.name == usual; });
}

double Portfolio::seconds_left() const {
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start_;
  return options_.budget_seconds - spent.count();
}

// Iterations are told as the part of the whole that is done, of those that were asked for.
Progress Portfolio::progress() const {
  const std::int64_t iterations =
      timed() || planned_ == 0 ? searched_
                               : options_.iterations * std::min(searched_, planned_) / planned_;
  return {iterations, evaluator_.count(), options_.budget_seconds - seconds_left(),
          leader_.score()};
}

PlannerOptions Portfolio::options_for(std::int64_t iterations, double budget_seconds) const {
  PlannerOptions options = options_;
  options.set.clear();
  options.iterations = iterations;
  options.budget_seconds = budget_seconds;
  options.record_steps = false;
  return options;
}

PlanResult Portfolio::run_one(const std::string& who, Planner& planner, const Frame& frame,
                              const PlannerOptions& options,
                              std::shared_ptr<const SearchTree> resume, bool shows_tree) {
  Relay relay(*this, who, frame, shows_tree);
  ChangingEvaluator framed(evaluator_, [&](const CompleteStrategy& inside) {
    if (is_spent()) over_.request_stop();
    return CompleteStrategy(frame.complete(*inside), *problem_.cluster);
  });
  PlannerOptions own = options;
  if (!frame.is_empty()) own.set["bounds"] = "false";  // they know nothing of the frame
  PlanResult result =
      planner.plan(frame.problem(), framed, own, relay, over_.get_token(), std::move(resume));
  result.strategy = frame.complete(result.strategy);
  if (leader_.offer(who, result.strategy, result.score))
    request_.observer.on_improvement(result.strategy, result.score, progress());
  return result;
}

// There is always a result, and a seed is never lost.
void Portfolio::offer_known() {
  const Strategy plain = data_parallel(problem_);
  leader_.offer("data parallelism", plain, evaluator_.evaluate(plain));
  for (const Strategy& seed : options_.seeds) {
    const Strategy whole = strato::complete(seed, *problem_.cluster);
    const Score score = evaluator_.evaluate(whole);
    leader_.offer("a strategy that was known", whole, score);
    found_.push_back({whole, score});
  }
}

void Portfolio::run_all(Effort effort, double budget_seconds) {
  for (const Entrant& entrant : entrants_) {
    if (entrant.effort != effort || over_.stop_requested() || is_spent()) continue;
    if (entrant.planner == nullptr) {
      refused_.emplace_back(entrant.name, entrant.error);
      continue;
    }
    try {
      PlannerOptions options = options_for(options_.iterations, budget_seconds);
      PlanResult result = run_one(entrant.name, *entrant.planner, frames_.front(), options, nullptr,
                                  effort == Effort::Search && tree_of_.empty());
      ++ran_;
      if (effort == Effort::Search) searched_ += options_.iterations;
      if (result.tree != nullptr && tree_of_.empty()) tree_of_ = entrant.name;
      trees_[entrant.name] = result.tree;
      scores_[entrant.name] = result.score;
      found_.push_back({std::move(result.strategy), result.score});
    } catch (const InputError& error) {
      refused_.emplace_back(entrant.name, error.what());
    }
  }
}

PlanResult Portfolio::run() {
  if (request_.resume)
    run_resumed();
  else
    run_new();
  return result();
}

void Portfolio::run_new() {
  const auto searches = std::ranges::count(entrants_, Effort::Search, &Entrant::effort);
  planned_ = searches * options_.iterations + improving();
  offer_known();
  run_all(Effort::Quick, options_.budget_seconds);
  const double left = std::max(seconds_left(), 0.0);
  run_all(Effort::Slow, timed() ? std::max(left * kShareOfSlow, 1e-3) : 0);
  start_from_ = leader_.steps().back();
  improved_since_ = leader_.steps().size();
  run_all(Effort::Search, timed() ? std::max(left * kShareOfSearch, 1e-3) : 0);
  improve();
}

void Portfolio::run_resumed() {
  if (!is_steered(*request_.resume)) {
    offer_known();
    run_all(Effort::Quick, options_.budget_seconds);
  }
  planned_ = options_.iterations;
  if (leader_.score()) start_from_ = leader_.steps().back();
  improved_since_ = leader_.steps().size();
  const PlannerOptions options =
      options_for(options_.iterations, timed() ? std::max(seconds_left(), 1e-3) : 0);
  Relay relay(*this, "the tree search", frames_.front(), true);
  const PlanResult found =
      tree_search({problem_, evaluator_, options, relay, request_.stop, request_.resume},
                  TreeSearchOptions::from(options));
  leader_.offer("the tree search", found.strategy, found.score);
  ++ran_;
  tree_of_ = "the tree search";
  trees_[tree_of_] = found.tree;
}

PlanResult Portfolio::result() const {
  PlanResult result;
  result.strategy = leader_.strategy();
  result.score = *leader_.score();
  result.evaluations = evaluator_.count();
  result.note = note();
  if (!tree_of_.empty()) result.tree = trees_.at(tree_of_);
  result.facts.push_back({"planners that ran", fmt::format("{}", ran_)});
  for (const auto& [name, why] : refused_) result.facts.push_back({name + " does not serve", why});
  if (!start_from_.who.empty())
    result.facts.push_back({"start", start_from_.who + ", " + worth(start_from_.score)});
  for (std::size_t i = improved_since_; i < leader_.steps().size(); ++i)
    result.facts.push_back(
        {"improved by", leader_.steps()[i].who + ", to " + worth(leader_.steps()[i].score)});
  return result;
}

// Says who found the start, who improved it, and by how much.
std::string Portfolio::note() const {
  const auto& steps = leader_.steps();
  if (start_from_.who.empty()) return "found by " + steps.back().who;
  std::string text = fmt::format("start: {} ({})", start_from_.who, worth(start_from_.score));
  if (improved_since_ >= steps.size()) return text + ", which no search improved";
  Score before = start_from_.score;
  for (std::size_t i = improved_since_; i < steps.size(); ++i) {
    const Score& score = steps[i].score;
    const double saved = 1 - score.step_time / std::max(before.step_time, Nanos(1));
    const bool comparable = before.feasible == score.feasible && saved > 0;
    text += fmt::format("{}{} ({})", i == improved_since_ ? "; improved by " : ", then by ",
                        steps[i].who, comparable ? percent_text(saved) + " less" : worth(score));
    before = score;
  }
  return text;
}

namespace {

class Auto final : public Planner {
 public:
  explicit Auto(const PluginRegistry& registry) : registry_(registry) {}
  std::string name() const override { return "auto"; }
  std::vector<OptionHelp> options() const override { return list_options<Settings>(); }

  // One evaluator serves all: what one of them needs, they all get. Nobody has said yet which are
  // left out.
  bool wants_feedback() const override {
    return std::ranges::any_of(all(), [](const Entrant& e) {
      return e.planner != nullptr && e.planner->wants_feedback();
    });
  }

  PlanResult plan(const Problem& problem, Evaluator& evaluator, const PlannerOptions& options,
                  Observer& observer, std::stop_token stop,
                  std::shared_ptr<const SearchTree> resume) override {
    const auto settings = read_options<Settings>(options.set);
    const std::vector<Entrant> entrants = chosen(settings.without);
    const PlanRequest request{problem,  evaluator,       options,
                              observer, std::move(stop), std::move(resume)};
    return Portfolio(request, settings, registry_, entrants).run();
  }

 private:
  const std::vector<Entrant>& all() const {
    if (!entrants_.empty()) return entrants_;
    for (const PluginInfo& plugin : registry_.list(PluginKind::Planner)) {
      if (plugin.effort >= Effort::Learning) continue;
      Entrant& entrant = entrants_.emplace_back(Entrant{plugin.name, plugin.effort, nullptr, ""});
      try {
        entrant.planner = registry_.planner(plugin.name);
      } catch (const InputError& error) {
        entrant.error = error.what();
      }
    }
    return entrants_;
  }

  std::vector<Entrant> chosen(const std::string& without) const {
    std::vector<Entrant> entrants = all();
    std::istringstream names(without);
    for (std::string name; std::getline(names, name, ',');)
      if (std::erase_if(entrants, [&](const Entrant& e) { return e.name == name; }) == 0)
        refuse_option("without", without,
                      "there is no planner '" + name + "' among those that auto runs",
                      "see list planners");
    return entrants;
  }

  const PluginRegistry& registry_;
  mutable std::vector<Entrant> entrants_;
};

}  // namespace

std::unique_ptr<Planner> make_auto(const PluginRegistry& registry) {
  return std::make_unique<Auto>(registry);
}

}  // namespace strato::portfolio
