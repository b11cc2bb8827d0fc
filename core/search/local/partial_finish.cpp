#include "core/search/local/partial_finish.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace strato {

PartialFinish::PartialFinish(const Problem& problem, std::function<void(Strategy&)> finish)
    : grouping_(problem.grouping), finish_(std::move(finish)) {}

Strategy PartialFinish::apply(Strategy plain, const GroupFlags& left_out) const {
  if (!finish_ || std::ranges::all_of(left_out, std::identity())) return plain;
  finish_(plain);
  std::erase_if(plain.duplicated,
                [&](OpId op) { return left_out[grouping_->group_of(op).index()]; });
  return plain;
}

std::vector<std::size_t> PartialFinish::groups_of(const Strategy& plain) const {
  if (!finish_) return {};
  Strategy finished = plain;
  finish_(finished);
  std::vector<std::size_t> groups;
  for (const OpId op : finished.duplicated) groups.push_back(grouping_->group_of(op).index());
  std::ranges::sort(groups);
  groups.erase(std::ranges::unique(groups).begin(), groups.end());
  std::ranges::stable_sort(groups, std::greater(), [&](std::size_t group) {
    return grouping_->group(GroupId(group)).parameter_bytes;
  });
  return groups;
}

GroupFlags PartialFinish::that_matter(const GroupFlags& left_out, const Strategy& plain) const {
  GroupFlags result(left_out.size(), false);
  for (const std::size_t group : groups_of(plain)) result[group] = left_out[group];
  return result;
}

}  // namespace strato
