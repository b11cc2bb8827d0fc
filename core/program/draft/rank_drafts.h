// The drafts of all ranks of a program, or of one device's alone. A rank is a device that has a
// task; ranks ascend by device.
#pragma once

#include <vector>

#include "core/program/draft/rank_draft.h"
#include "core/program/value/program.h"

namespace strato {

class RankDrafts {
 public:
  // `only`: the device whose program is wanted; invalid: all of them.
  RankDrafts(const Program& program, DeviceId only);

  bool wanted(DeviceId device) const { return !only_.valid() || device == only_; }
  // Of a wanted device with a task.
  RankDraft& of(DeviceId device) { return drafts_[place_[device.index()]]; }
  std::vector<RankProgram> finish() &&;

 private:
  const DeviceId only_;
  std::vector<std::size_t> place_;  // by device: in drafts_
  std::vector<RankDraft> drafts_;
  int first_rank_ = 0;  // of the first draft
};

}  // namespace strato
