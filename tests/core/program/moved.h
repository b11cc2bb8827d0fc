// What collectives of a program move, and among whom.
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "core/program/value/collective.h"

namespace strato {

using Devices = std::vector<int>;
struct Moved {
  std::multiset<Devices> members;
  Bytes bytes;
};

// On this stream, or on any.
inline Moved moved(const Program& program, TaskKind kind, std::optional<Stream> stream = {}) {
  Moved result;
  for (const TaskId id : program.tasks.ids()) {
    if (program.tasks[id].kind != kind || (stream && program.stream_of(id) != *stream)) continue;
    Devices members;
    for (const DeviceId device : members_of(program, id)) members.push_back(device.value());
    result.members.insert(members);
    result.bytes += program.tasks[id].bytes;
  }
  return result;
}

}  // namespace strato
