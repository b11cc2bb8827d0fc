#include "plugins/planners/search/portfolio/auto.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/search/tree/search_tree.h"
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
    Portfolio run(problem, evaluator, options, settings, registry_, chosen(settings.without),
                  observer, std::move(stop));
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

}  // namespace

std::unique_ptr<Planner> make_auto(const PluginRegistry& registry) {
  return std::make_unique<Auto>(registry);
}

}  // namespace strato::portfolio
