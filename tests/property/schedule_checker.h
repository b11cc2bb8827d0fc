// An independent judge of a dumped schedule: reads nothing but the text of --dump-tasks, and knows
// nothing of the simulator's code. Each rule is checked in the plainest way that states it, however
// slow.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace strato {

struct DumpedTask {
  std::int64_t id = 0, duration = 0, priority = 0, ready = 0, start = 0, end = 0;
  std::string name, kind, op;
  std::vector<std::string> resources;
  std::vector<std::int64_t> dependencies;
  struct Bytes {
    std::string tensor, device;
    std::int64_t bytes = 0;
  };
  std::vector<Bytes> taken, released;  // released: bytes unknown
};

struct DumpedSchedule {
  std::map<std::string, std::int64_t> resident;  // by device
  std::vector<DumpedTask> tasks;                 // in the order of the lines
  bool fair_links = false;  // several tasks at a time on a link; streams are still exclusive
};

struct ScheduleReport {
  std::vector<std::string> problems;  // empty: the schedule is right
  std::int64_t makespan = 0;
  std::int64_t lower_bound = 0;              // the busiest resource, or the longest path
  std::map<std::string, std::int64_t> peak;  // by device
};

DumpedSchedule parse_schedule(std::string_view dump);  // throws on text that is not a dump
ScheduleReport check_schedule(const DumpedSchedule& schedule);

}  // namespace strato
