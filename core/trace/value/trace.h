// What a profiler recorded of one rank: events on lanes (threads of the host, streams of devices),
// the communication among them, and what the file says about the run. A value; reading makes it.
//
// Times are nanoseconds on the clock of the recording machine. Sources: PyTorch's Kineto
// (libkineto/src/output_json.cpp), Chrome's trace event format, PyTorch's ExecutionTraceObserver,
// MLCommons' Chakra (schema 0.0.4), Nsight Systems' SQLite export.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/units.h"
#include "core/trace/value/kinds.h"
#include "core/trace/value/names.h"

namespace strato::trace {

// Declared here: a tag of that name in another namespace would be taken where it is known before.
struct LaneTag;
struct CallTag;
struct GroupTag;
using LaneId = Id<LaneTag>;
using CallId = Id<CallTag>;
using GroupId = Id<GroupTag>;

// A thread of the host, or a stream of a device.
struct Lane {
  bool on_device = false;
  std::int64_t process = 0;  // or the device's number
  std::int64_t thread = 0;   // or the stream's
  std::string name;          // empty: the file gives none
};

struct Event {
  NameId name;
  LaneId lane;
  Nanos start, duration;         // 0 or more
  std::int64_t correlation = 0;  // of a launch and what it launched; 0: none
  CallId call;                   // of what communicates, where something is known of it
  EventKind kind = EventKind::Other;

  Nanos end() const { return start + duration; }
};

// A communicator.
struct Group {
  std::string name;
  std::string description;          // "default_pg"; empty: not said
  std::int64_t size = 0;            // 0: not said
  std::vector<std::int64_t> ranks;  // ascending; empty: not said
};

// One call of a collective, or of a send or receive.
struct Call {
  Collective collective = Collective::Unknown;
  GroupId group;             // invalid: not said
  Bytes sent, received;      // of this rank; 0: not said
  std::int64_t number = -1;  // among the group's calls ("Seq"); -1: not said
};

// What the allocator of a device held at a moment.
struct MemorySample {
  Nanos at;
  std::int64_t device = 0;
  Bytes allocated, reserved;
};

struct DeviceInfo {
  std::string name;
  Bytes memory;
};

enum class Format : std::uint8_t { Kineto, Chrome, ExecutionTrace, Chakra, NsightSystems };
const char* name_of(Format format);

struct Trace {
  std::string file;
  Format format = Format::Chrome;
  std::optional<std::int64_t> rank, world_size;  // as the file says
  std::string backend;
  std::vector<DeviceInfo> devices;
  // False: the events have an order and durations, but no times of their own (execution traces).
  bool timed = true;

  Names names;
  IdVector<LaneId, Lane> lanes;
  std::vector<Event> events;  // by start, the longer first
  IdVector<GroupId, Group> groups;
  IdVector<CallId, Call> calls;
  std::vector<MemorySample> memory;  // by time
  std::int64_t skipped_python = 0;   // rows that were not kept
  std::vector<std::string> remarks;  // sentences on what is wrong with the file

  const std::string& name(const Event& event) const { return names[event.name]; }
};

}  // namespace strato::trace
