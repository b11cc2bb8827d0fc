// Going on from a stored tree, as if the search had never stopped or with new wishes of a person.
#include <charconv>
#include <limits>
#include <utility>

#include "core/base/error.h"
#include "core/search/mcts/tree_searcher.h"
#include "core/search/tree/search_tree.h"

namespace strato {
namespace {

// One number of the state; times kPlaces: space_next_.
constexpr std::int64_t kPacked = 1, kPlain = 2, kContradicted = 4, kPlaces = 8;
constexpr std::int64_t kMostFlags = std::int64_t{1} << 40;

Digest digest_of_pins(const TreeState& tree) {
  Hasher hasher;
  for (std::int32_t action : tree.pinned()) {
    hasher.number(action);
    if (action < 0) continue;
    const Decision& decision = tree.actions()[static_cast<std::size_t>(action)];
    hasher.number(decision.mode);
    for (const DeviceShare& share : decision.devices)
      hasher.number(share.device.value()).number(share.weight);
  }
  return tree.pinned().empty() ? Digest() : hasher.finish();
}

}  // namespace

std::string TreeSearch::state() const {
  const Digest pins = digest_of_pins(tree_);
  std::string text;
  for (std::int64_t number :
       {polish_iterations_, baseline_time_.value, static_cast<std::int64_t>(pinned_since_)})
    text += std::to_string(number) + " ";
  const std::int64_t flags = (packed_ ? kPacked : 0) + (plain_ ? kPlain : 0) +
                             (contradicted_ ? kContradicted : 0) +
                             kPlaces * static_cast<std::int64_t>(space_next_);
  text += pins.hex() + " " + std::to_string(flags) + " g";
  for (std::size_t way = 0; way < ways_tried_.size(); ++way) {
    const bool left_out = way < left_out_.size() && left_out_[way];
    text += static_cast<char>('0' + (left_out ? 1 : 0) + (ways_tried_[way] ? 2 : 0));
  }
  if (best_seed_ && best_seed_->second.better_than(*best_) && !kept_.actions.empty())
    text += " k" + words_of(kept_);
  if (!remembered_.actions.empty()) text += " r" + words_of(remembered_);
  return text + "/" + local_.state() + lane_state();
}

// "flags,actions"
std::string TreeSearch::words_of(const Way& way) const {
  std::string text;
  for (const bool left_out : way.left_out) text += left_out ? '1' : '0';
  for (const std::int32_t action : way.actions) text += "," + std::to_string(action);
  return text;
}

// "polish_iterations/local" of older files, or "polish_iterations baseline pinned_since
// pins flags [ways]/local"; where ways begins with no 'g' it is a number of before and says
// nothing; and last words "kflags,actions" for what is kept, "rflags,actions" for what is
// remembered; behind all of it "/lane" where that has begun.
TreeSearch::Saved TreeSearch::parse_state(const SearchTree& tree) {
  const auto damaged = [] {
    throw InputError("", "search tree", "its state is damaged", "run the search again");
  };
  const std::string_view state = tree.random_state;
  const std::size_t slash = state.find('/');
  if (slash == std::string_view::npos) damaged();
  std::vector<std::string_view> words;
  for (std::size_t begin = 0; begin <= slash;) {
    const std::size_t end = std::min(state.find(' ', begin), slash);
    words.push_back(state.substr(begin, end - begin));
    begin = end + 1;
  }
  if (words.size() != 1 && (words.size() < 5 || words.size() > 8)) damaged();
  const auto number = [&](std::string_view word, std::int64_t most) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size() || value < 0 || value > most)
      damaged();
    return value;
  };
  Saved saved;
  saved.polish_iterations = number(words[0], tree.iterations);
  saved.local = state.substr(slash + 1);
  if (const std::size_t end = saved.local.find('/'); end != std::string_view::npos) {
    saved.lane = saved.local.substr(end);
    saved.local = saved.local.substr(0, end);
  }
  if (words.size() == 1) return saved;
  saved.baseline_ns = number(words[1], std::numeric_limits<std::int64_t>::max());
  saved.pinned_since =
      static_cast<std::uint64_t>(number(words[2], static_cast<std::int64_t>(tree.log.size())));
  saved.pins = Digest::from_hex(words[3]);
  const std::int64_t flags = number(words[4], kMostFlags);
  saved.packed = (flags & kPacked) != 0;
  saved.plain = (flags & kPlain) != 0;
  saved.contradicted = (flags & kContradicted) != 0;
  saved.space_next = static_cast<std::uint64_t>(flags / kPlaces);
  if (words.size() > 5 && words[5].starts_with('g')) {
    saved.ways = words[5].substr(1);
    if (saved.ways.size() != tree.order.size() + 1 ||
        saved.ways.find_first_not_of("0123") != std::string_view::npos)
      damaged();
    for (std::size_t i = 6; i < words.size(); ++i) {
      std::string_view& slot = words[i].starts_with('k') ? saved.kept : saved.remembered;
      if (!slot.empty() || !(words[i].starts_with('k') || words[i].starts_with('r'))) damaged();
      slot = words[i];
    }
  } else if (words.size() > 6) {
    damaged();
  } else if (words.size() == 6) {
    number(words[5], std::numeric_limits<std::int64_t>::max());
  }
  return saved;
}

