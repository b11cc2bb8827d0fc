// The buffers that a collective reads or writes, by member: of n members it is asked n times.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "core/program/value/program_task.h"

namespace strato {

class MemberBuffers {
  struct DeviceOf {
    const Program& program;
    DeviceId operator()(BufferId buffer) const { return program.buffers[buffer].device; }
  };

 public:
  MemberBuffers(const Program& program, std::span<const BufferId> buffers)
      : program_(program), buffers_(buffers.begin(), buffers.end()) {
    std::ranges::stable_sort(buffers_, {}, DeviceOf{program_});
  }
  // In the task's order.
  std::span<const BufferId> of(DeviceId member) const {
    return std::ranges::equal_range(buffers_, member, {}, DeviceOf{program_});
  }
  BufferId one_of(const ProgramTask& at, DeviceId member, const char* problem) const {
    at.expect(of(member).size() == 1, at.task().tensor, problem);
    return of(member).front();
  }

 private:
  const Program& program_;
  std::vector<BufferId> buffers_;
};

}  // namespace strato
