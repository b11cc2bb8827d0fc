#include "core/search/mcts/tree_replay.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <utility>

#include "core/base/error.h"

namespace strato {
namespace {

float prior_of_unopened(const SearchTree& tree, std::int32_t vertex, std::int32_t first_unopened) {
  if (first_unopened >= 0) return tree.vertices[at(first_unopened)].prior;
  const std::int32_t row = tree.vertices[at(vertex)].prior_row;
  if (row < 0) return 1.0F / static_cast<float>(tree.actions.size());
  std::vector<bool> opened(tree.actions.size(), false);
  for (std::int32_t child : tree.children(vertex))
    opened[at(tree.vertices[at(child)].action)] = true;
  float best = 0;
  for (std::size_t a = 0; a < opened.size(); ++a)
    if (!opened[a]) best = std::max(best, tree.priors[at(row) * opened.size() + a]);
  return best;
}

}  // namespace

TreeReplay::TreeReplay(std::shared_ptr<const SearchTree> tree) : tree_(std::move(tree)) {
  CHECK(tree_ != nullptr, "a replay needs a tree");
  const std::size_t size = tree_->vertices.size();
  by_reward_.resize(size);
  std::iota(by_reward_.begin(), by_reward_.end(), 0);
  std::ranges::stable_sort(by_reward_, {},
                           [&](std::int32_t v) { return tree_->vertices[at(v)].reward; });
  place_.resize(size);
  for (std::size_t i = 0; i < size; ++i) place_[at(by_reward_[i])] = static_cast<std::int32_t>(i);
  restart();
}

void TreeReplay::restart() {
  const std::size_t size = tree_->vertices.size();
  step_ = 0;
  visits_.assign(size, 0);
  value_sum_.assign(size, 0);
  best_.assign(size, -std::numeric_limits<double>::infinity());
  raised_.clear();
  existing_ = 0;
  counts_.assign(size + 1, 0);
}

void TreeReplay::count(std::int32_t vertex, int change) {
  existing_ += static_cast<std::size_t>(change);
  for (std::size_t i = at(place_[at(vertex)]) + 1; i < counts_.size(); i += i & -i)
    counts_[i] += change;
}

float TreeReplay::reward_at(std::size_t place) const {
  CHECK(place < existing_, "so many vertices do not exist yet");
  std::size_t below = 0;  // places that hold at most `place` existing vertices
  auto left = static_cast<std::int32_t>(place);
  for (std::size_t half = std::bit_floor(counts_.size() - 1); half > 0; half /= 2)
    if (below + half < counts_.size() && counts_[below + half] <= left)
      left -= counts_[below += half];
  return tree_->vertices[at(by_reward_[below])].reward;
}

void TreeReplay::forward() {
  const auto [leaf, reward] = tree_->log[step_];
  for (std::int32_t v = leaf; v >= 0; v = tree_->vertices[at(v)].parent) {
    if (++visits_[at(v)] == 1) count(v, 1);
    value_sum_[at(v)] += reward;
    if (reward <= best_[at(v)]) continue;
    raised_.push_back({step_, v, best_[at(v)]});
    best_[at(v)] = reward;
  }
  ++step_;
}

void TreeReplay::backward() {
  --step_;
  const auto [leaf, reward] = tree_->log[step_];
  for (std::int32_t v = leaf; v >= 0; v = tree_->vertices[at(v)].parent) {
    if (--visits_[at(v)] == 0) count(v, -1);
    value_sum_[at(v)] = visits_[at(v)] == 0 ? 0 : value_sum_[at(v)] - reward;
  }
  for (; !raised_.empty() && raised_.back().step == step_; raised_.pop_back())
    best_[at(raised_.back().vertex)] = raised_.back().before;
}

void TreeReplay::seek(std::size_t step) {
  step = std::min(step, steps());
  if (step < step_ && step < step_ - step) restart();  // nearer to the start than to here
  while (step_ < step) forward();
  while (step_ > step) backward();
}

double TreeReplay::value(std::int32_t vertex) const {
  return visits(vertex) > 0 ? value_sum_[at(vertex)] / visits(vertex) : 0;
}

std::vector<std::int32_t> TreeReplay::path() const {
  if (step_ == 0) return {};
  std::vector<std::int32_t> path;
  for (std::int32_t v = tree_->log[step_ - 1].vertex; v >= 0; v = tree_->vertices[at(v)].parent)
    path.push_back(v);
  std::ranges::reverse(path);
  return path;
}

bool TreeReplay::expanded() const { return step_ > 0 && visits(tree_->log[step_ - 1].vertex) == 1; }

std::vector<PuctRow> puct_rows(const TreeReplay& replay, std::int32_t vertex,
                               const TreeSearchOptions& options) {
  const SearchTree& tree = replay.tree();
  const auto reward = [&](std::size_t place) { return replay.reward_at(place); };
  const ValueScale scale(replay.existing(), reward, options);
  const auto value = [&](std::int32_t v) {
    return options.max_backup ? replay.best(v) : replay.value(v);
  };
  const double visits = replay.visits(vertex);
  std::vector<PuctRow> rows;
  if (visits == 0) return rows;
  std::int32_t unopened = -1;
  std::size_t open = 0;
  for (std::int32_t child : tree.children(vertex)) {
    const SearchTree::Vertex& c = tree.vertices[at(child)];
    if (!replay.exists(child)) {
      if (unopened < 0) unopened = child;
      continue;
    }
    open += tree.is_closed(child) ? 0 : 1;
    const double n = replay.visits(child);
    rows.push_back({child, c.action, replay.visits(child), value(child), scale(value(child)),
                    c.prior,
                    exploration(options, tree.actions.size(), c.prior * c.weight, visits, n)});
  }
  const SearchTree::Vertex& v = tree.vertices[at(vertex)];
  const bool complete = at(v.depth) == tree.order.size();
  if (complete || rows.size() == tree.actions.size() || !may_widen(options, visits, open))
    return rows;
  PuctRow next;
  if (unopened >= 0) next.action = tree.vertices[at(unopened)].action;
  next.prior = prior_of_unopened(tree, vertex, unopened);
  next.normalised = options.first_play ? scale(value(vertex)) - options.fpu : 0;
  next.exploration = exploration(options, tree.actions.size(), next.prior, visits, 0);
  rows.push_back(next);
  return rows;
}

}  // namespace strato
