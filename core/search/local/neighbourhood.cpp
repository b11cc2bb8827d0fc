#include "core/search/local/neighbourhood.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "core/base/at.h"

namespace strato {
namespace {

// Early places more often: geometric.
std::size_t early_place(Random& random, double mean, std::size_t count) {
  const double place = -mean * std::log(1 - random.uniform());
  return std::min(static_cast<std::size_t>(place), count - 1);
}

}  // namespace

std::vector<GroupId> groups_along(const Grouping& grouping) {
  std::vector<GroupId> along;
  for (std::size_t g = 0; g < grouping.size(); ++g) along.emplace_back(g);
  std::ranges::stable_sort(along, {}, [&](GroupId group) {
    const auto& ops = grouping.group(group).ops;
    return ops.empty() ? OpId() : ops.front();
  });
  return along;
}

Neighbourhood::Neighbourhood(const Problem& problem, std::vector<Decision> actions,
                             std::vector<std::vector<std::int32_t>> ranked)
    : actions_(std::move(actions)),
      ranked_(std::move(ranked)),
      free_actions_(actions_.size()),
      neighbours_(problem.grouping->size()),
      along_(groups_along(*problem.grouping)),
      place_(along_.size()) {
  for (const Grouping::Edge& edge : problem.grouping->edges()) {
    neighbours_[edge.from.index()].push_back(edge.to.value());
    neighbours_[edge.to.index()].push_back(edge.from.value());
  }
  for (std::size_t i = 0; i < along_.size(); ++i) place_[along_[i].index()] = i;
  measure(*problem.grouping);
}

void Neighbourhood::measure(const Grouping& grouping) {
  double compute = 1, parameters = 1;
  for (const OpGroup& group : grouping.groups()) {
    compute += static_cast<double>(group.compute_time.value);
    parameters += static_cast<double>(group.parameter_bytes.value);
  }
  for (const OpGroup& group : grouping.groups()) {
    const auto time = static_cast<double>(group.compute_time.value);
    const auto bytes = static_cast<double>(group.parameter_bytes.value);
    weight_.push_back(1.0 / static_cast<double>(grouping.size()) + time / compute +
                      bytes / parameters);
    density_.push_back(bytes / (time + 1));
  }
}

void Neighbourhood::pin(std::vector<std::int32_t> pinned, std::size_t free_actions) {
  pinned_ = std::move(pinned);
  free_actions_ = free_actions;
  for (std::size_t g = 0; g < pinned_.size(); ++g)
    if (pinned_[g] >= 0) weight_[g] = 0;
}

bool Neighbourhood::is_pinned_everywhere() const {
  return std::ranges::none_of(weight_, [](double weight) { return weight > 0; });
}

ActionVector Neighbourhood::apply(const Move& move, const ActionVector& strategy) const {
  const std::size_t group = at(move.group);
  ActionVector result = strategy;
  result[group] = move.action;
  switch (move.kind) {
    case Around:
      for (std::int32_t g : neighbours_[group]) result[at(g)] = move.action;
      break;
    case Alike:
    case Heavy:
      for (std::size_t g = 0; g < result.size(); ++g)
        if (strategy[g] == strategy[group] &&
            (move.kind == Alike || density_[g] >= density_[group]))
          result[g] = move.action;
      break;
    case Stretch:
      for (std::size_t next = place_[group], left = 1 + result.size() / 8;
           next < along_.size() && left > 0; ++next, --left)
        result[along_[next].index()] = move.action;
      break;
    default:
      break;
  }
  for (std::size_t g = 0; g < pinned_.size(); ++g)
    if (pinned_[g] >= 0) result[g] = pinned_[g];
  return result;
}

bool Neighbourhood::offers(Source source, const ActionVector& strategy) const {
  if (source == Preferred) return !preferred_.empty();
  if (source != Used) return true;
  return std::ranges::adjacent_find(strategy, std::not_equal_to()) != strategy.end();
}

// An action that shares the device set or the mode with the group's own.
std::int32_t Neighbourhood::related_action(Random& random, std::int32_t group,
                                           const ActionVector& strategy) const {
  const auto& legal = ranked_[at(group)];
  const Decision& own = actions_[at(strategy[at(group)])];
  std::vector<std::int32_t> related;
  for (std::int32_t a : legal) {
    const Decision& other = actions_[at(a)];
    if (other.mode == own.mode || std::ranges::equal(other.devices, own.devices, {},
                                                     &DeviceShare::device, &DeviceShare::device))
      related.push_back(a);
  }
  return related.empty() ? legal.front() : related[random.below(related.size())];
}

// The action of another group.
std::optional<std::int32_t> Neighbourhood::used_action(Random& random, std::int32_t group,
                                                       const ActionVector& strategy) const {
  const std::int32_t own = strategy[at(group)];
  std::vector<std::int32_t> used;
  for (const std::int32_t action : strategy)
    if (action != own && at(action) < free_actions_) used.push_back(action);
  if (used.empty()) return std::nullopt;
  return used[random.below(used.size())];
}

// For all that are decided alike the ranks of the first group serve better: they are those of the
// whole graph. What is dear to synchronise does well on other, often far fewer devices, as its own
// ranks say.
std::int32_t Neighbourhood::random_action(Random& random, Source source, const Move& move,
                                          const ActionVector& strategy) const {
  const auto& legal = ranked_[move.kind == Alike ? 0 : at(move.group)];
  if (source == Preferred) return preferred_[early_place(random, 4, preferred_.size())];
  if (source == Related) return related_action(random, move.group, strategy);
  if (source == Any) return legal[random.below(legal.size())];
  if (source == Used)
    if (const auto used = used_action(random, move.group, strategy)) return *used;
  const double mean = std::max(2.0, static_cast<double>(legal.size()) / 32);
  return legal[early_place(random, mean, legal.size())];
}

Move Neighbourhood::random_move(Random& random, Source source, std::span<const double> kinds,
                                const ActionVector& strategy) const {
  Move move;
  move.kind = static_cast<std::int32_t>(random.weighted(kinds));
  move.group = static_cast<std::int32_t>(random.weighted(weight_));
  move.action = random_action(random, source, move, strategy);
  return move;
}

}  // namespace strato
