#include "views/models/suggestions.h"

#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "core/search/constraints/bound_constraints.h"
#include "core/search/evaluate/actions.h"
#include "core/search/fit/memory_changes.h"
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
  if (!effect.feasible) return false;
  return !effect.feasible_before || effect.relative() < -kWorthwhile;
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

// From a "/" on, where there is one: "/classifier.0/Gemm".
QString end_of(const QString& name) {
  const QString end = name.right(kLongName);
  const qsizetype slash = end.indexOf(QLatin1Char('/'));
  return slash >= 0 && slash + 1 < end.size() ? end.mid(slash) : end;
}

// "AllReduce on v100, shares by speed"; there are no other uneven ones among the plausible.
QString replication_words(Decision decision, const Cluster& cluster) {
  const bool everywhere = decision.devices.size() == cluster.device_count();
  const double first = decision.devices.front().weight;
  bool uneven = false;
  for (DeviceShare& share : decision.devices)
    uneven |= std::exchange(share.weight, first) != first && splits_batch(decision.mode);
  const QString words =
      everywhere ? Suggestions::tr("%1 on all devices").arg(text(label_of(decision.mode)))
                 : text(describe(decision, cluster));
  return uneven ? Suggestions::tr("%1, shares by speed").arg(words) : words;
}

// With a capital letter in front.
QString sentence(const std::string& words) {
  QString result = text(words);
  result[0] = result[0].toUpper();
  return result;
}

// Groups to be decided alike: those that were asked for, and each of them; or all, and the
// weightiest.
std::vector<std::vector<GroupId>> targets_of(const Grouping& grouping,
                                             const std::vector<GroupId>& selected) {
  std::vector<GroupId> all = selected;
  if (selected.empty())
    for (std::size_t g = 0; g < grouping.size(); ++g) all.emplace_back(g);
  std::vector<std::vector<GroupId>> targets;
  if (all.size() > 1) targets.push_back(all);
  for (const GroupId group : selected.empty() ? weighty_groups(grouping, kGroups) : selected)
    if (targets.size() <= kGroups) targets.push_back({group});
  return targets;
}

}  // namespace

std::vector<Decision> plausible_decisions(const Problem& problem, std::span<const GroupId> groups,
                                          const Strategy& strategy,
                                          const BoundConstraints* constraints, std::size_t count) {
  const bool all = groups.size() > 1 && groups.size() == problem.grouping->size();
  const ActionEstimate estimate(problem);
  std::vector<std::pair<double, Decision>> ranked;
  Strategy tried = strategy;
  const auto broken = [&](const Strategy& candidate) {
    return constraints != nullptr ? constraints->violated(candidate).size() : std::size_t{0};
  };
  const std::size_t broken_now = broken(strategy);
  for (Decision& decision : make_actions(problem, {})) {
    const auto decided = [&](GroupId group) { return strategy.groups[group] == decision; };
    if (std::ranges::all_of(groups, decided)) continue;
    for (const GroupId each : groups) tried.groups[each] = decision;
    if (broken(tried) > broken_now) continue;
    const double seconds =
        all ? estimate.graph_seconds(decision) : estimate.group_seconds(groups.front(), decision);
    ranked.emplace_back(seconds, std::move(decision));
  }
  std::ranges::stable_sort(ranked, {}, [](const auto& entry) { return entry.first; });
  if (ranked.size() > count) ranked.resize(count);
  std::vector<Decision> decisions;
  for (auto& entry : ranked) decisions.push_back(std::move(entry.second));
  return decisions;
}

std::vector<Bytes> plausible_buckets(const Problem& problem, const Strategy& strategy) {
  std::size_t fused = 0;
  for (std::size_t g = 0; g < problem.grouping->size(); ++g) {
    const auto& decision = strategy.groups[GroupId(g)];
    const bool reduces =
        decision && decision->mode == Mode::ReplicateAllReduce && decision->devices.size() > 1;
    if (reduces && problem.grouping->group(GroupId(g)).parameter_bytes.value > 0) ++fused;
  }
  if (fused < 2) return {};
  std::vector<Bytes> buckets;
  for (const std::int64_t megabytes : {0, 1, 4, 16, 64})
    if (const Bytes bucket(megabytes << 20); bucket != strategy.bucket) buckets.push_back(bucket);
  return buckets;
}

std::vector<GroupId> weighty_groups(const Grouping& grouping, std::size_t count) {
  std::vector<GroupId> all;
  for (std::size_t g = 0; g < grouping.size(); ++g) all.emplace_back(g);
  std::vector<GroupId> by_parameters = all;
  std::ranges::stable_sort(by_parameters, std::greater(),
                           [&](GroupId group) { return grouping.group(group).parameter_bytes; });
  std::vector<GroupId> chosen(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                             all.size(), (count + 1) / 2)));
  for (const GroupId group : by_parameters) {
    if (chosen.size() >= count) break;
    if (std::ranges::find(chosen, group) == chosen.end()) chosen.push_back(group);
  }
  return chosen;
}

