// Going on from a stored tree, as if the search had never stopped or with new wishes of a person.
#include <charconv>
#include <limits>

#include "core/base/error.h"
#include "core/search/tree_searcher.h"

namespace strato {
namespace {

// One number of the state.
constexpr int kPacked = 1, kPlain = 2;

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
  const int flags = (packed_ ? kPacked : 0) + (plain_ ? kPlain : 0);
  return text + pins.hex() + " " + std::to_string(flags) + " " + std::to_string(twin_.value) + "/" +
         local_.state();
}

// "polish_iterations/local" of older files, or "polish_iterations baseline pinned_since
// pins flags [twin]/local".
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
  if (words.size() != 1 && words.size() != 5 && words.size() != 6) damaged();
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
  if (words.size() == 1) return saved;
  saved.baseline_ns = number(words[1], std::numeric_limits<std::int64_t>::max());
  saved.pinned_since =
      static_cast<std::uint64_t>(number(words[2], static_cast<std::int64_t>(tree.log.size())));
  saved.pins = Digest::from_hex(words[3]);
  const std::int64_t flags = number(words[4], kPacked + kPlain);
  saved.packed = (flags & kPacked) != 0;
  saved.plain = (flags & kPlain) != 0;
  if (words.size() == 6)
    saved.twin = Nanos(number(words[5], std::numeric_limits<std::int64_t>::max()));
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
  plain_ = saved.plain && !options_.finish_always;
  twin_ = saved.twin;
  polish_iterations_ = saved.polish_iterations;
  tree_iterations_ = tree.iterations - polish_iterations_;
  if (!tree_.node(0).evaluated) return evaluate_root();
  local_.restore(saved.local);
  baseline_time_ = Nanos(saved.baseline_ns > 0 ? saved.baseline_ns : tree_.node(0).step_time_ns);
  restore_known();
  restore_incumbent(pins_changed);
}

void TreeSearch::restore_known() {
  for (std::size_t i = 0; i < tree_.nodes().size(); ++i) {
    const TreeNode& node = tree_.nodes()[i];
    if (node.closed || node.stale) continue;
    known_.emplace(key_of(tree_.completed_actions(static_cast<std::int32_t>(i))),
                   Known{node.reward, node.step_time_ns});
  }
}

// Of vertices that may be the result; -1: there is none.
std::int32_t TreeSearch::best_known_vertex() const {
  std::int32_t best = -1;
  for (std::size_t i = 0; i < tree_.nodes().size(); ++i) {
    const auto id = static_cast<std::int32_t>(i);
    const TreeNode& node = tree_.node(id);
    if (node.closed || node.stale || (best >= 0 && node.reward <= tree_.node(best).reward))
      continue;
    if (!tree_.is_excluded(tree_.completed_actions(id))) best = id;
  }
  return best;
}

// Steering may have made the incumbent illegal: then it gets the pins, or, in an excluded branch,
// the best that is known outside takes its place.
void TreeSearch::restore_incumbent(bool pins_changed) {
  ActionVector best = local_.has_incumbent() ? local_.incumbent() : tree_.completed_actions(0);
  for (std::size_t g = 0; g < tree_.pinned().size(); ++g)
    if (tree_.pinned()[g] >= 0) best[g] = tree_.pinned()[g];
  if (tree_.is_excluded(best)) {
    const std::int32_t vertex = best_known_vertex();
    if (vertex < 0) return local_.restart_from({}, {});
    best = tree_.completed_actions(vertex);
    plain_ = false;
  }
  best_ = evaluate_all({completed(best, plain_)}).front();
  if (!pins_changed && local_.has_incumbent() && local_.incumbent() == best)
    return local_.set_incumbent_score(*best_);
  twin_ = Nanos(0);
  local_.restart_from(best, *best_);
  improved();
}

}  // namespace strato
