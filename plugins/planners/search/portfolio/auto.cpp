#include "plugins/planners/search/portfolio/auto.h"

#include <algorithm>
#include <sstream>

#include "core/base/error.h"
#include "plugins/planners/search/portfolio/portfolio.h"

namespace strato::portfolio {
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
