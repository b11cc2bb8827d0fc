#include "core/compare/op_decisions.h"

#include <fmt/format.h>

#include <algorithm>

namespace strato {
namespace {

// Texts as numbers, so that those of many ops compare quickly.
class Texts {
 public:
  explicit Texts(std::vector<std::string>& texts) : texts_(texts) {}
  int number_of(const std::string& text) {
    const auto [at, added] = numbers_.try_emplace(text, static_cast<int>(texts_.size()));
    if (added) texts_.push_back(text);
    return at->second;
  }
  const std::string& operator[](int number) const {
    return texts_[static_cast<std::size_t>(number)];
  }

 private:
  std::map<std::string, int> numbers_;
  std::vector<std::string>& texts_;
};

std::string split_text(const OpSplit& split, const Cluster& cluster) {
  const std::string text = describe(Decision{Mode::ModelParallel, split.parts}, cluster);
  return fmt::format("split along axis {}{}", split.axis, text.substr(text.find(" on ")));
}

IdVector<OpId, int> decisions_of(const Problem& problem, const Strategy& strategy, Texts& texts) {
  IdVector<GroupId, int> groups;
  for (const auto& decision : strategy.groups)
    groups.push_back(
        texts.number_of(decision ? describe(*decision, *problem.cluster) : "undecided"));
  IdVector<OpId, int> ops;
  for (std::size_t i = 0; i < problem.graph->op_count(); ++i)
    ops.push_back(groups[problem.grouping->group_of(OpId(i))]);
  for (const OpId op : strategy.duplicated)
    ops[op] = texts.number_of(texts[ops[op]] + ", whole on each");
  for (const OpSplit& split : strategy.splits)
    ops[split.op] = texts.number_of(split_text(split, *problem.cluster));
  return ops;
}

}  // namespace

OpDecisions op_decisions(const Problem& from_problem, const Strategy& from,
                         const Problem& to_problem, const Strategy& to) {
  OpDecisions result;
  Texts texts(result.texts);
  result.of.from = decisions_of(from_problem, from, texts);
  result.of.to = decisions_of(to_problem, to, texts);
  return result;
}

std::string composition(const std::map<int, std::size_t>& counts,
                        const std::vector<std::string>& texts) {
  constexpr std::size_t shown = 2;
  const auto text = [&](int number) -> const std::string& {
    return texts[static_cast<std::size_t>(number)];
  };
  if (counts.empty()) return "-";
  if (counts.size() == 1) return text(counts.begin()->first);
  std::vector<std::pair<std::size_t, int>> order;
  std::size_t all = 0;
  for (const auto& [number, count] : counts) {
    order.emplace_back(count, number);
    all += count;
  }
  std::ranges::sort(order, [&](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : text(a.second) < text(b.second);
  });
  std::string result;
  for (std::size_t i = 0; i < std::min(shown, order.size()); ++i)
    result += fmt::format("{}{} ({}{})", i > 0 ? "; " : "", text(order[i].second), order[i].first,
                          i == 0 ? fmt::format(" of {} ops", all) : "");
  if (order.size() > shown) result += fmt::format("; {} more", order.size() - shown);
  return result;
}

}  // namespace strato