void TreeSearch::restore(const SearchTree& tree) {
  if (tree.seed != common_.seed)
    throw InputError("", "search tree", "it was made with seed " + std::to_string(tree.seed),
                     "resume with that seed, or start a new search");
  const Saved saved = parse_state(tree);
  const bool pins_changed = saved.pins != digest_of_pins(tree_);
  pinned_since_ = pins_changed ? tree.log.size() : saved.pinned_since;
  tree_.restore(tree, pins_changed ? std::numeric_limits<std::size_t>::max() : pinned_since_);
  packed_ = saved.packed && !pins_changed;
  restore_ways(saved);
  if (!pins_changed) restore_place(saved.space_next);
  if (saved.contradicted) drop_bounds();
  polish_iterations_ = saved.polish_iterations;
  tree_iterations_ = tree.iterations - polish_iterations_;
  if (!tree_.node(0).evaluated) return evaluate_root();
  local_.restore(saved.local);
  baseline_time_ = Nanos(saved.baseline_ns > 0 ? saved.baseline_ns : tree_.node(0).step_time_ns);
  restore_known();
  remembered_ = parse_way(saved.remembered);
  restore_incumbent(pins_changed);
  restore_kept(parse_way(saved.kept));
  recall();
  if (!pins_changed) restore_lane(saved.lane);
}

// Behind the last strategy nothing would be left to try, and the best so far be told for the
// optimum.
void TreeSearch::restore_place(std::uint64_t space_next) {
  if (small_ && static_cast<double>(space_next) > SmallSpace::count_of(legal_by_group()))
    throw InputError("", "search tree", "it has tried more strategies than there are",
                     "run the search again");
  space_next_ = space_next;
}

void TreeSearch::restore_ways(const Saved& saved) {
  if (options_.finish_always) return;
  plain_ = saved.plain;
  reset_ways();
  for (std::size_t way = 0; way < saved.ways.size(); ++way) {
    const int flags = saved.ways[way] - '0';
    if (way < left_out_.size()) left_out_[way] = (flags & 1) != 0;
    ways_tried_[way] = (flags & 2) != 0;
  }
}

void TreeSearch::restore_known() {
  for (std::size_t i = 0; i < tree_.nodes().size(); ++i) {
    const TreeNode& node = tree_.nodes()[i];
    if (node.closed || node.stale) continue;
    known_.emplace(key_of(tree_.completed_actions(static_cast<std::int32_t>(i))),
                   Known{node.reward, node.step_time_ns});
  }
}

// Of vertices that may be the result; -1: there is none. Stale ones were evaluated under other
// pins.
std::int32_t TreeSearch::best_known_vertex(bool with_stale) const {
  std::int32_t best = -1;
  for (std::size_t i = 0; i < tree_.nodes().size(); ++i) {
    const auto id = static_cast<std::int32_t>(i);
    const TreeNode& node = tree_.node(id);
    if (node.closed || (node.stale && !with_stale) ||
        (best >= 0 && node.reward <= tree_.node(best).reward))
      continue;
    if (!tree_.is_excluded(tree_.completed_actions(id))) best = id;
  }
  return best;
}

