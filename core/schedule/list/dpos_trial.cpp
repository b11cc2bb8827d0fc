// Trials of edits: only what an edit changes is ranked, ordered and placed again, with the result
// that all of it would have.
#include <algorithm>
#include <queue>
#include <utility>

#include "core/base/at.h"
#include "core/base/error.h"
#include "core/schedule/list/dpos.h"

namespace strato {

void Dpos::rank_again(const DagEdit& edit, std::span<const NodeIndex> touched, std::size_t old_size,
                      Change& change) {
  const auto later = [&](NodeIndex a, NodeIndex b) { return dag_.key(a) < dag_.key(b); };
  std::priority_queue<NodeIndex, std::vector<NodeIndex>, decltype(later)> queue(later);
  for (const NodeIndex node : edit.removed) {
    changed_[at(node)] = 1;
    change.changed.push_back(node);
  }
  for (const NodeIndex node : touched) queue.push(node);
  for (std::size_t node = old_size; node < dag_.size(); ++node)
    queue.push(static_cast<NodeIndex>(node));
  NodeIndex last = -1;
  while (!queue.empty()) {
    const NodeIndex node = queue.top();
    queue.pop();
    if (node == last) continue;
    last = node;
    ++change.ranked;
    const Nanos rank_now = rank_from_successors(node);
    const bool added = at(node) >= old_size;
    if (!added && rank_now == rank(node)) continue;
    rank_[at(node)] = rank_now;
    changed_[at(node)] = 1;
    change.changed.push_back(node);
    for (const EditableDag::Half& half : dag_.predecessors(node)) queue.push(half.node);
  }
}

void Dpos::order_again(std::span<const NodeIndex> touched, Change& change) {
  std::vector<NodeIndex> moved;
  change.place = order_.size();
  for (const NodeIndex node : change.changed) {
    const std::int32_t old = place_[at(node)];
    if (old >= 0) change.place = std::min(change.place, static_cast<std::size_t>(old));
    if (!dag_.has(node)) continue;
    moved.push_back(node);
  }
  std::ranges::sort(moved,
                    [&](NodeIndex a, NodeIndex b) { return before(a, rank(a), b, rank(b)); });
  if (!moved.empty()) {
    const NodeIndex first = moved.front();
    const auto begin = std::partition_point(order_.begin(), order_.end(), [&](NodeIndex node) {
      return before(node, old_rank_[at(node)], first, rank(first));
    });
    change.place = std::min(change.place, static_cast<std::size_t>(begin - order_.begin()));
  }
  change.tail.reserve(order_.size() - change.place + moved.size());
  std::size_t next = 0;
  for (std::size_t i = change.place; i < order_.size(); ++i) {
    const NodeIndex node = order_[i];
    if (changed_[at(node)]) continue;
    for (; next < moved.size() && before(moved[next], rank(moved[next]), node, rank(node)); ++next)
      change.tail.push_back(moved[next]);
    change.tail.push_back(node);
  }
  change.tail.insert(change.tail.end(), moved.begin() + static_cast<std::ptrdiff_t>(next),
                     moved.end());
  // The order may be the same for longer, although ranks are not.
  change.restart = change.place;
  for (const NodeIndex node : touched) changed_[at(node)] |= 2;
  for (const NodeIndex node : change.tail) {
    if (change.restart >= order_.size() || order_[change.restart] != node) break;
    if (changed_[at(node)] & 2) break;  // it has other neighbours
    ++change.restart;
  }
  for (const NodeIndex node : touched) changed_[at(node)] &= ~2;
}

// The schedule also changes where a node comes on the critical path, leaves it, or the path's
// device was chosen for other nodes.
void Dpos::find_restart(Change& change) {
  if (!options_.critical_path_device) return;
  const NodeIndex entry = change.place > 0      ? order_.front()
                          : change.tail.empty() ? -1
                                                : change.tail.front();
  if (entry >= 0) change.path = path_from(entry);
  const auto limit = [&](NodeIndex node) {
    const std::int32_t old = place_[at(node)];
    if (old >= 0) change.restart = std::min(change.restart, static_cast<std::size_t>(old));
  };
  for (const NodeIndex node : change.path) on_path_[at(node)] |= 2;
  for (const NodeIndex node : path_)
    if (on_path_[at(node)] == 1) limit(node);
  for (const NodeIndex node : change.path)
    if (on_path_[at(node)] == 2) limit(node);
  for (const NodeIndex node : path_) on_path_[at(node)] = 0;
  for (const NodeIndex node : change.path) on_path_[at(node)] = 1;
  for (const Choice& choice : choices_) {
    if (choice.place >= change.restart) break;
    const NodeIndex chosen_for = order_[choice.place];
    const auto at = std::ranges::find(change.path, chosen_for);
    State state;
    state.left = choice.left;
    state.group_at = choice.group_at;
    const std::span<const NodeIndex> remaining(at, change.path.end());
    if (choose_path_device(remaining, state) == choice.device) continue;
    change.restart = choice.place;
    break;
  }
}

// The first node of a group takes memory for all of it.
void Dpos::restart_before_group(std::int32_t group, Change& change) const {
  for (std::size_t at = 0; at < change.restart; ++at)
    if (dag_.colocation(order_[at]) == group) change.restart = at;
}

Dpos::Change Dpos::change(const DagEdit& edit) {
  Change change;
  std::vector<NodeIndex> touched;
  const std::size_t old_size = dag_.size();
  dag_.apply(edit, touched);
  grow();
  rank_again(edit, touched, old_size, change);
  order_again(touched, change);
  find_restart(change);
  for (const NodeIndex node : edit.removed)
    if (dag_.colocation(node) >= 0) restart_before_group(dag_.colocation(node), change);
  return change;
}

void Dpos::forget(const Change& change, std::size_t old_size) {
  if (options_.critical_path_device) {
    for (const NodeIndex node : change.path) on_path_[at(node)] = 0;
    for (const NodeIndex node : path_) on_path_[at(node)] = 1;
  }
  for (const NodeIndex node : change.changed) {
    rank_[at(node)] = old_rank_[at(node)];
    changed_[at(node)] = 0;
  }
  dag_.undo();
  rank_.resize(old_size);
  old_rank_.resize(old_size);
  changed_.resize(old_size);
  on_path_.resize(old_size);
  place_.resize(old_size);
  placed_.resize(old_size);
}

Dpos::Trial Dpos::trial(const DagEdit& edit, Nanos limit) {
  const std::size_t old_size = dag_.size();
  const Change changed = change(edit);
  trial_placed_ = placed_;
  Run again;
  again.tail = changed.tail;
  again.first = changed.place;
  again.restart = changed.restart;
  again.path = changed.path;
  again.limit = limit;
  Trial trial;
  trial.ranked = changed.ranked;
  const State state = run(again, trial_placed_, trial.placed);
  trial.makespan = state.makespan;
  trial.fits = state.fits;
  forget(changed, old_size);
  return trial;
}

void Dpos::take(const DagEdit& edit) {
  Change changed = change(edit);
  for (const NodeIndex node : changed.changed) {
    old_rank_[at(node)] = rank(node);
    changed_[at(node)] = 0;
    place_[at(node)] = -1;
  }
  order_.resize(changed.place);
  order_.insert(order_.end(), changed.tail.begin(), changed.tail.end());
  for (std::size_t i = changed.place; i < order_.size(); ++i)
    place_[at(order_[i])] = static_cast<std::int32_t>(i);
  if (options_.critical_path_device) path_ = std::move(changed.path);
  Run again;
  again.tail = order_;
  again.restart = changed.restart;
  again.path = path_;
  again.keep = true;
  std::size_t count = 0;
  last_ = run(again, placed_, count);
}

}  // namespace strato
