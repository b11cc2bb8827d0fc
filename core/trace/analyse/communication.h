// What a rank's communication costs, by collective and communicator.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/trace/device/kernels.h"

namespace strato::trace {

struct CommunicationTime {
  Collective collective = Collective::Unknown;
  GroupId group;  // invalid: not said in the file
  std::int64_t count = 0;
  Nanos busy;     // at least one of them runs
  Nanos exposed;  // and no computation
  Bytes sent;     // 0: not said
};
// By exposed time.
std::vector<CommunicationTime> communication(const Trace& trace, std::span<const Kernel> kernels);

// The same of several ranks together.
struct CommunicationSum {
  Collective collective = Collective::Unknown;
  std::string group;  // group_text()
  std::int64_t count = 0;
  Nanos busy, exposed;  // summed over ranks
  Bytes sent;
};
// `by_rank`: of each trace. By exposed time.
std::vector<CommunicationSum> communication_of_all(
    std::span<const Trace> traces, std::span<const std::vector<CommunicationTime>> by_rank);

// The name and size of a communicator; "-": not said.
std::string group_text(const Trace& trace, GroupId id);

// Of a trace without times: durations are summed, and nothing is exposed.
std::vector<CommunicationTime> communication_of_nodes(const Trace& trace);

// Of a kernel that communicates: as its call says, else its name.
Collective collective_of(const Trace& trace, const Event& event);

}  // namespace strato::trace
