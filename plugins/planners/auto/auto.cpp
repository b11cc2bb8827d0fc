// The planner "auto": the best of all others, and more.
//
//   1. Every planner that is not a search runs once (by the "effort" of its manifest: quick ones
//      first, then slow ones), and the strategies that were given as seeds are looked at.
//   2. Every search runs exactly as it does on its own: the same problem, seed, options and number
//      of iterations, and scores that are a function of the strategy alone.
//   3. Then the best is improved. Arms are the searches, each in up to two frames (frame.h): the
//      problem's groups, seeded with the best strategies that have them, and what the best has of
//      its own (groups, order, splits). Successive halving (Jamieson and Talwalkar, "Non-stochastic
//      best arm identification", 2016) divides the iterations: each arm gets a turn, the better
//      half by step time saved per evaluation goes on, until one is left with what remains.
//
// So with --iterations the result is, by construction, not worse than that of any planner that is
// installed, or of any seed; and it is deterministic. It costs the time of all others and of
// improve x iterations more; scores are kept, so that nothing is evaluated twice. With --budget 1.
// is the same, and 2. and 3. share what is left: a search gets a tenth of it for itself.
//
// Going on from a stored result goes on with its tree; what a person has pinned or excluded is
// respected, and where nothing is, the quick planners run again, too.
#include <algorithm>

#include "core/base/error.h"
#include "core/search/tree/search_tree.h"
#include "plugins/planners/auto/portfolio.h"

namespace {

using namespace strato;
using portfolio::Entrant;

class Auto final : public Planner {
 public:
  explicit Auto(const PluginRegistry& registry) : registry_(registry) {}
  std::string name() const override { return "auto"; }

  std::vector<OptionHelp> options() const override { return list_options<portfolio::Settings>(); }

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
    const auto settings = read_options<portfolio::Settings>(options.set);
    portfolio::Portfolio run(problem, evaluator, options, settings, registry_,
                             chosen(settings.without), observer, std::move(stop));
    return resume ? run.resume(std::move(resume)) : run.run();
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

  const std::vector<Entrant>& chosen(const std::string& without) {
    chosen_ = all();
    std::string rest = without;
    while (!rest.empty()) {
      const std::size_t comma = std::min(rest.find(','), rest.size());
      const std::string name = rest.substr(0, comma);
      if (std::erase_if(chosen_, [&](const Entrant& e) { return e.name == name; }) == 0)
        refuse_option("without", without,
                      "there is no planner '" + name + "' among those that auto runs",
                      "see list planners");
      rest.erase(0, comma + 1);
    }
    return chosen_;
  }

  const PluginRegistry& registry_;
  mutable std::vector<Entrant> entrants_;
  std::vector<Entrant> chosen_;
};

std::unique_ptr<Planner> make(std::string_view, const PluginRegistry& registry) {
  return std::make_unique<Auto>(registry);
}

}  // namespace

STRATOSCOPE_PLANNER(make)