// Damaged: nothing like a strategy of these groups.
TreeSearch::Way TreeSearch::parse_way(std::string_view word) const {
  if (word.empty()) return {};
  const auto damaged = [] {
    throw InputError("", "search tree", "the strategy that it keeps is damaged",
                     "run the search again");
  };
  const std::size_t groups = tree_.order().size();
  if (word.size() < groups + 1) damaged();
  Way way;
  for (const char flag : word.substr(1, groups)) {
    if (flag != '0' && flag != '1') damaged();
    way.left_out.push_back(flag == '1');
  }
  for (word.remove_prefix(groups + 1); !word.empty();) {
    if (word.front() != ',') damaged();
    std::int32_t action = -1;
    const auto [end, error] = std::from_chars(word.data() + 1, word.data() + word.size(), action);
    if (error != std::errc() || action < 0 ||
        static_cast<std::size_t>(action) >= tree_.actions().size())
      damaged();
    way.actions.push_back(action);
    word.remove_prefix(static_cast<std::size_t>(end - word.data()));
  }
  if (way.actions.size() != groups) damaged();
  return way;
}

bool TreeSearch::is_allowed(const ActionVector& actions) const {
  for (std::size_t g = 0; g < tree_.pinned().size(); ++g)
    if (tree_.pinned()[g] >= 0 && actions[g] != tree_.pinned()[g]) return false;
  return !tree_.is_excluded(actions);
}

void TreeSearch::restore_kept(const Way& kept) {
  if (kept.actions.empty() || options_.finish_always) return;
  if (!is_allowed(kept.actions)) return remember(kept);
  const Score score = evaluate_all({completed(kept.actions, kept.left_out)}).front();
  if (best_ && score.better_than(*best_)) keep_way(kept.actions, kept.left_out, score);
}

// One at a time: the better one of two.
void TreeSearch::remember(Way way) {
  const Way& other = remembered_;
  if (!other.actions.empty()) {
    const std::vector<Score> scores = evaluate_all(
        {completed(way.actions, way.left_out), completed(other.actions, other.left_out)});
    if (!scores.front().better_than(scores.back())) return;
  }
  remembered_ = std::move(way);
}

// What was in its way is gone: from there on where that is better than what was found since.
void TreeSearch::recall() {
  if (remembered_.actions.empty() || !is_allowed(remembered_.actions)) return;
  Way way = std::exchange(remembered_, {});
  const Score score = evaluate_all({completed(way.actions, way.left_out)}).front();
  if (!best_ || score.better_than(*best_)) take_way(way.actions, std::move(way.left_out), score);
}

// Steering may have made the incumbent illegal: then it gets the pins, or, in an excluded branch,
// the best that is known outside takes its place. Where pins are gone, what was known before them
// may be better.
void TreeSearch::restore_incumbent(bool pins_changed) {
  ActionVector best = local_.has_incumbent() ? local_.incumbent() : tree_.completed_actions(0);
  if (local_.has_incumbent() && !is_allowed(best)) remember({best, left_out_});
  for (std::size_t g = 0; g < tree_.pinned().size(); ++g)
    if (tree_.pinned()[g] >= 0) best[g] = tree_.pinned()[g];
  if (tree_.is_excluded(best)) {
    const std::int32_t vertex = best_known_vertex(false);
    if (vertex < 0) return local_.restart_from({}, {});
    best = tree_.completed_actions(vertex);
    reset_ways();
  }
  best_ = evaluate_all({completed(best, left_out_)}).front();
  if (!pins_changed && local_.has_incumbent() && local_.incumbent() == best)
    return local_.set_incumbent_score(*best_);
  ways_tried_.assign(ways_tried_.size(), false);
  local_.restart_from(best, *best_);
  improved();
  const std::int32_t vertex = pins_changed ? best_known_vertex(true) : -1;
  if (vertex < 0) return;
  best = tree_.completed_actions(vertex);
  const Score score = evaluate({best}).front();
  learn(best, score);
  consider(best, score);
}

}  // namespace strato
