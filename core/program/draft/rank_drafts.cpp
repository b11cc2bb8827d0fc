#include "core/program/draft/rank_drafts.h"

#include <utility>

#include "core/program/value/collective.h"

namespace strato {
namespace {

std::vector<bool> devices_with_tasks(const Program& program) {
  std::vector<bool> works(program.cluster->device_count());
  for (std::size_t i = 0; i < program.tasks.size(); ++i) {
    const Task& task = program.tasks[TaskId(i)];
    works[task.device.index()] = true;
    if (task.target.valid()) works[task.target.index()] = true;
    for (const DeviceId member : members_of(program, TaskId(i))) works[member.index()] = true;
  }
  return works;
}

}  // namespace

RankDrafts::RankDrafts(const Program& program, DeviceId only) : only_(only) {
  const std::vector<bool> works = devices_with_tasks(program);
  for (std::size_t d = 0; d < works.size(); ++d) {
    place_.push_back(drafts_.size());
    if (!works[d]) continue;
    if (wanted(DeviceId(d)))
      drafts_.emplace_back(*program.graph, DeviceId(d));
    else if (drafts_.empty())
      ++first_rank_;
  }
}

std::vector<RankProgram> RankDrafts::finish() && {
  std::vector<RankProgram> ranks;
  for (RankDraft& draft : drafts_)
    ranks.push_back(std::move(draft).finish(first_rank_ + static_cast<int>(ranks.size())));
  return ranks;
}

}  // namespace strato
