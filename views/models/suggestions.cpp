#include "views/models/suggestions.h"

#include <algorithm>

#include "core/search/actions.h"
#include "core/search/bound_constraints.h"
#include "views/models/strategy_edits.h"
#include "views/style/text.h"

namespace strato {
namespace {

constexpr std::size_t kShown = 4;
constexpr qsizetype kLongName = 26;  // letters; names of ops differ at their ends
constexpr std::size_t kGroups = 8, kDecisions = 24;
constexpr double kWorthwhile = 0.002;  // of the step time
constexpr int kSoon = 250;             // ms: a person who clicks around is not followed at once

bool is_worth_a_word(const EditEffect& effect) {
  if (effect.feasible != effect.feasible_before) return effect.feasible;
  return effect.relative() < -kWorthwhile;
}

// The best for each group, then the best of all.
void keep_best(std::vector<Suggestion>& found, std::size_t for_each_group) {
  std::ranges::stable_sort(found, [](const Suggestion& a, const Suggestion& b) {
    if (a.effect.feasible != b.effect.feasible) return a.effect.feasible;
    return a.effect.after < b.effect.after;
  });
  std::vector<Suggestion> kept;
  for (Suggestion& suggestion : found) {
    const auto same = std::ranges::count_if(
        kept, [&](const Suggestion& other) { return other.groups == suggestion.groups; });
    if (kept.size() < kShown && static_cast<std::size_t>(same) < for_each_group)
      kept.push_back(std::move(suggestion));
  }
  found = std::move(kept);
}

}  // namespace

std::vector<Decision> plausible_decisions(const Problem& problem,
                                          std::span<const GroupId> groups,
                                          const Strategy& strategy,
                                          const BoundConstraints* constraints, std::size_t count) {
  const GroupId group = groups.front();  // of groups that are alike
  const ActionEstimate estimate(problem);
  std::vector<std::pair<double, Decision>> ranked;
  Strategy tried = strategy;
  const auto broken = [&](const Strategy& candidate) {
    return constraints != nullptr ? constraints->violated(candidate).size() : std::size_t{0};
  };
  const std::size_t broken_now = broken(strategy);
  for (Decision& decision : make_actions(problem, {})) {
    if (strategy.groups[group] == decision) continue;
    for (const GroupId each : groups) tried.groups[each] = decision;
    if (broken(tried) > broken_now) continue;
    const double seconds = estimate.group_seconds(group, decision);
    ranked.emplace_back(seconds, std::move(decision));
  }
  std::ranges::stable_sort(ranked, {}, [](const auto& entry) { return entry.first; });
  if (ranked.size() > count) ranked.resize(count);
  std::vector<Decision> decisions;
  for (auto& entry : ranked) decisions.push_back(std::move(entry.second));
  return decisions;
}

std::vector<GroupId> weighty_groups(const Grouping& grouping, std::size_t count) {
  std::vector<GroupId> all;
  for (std::size_t g = 0; g < grouping.size(); ++g) all.emplace_back(g);
  std::vector<GroupId> by_parameters = all;
  std::ranges::stable_sort(by_parameters, std::greater(), [&](GroupId group) {
    return grouping.group(group).parameter_bytes;
  });
  std::vector<GroupId> chosen(all.begin(),
                              all.begin() + static_cast<std::ptrdiff_t>(
                                                std::min(all.size(), (count + 1) / 2)));
  for (const GroupId group : by_parameters) {
    if (chosen.size() >= count) break;
    if (std::ranges::find(chosen, group) == chosen.end()) chosen.push_back(group);
  }
  return chosen;
}

QString suggestion_words(std::span<const GroupId> groups, const Decision& decision,
                         const Problem& problem) {
  QString name = names_of(groups, *problem.grouping);
  if (name.size() > kLongName) name = QStringLiteral("…") + name.right(kLongName);
  if (decision.devices.size() == 1) {
    return Suggestions::tr("Move %1 to %2")
        .arg(name, text(problem.cluster->device(decision.devices[0].device).name));
  }
  return QStringLiteral("%1: %2").arg(name, describe_shares(decision, *problem.cluster));
}

struct Suggestions::Job {
  std::uint64_t number;
  std::shared_ptr<const Problem> problem;
  Strategy strategy;
  Simulation simulation;
  std::vector<std::vector<GroupId>> targets;  // groups to be decided alike
  std::shared_ptr<const BoundConstraints> constraints;
};

Suggestions::Suggestions(Session& session, QObject* parent)
    : QObject(parent),
      session_(session),
      latest_(std::make_shared<std::atomic<std::uint64_t>>(0)) {
  soon_.setSingleShot(true);
  soon_.setInterval(kSoon);
  connect(&soon_, &QTimer::timeout, this, &Suggestions::begin);
  for (const auto changed :
       {&Session::problem_changed, &Session::strategy_changed, &Session::outcome_changed,
        &Session::constraints_changed, &Session::simulation_changed}) {
    connect(&session_, changed, this, &Suggestions::restart);
  }
  connect(&session_.selection(), &Selection::changed, this, &Suggestions::restart);
  connect(&session_, &Session::search_changed, this, [this] {
    const bool idle = session_.search().state == SearchState::Idle;
    if (idle && !looking_ && list_.empty() && tried_ == 0) soon_.start();
  });
  restart();
}

Suggestions::~Suggestions() {
  *latest_ = ++job_;
  worker_.end();
}

void Suggestions::restart() {
  *latest_ = ++job_;
  const bool had = looking_ || !list_.empty() || tried_ > 0;
  looking_ = false;
  tried_ = 0;
  list_.clear();
  if (had) emit changed();
  soon_.start();
}

void Suggestions::begin() {
  const Snapshot& snapshot = session_.snapshot();
  const bool ready = snapshot.problem && snapshot.outcome && snapshot.strategy.is_complete() &&
                     session_.search().state == SearchState::Idle;
  if (!ready) return;
  Job job{++job_, snapshot.problem, snapshot.strategy, session_.simulation(), {},
          session_.bound_constraints()};
  *latest_ = job.number;
  const std::vector<GroupId>& selected = session_.selection().groups();
  if (selected.size() > 1) job.targets.push_back(selected);
  for (const GroupId group :
       selected.empty() ? weighty_groups(*snapshot.problem->grouping, kGroups) : selected)
    if (job.targets.size() < kGroups) job.targets.push_back({group});
  looking_ = true;
  emit changed();
  worker_.post([this, job = std::move(job), latest = latest_] {
    std::vector<Suggestion> found;
    int tried = 0;
    const auto tell = [&](bool done) {
      keep_best(found, job.targets.size() == 1 ? kShown : 1);
      QMetaObject::invokeMethod(
          this, [this, number = job.number, found, tried, done] { take(number, found, tried, done); },
          Qt::QueuedConnection);
    };
    try {
      NearSimulator simulator(job.problem, job.simulation);
      const StepUse before = simulator.use(job.strategy);
      for (const std::vector<GroupId>& groups : job.targets) {
        for (const Decision& decision :
             plausible_decisions(*job.problem, groups, job.strategy,
                                 job.constraints.get(), kDecisions)) {
          if (*latest != job.number) return;
          const Strategy changed = with_decision(job.strategy, groups, decision);
          ++tried;
          const EditEffect effect = effect_of(changed, before, simulator.use(changed));
          if (!is_worth_a_word(effect)) continue;
          found.push_back({groups, decision,
                           suggestion_words(groups, decision, *job.problem), effect});
        }
        tell(false);
      }
    } catch (const std::exception&) {
      // What cannot be simulated is no suggestion; the strategy shown says why itself.
    }
    tell(true);
  });
}

void Suggestions::take(std::uint64_t job, std::vector<Suggestion> found, int tried, bool done) {
  if (job != job_) return;
  list_ = std::move(found);
  tried_ = tried;
  looking_ = !done;
  emit changed();
}

void Suggestions::apply(std::size_t index) {
  if (index >= list_.size()) return;
  const Suggestion chosen = list_[index];
  session_.selection().select_groups(chosen.groups);
  session_.decide(chosen.groups, chosen.decision, chosen.words);
}

}  // namespace strato