QString suggestion_words(std::span<const GroupId> groups, const Decision& decision,
                         const Problem& problem) {
  QString name = groups.size() > 1 && groups.size() == problem.grouping->size()
                     ? Suggestions::tr("All groups")
                     : names_of(groups, *problem.grouping);
  if (name.size() > kLongName) name = QStringLiteral("…") + end_of(name);
  if (decision.devices.size() == 1) {
    return Suggestions::tr("Move %1 to %2")
        .arg(name, text(problem.cluster->device(decision.devices[0].device).name));
  }
  return QStringLiteral("%1: %2").arg(name, replication_words(decision, *problem.cluster));
}

struct Suggestions::Job {
  std::uint64_t number;
  std::shared_ptr<const Problem> problem;
  Strategy strategy;
  Simulation simulation;
  std::vector<std::vector<GroupId>> targets;  // groups to be decided alike
  std::shared_ptr<const BoundConstraints> constraints;
  bool whole;  // no groups were asked for
};

// Tries one after the other. On the worker's thread.
class Suggestions::Search {
 public:
  Search(const Job& job, const std::atomic<std::uint64_t>& latest)
      : job_(job),
        latest_(latest),
        simulator_(job.problem, job.simulation),
        before_(simulator_.use(job.strategy)) {}

  bool wanted() const { return latest_ == job_.number; }
  int tried() const { return tried_; }
  const std::vector<Suggestion>& found() const { return found_; }

  void decide(const std::vector<GroupId>& groups) {
    for (const Decision& decision : plausible_decisions(*job_.problem, groups, job_.strategy,
                                                        job_.constraints.get(), kDecisions)) {
      if (!wanted()) return;
      try_one(groups, with_decision(job_.strategy, groups, decision),
              suggestion_words(groups, decision, *job_.problem));
    }
  }

  void fuse() {
    for (const Bytes bucket : plausible_buckets(*job_.problem, job_.strategy)) {
      if (!wanted()) return;
      Strategy changed = job_.strategy;
      changed.bucket = bucket;
      try_one(
          {}, changed,
          bucket.value == 0
              ? Suggestions::tr("Reduce each gradient on its own")
              : Suggestions::tr("Fuse gradients into buckets of %1 MiB").arg(bucket.value >> 20));
    }
  }

  // What needs less memory; where it fits, what needs more, too.
  void change_memory() {
    const std::size_t broken = broken_by(job_.strategy);
    for (const MemoryChange& change : memory_changes(*job_.problem, job_.strategy)) {
      if (!wanted()) return;
      const Strategy changed = change.apply(job_.strategy);
      if ((!change.saves && !before_.feasible) || broken_by(changed) > broken) continue;
      try {
        try_one({}, changed, sentence(change.words));
      } catch (const InputError&) {  // it cannot be: an op needs all samples
      }
    }
  }

 private:
  std::size_t broken_by(const Strategy& strategy) const {
    return job_.constraints ? job_.constraints->violated(strategy).size() : 0;
  }

  void try_one(const std::vector<GroupId>& groups, const Strategy& changed, const QString& words) {
    ++tried_;
    EditEffect effect = effect_of(changed, before_, simulator_.use(changed));
    if (!is_worth_a_word(effect)) return;
    found_.push_back({groups, words, std::move(effect)});
    // Of several ways to make it fit a person chooses.
    keep_best(found_, job_.targets.size() == 1 || !before_.feasible ? kShown : 1);
  }

  const Job& job_;
  const std::atomic<std::uint64_t>& latest_;
  NearSimulator simulator_;
  StepUse before_;
  std::vector<Suggestion> found_;
  int tried_ = 0;
};

Suggestions::Suggestions(Session& session, QObject* parent)
    : QObject(parent), session_(session), latest_(std::make_shared<std::atomic<std::uint64_t>>(0)) {
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
    const bool idle = session_.search().state == SearchPhase::Idle;
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
                     session_.search().state == SearchPhase::Idle;
  if (!ready) return;
  Job job{++job_,
          snapshot.problem,
          snapshot.strategy,
          session_.simulation(),
          {},
          session_.bound_constraints(),
          false};
  *latest_ = job.number;
  const std::vector<GroupId>& selected = session_.selection().groups();
  job.whole = selected.empty();
  job.targets = targets_of(*snapshot.problem->grouping, selected);
  looking_ = true;
  emit changed();
  worker_.post([this, job = std::move(job), latest = latest_] { look(job, *latest); });
}

void Suggestions::look(const Job& job, const std::atomic<std::uint64_t>& latest) {
  const auto tell = [&](const std::vector<Suggestion>& found, int tried, bool done) {
    QMetaObject::invokeMethod(
        this, [this, number = job.number, found, tried, done] { take(number, found, tried, done); },
        Qt::QueuedConnection);
  };
  std::optional<Search> search;
  try {
    search.emplace(job, latest);
    if (job.whole) {
      search->fuse();
      search->change_memory();
      tell(search->found(), search->tried(), false);
    }
    for (const std::vector<GroupId>& groups : job.targets) {
      search->decide(groups);
      if (!search->wanted()) return;
      tell(search->found(), search->tried(), false);
    }
  } catch (const std::exception&) {
    // What cannot be simulated is no suggestion; the strategy shown says why itself.
  }
  tell(search ? search->found() : std::vector<Suggestion>(), search ? search->tried() : 0, true);
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
  session_.edit(chosen.effect.strategy, chosen.words);
}

}  // namespace strato
