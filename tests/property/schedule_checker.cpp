#include "tests/property/schedule_checker.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <tuple>

namespace strato {
namespace {

using nlohmann::json;

DumpedTask parse_task(const json& line) {
  DumpedTask task;
  task.id = line.at("id");
  task.name = line.at("name");
  task.kind = line.at("kind");
  if (!line.at("op").is_null()) task.op = line.at("op");
  task.resources = line.at("resources").get<std::vector<std::string>>();
  task.duration = line.at("duration_ns");
  task.priority = line.at("priority");
  task.dependencies = line.at("deps").get<std::vector<std::int64_t>>();
  task.ready = line.at("ready_ns");
  task.start = line.at("start_ns");
  task.end = line.at("end_ns");
  for (const json& entry : line.at("alloc"))
    task.taken.push_back({entry.at(0), entry.at(1), entry.at(2)});
  for (const json& entry : line.at("free")) task.released.push_back({entry.at(0), entry.at(1), 0});
  return task;
}

class ScheduleChecker {
 public:
  explicit ScheduleChecker(const DumpedSchedule& schedule) : schedule_(schedule) {}

  ScheduleReport run() {
    check_order_and_ids();
    check_times();
    check_resources();
    check_memory();
    check_bounds();
    return std::move(report_);
  }

 private:
  using Key = std::tuple<std::int64_t, std::int64_t, std::int64_t>;
  static Key key(const DumpedTask& task) { return {task.priority, task.ready, task.id}; }

  void problem(const DumpedTask& task, const std::string& what) {
    report_.problems.push_back("task " + std::to_string(task.id) + " (" + task.name + "): " + what);
  }

  void check_order_and_ids() {
    const DumpedTask* before = nullptr;
    for (const DumpedTask& task : schedule_.tasks) {
      if (before && before->start > task.start) problem(task, "lines are not in start order");
      if (!by_id_.emplace(task.id, &task).second) problem(task, "id twice");
      before = &task;
    }
  }

  void check_times() {
    for (const DumpedTask& task : schedule_.tasks) {
      std::int64_t ready = 0;
      for (std::int64_t id : task.dependencies) {
        const auto found = by_id_.find(id);
        if (found == by_id_.end()) {
          problem(task, "unknown dependency");
        } else {
          ready = std::max(ready, found->second->end);
        }
      }
      if (task.ready != ready) problem(task, "is not ready when its last dependency ends");
      if (task.start < task.ready) problem(task, "starts before its dependencies end");
      if (task.duration <= 0) problem(task, "takes no time");
      if (task.end - task.start != task.duration) problem(task, "does not take its duration");
      report_.makespan = std::max(report_.makespan, task.end);
    }
  }

  void check_resources() {
    for (const DumpedTask& task : schedule_.tasks) {
      const std::set<std::string> unique(task.resources.begin(), task.resources.end());
      if (unique.empty() || unique.size() != task.resources.size()) problem(task, "bad resources");
      for (const std::string& resource : unique)
        if (is_exclusive(resource)) users_[resource].push_back(&task);
    }
    for (auto& [resource, users] : users_) check_resource(resource, users);
    for (const DumpedTask& task : schedule_.tasks)
      if (task.start > task.ready && !was_held(task)) problem(task, "waits while it could run");
  }

  bool is_exclusive(const std::string& resource) const {
    return !schedule_.fair_links || resource.ends_with(" compute") || resource.ends_with(" comm");
  }

  // Users are in start order, as the lines are.
  void check_resource(const std::string& resource, const std::vector<const DumpedTask*>& users) {
    std::int64_t busy = 0;
    for (std::size_t i = 0; i < users.size(); ++i) {
      busy += users[i]->duration;
      if (i > 0 && users[i]->start < users[i - 1]->end)
        problem(*users[i], "overlaps on " + resource);
      for (std::size_t later = i + 1; later < users.size(); ++later)
        if (users[later]->ready <= users[i]->start && key(*users[later]) < key(*users[i]))
          problem(*users[i],
                  "overtakes task " + std::to_string(users[later]->id) + " on " + resource);
    }
    report_.lower_bound = std::max(report_.lower_bound, busy);
  }

  // A task that starts late starts at the moment at which a resource of its own is freed.
  bool was_held(const DumpedTask& task) const {
    for (const std::string& resource : task.resources)
      if (is_exclusive(resource))
        for (const DumpedTask* other : users_.at(resource))
          if (other != &task && other->end == task.start) return true;
    return false;
  }

  struct Event {
    std::int64_t time;
    bool take;  // releases come before takes
    const DumpedTask* task;
  };

  void check_memory() {
    std::vector<Event> events;
    for (const DumpedTask& task : schedule_.tasks) {
      events.push_back({task.start, true, &task});
      events.push_back({task.end, false, &task});
    }
    std::stable_sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
      return std::tuple(a.time, a.take, a.task->id) < std::tuple(b.time, b.take, b.task->id);
    });
    used_ = report_.peak = schedule_.resident;
    for (const Event& event : events) event.take ? take(*event.task) : release(*event.task);
    for (const auto& [buffer, bytes] : alive_)
      report_.problems.push_back("never released: " + buffer.first + " on " + buffer.second);
    if (used_ != schedule_.resident)
      report_.problems.push_back("memory does not return to the residents");
  }

  void take(const DumpedTask& task) {
    for (const auto& [tensor, device, bytes] : task.taken) {
      if (bytes <= 0) problem(task, "takes no bytes");
      if (!schedule_.resident.count(device)) problem(task, "takes memory on an unknown device");
      if (!alive_.emplace(std::pair(tensor, device), bytes).second)
        problem(task, "takes " + tensor + " twice");
      used_[device] += bytes;
      report_.peak[device] = std::max(report_.peak[device], used_[device]);
    }
  }

  void release(const DumpedTask& task) {
    for (const auto& [tensor, device, unused] : task.released) {
      const auto found = alive_.find({tensor, device});
      if (found == alive_.end()) {
        problem(task, "releases " + tensor + ", which is not there");
        continue;
      }
      used_[device] -= found->second;
      if (used_[device] < schedule_.resident.at(device))
        problem(task, "memory falls below the residents");
      alive_.erase(found);
    }
  }

  void check_bounds() {
    std::map<std::int64_t, std::int64_t>
        longest;  // by id, in start order: dependencies come before
    for (const DumpedTask& task : schedule_.tasks) {
      std::int64_t before = 0;
      for (std::int64_t id : task.dependencies) before = std::max(before, longest[id]);
      longest[task.id] = before + task.duration;
      report_.lower_bound = std::max(report_.lower_bound, before + task.duration);
    }
    if (report_.makespan < report_.lower_bound)
      report_.problems.push_back("faster than the lower bound");
  }

  const DumpedSchedule& schedule_;
  ScheduleReport report_;
  std::map<std::int64_t, const DumpedTask*> by_id_;
  std::map<std::string, std::vector<const DumpedTask*>> users_;
  std::map<std::pair<std::string, std::string>, std::int64_t> alive_;
  std::map<std::string, std::int64_t> used_;
};

}  // namespace

DumpedSchedule parse_schedule(std::string_view dump) {
  DumpedSchedule schedule;
  std::istringstream lines{std::string(dump)};
  std::string line;
  std::getline(lines, line);
  const json first = json::parse(line);
  schedule.resident = first.at("resident").get<std::map<std::string, std::int64_t>>();
  schedule.fair_links = first.value("fair_links", false);
  while (std::getline(lines, line)) schedule.tasks.push_back(parse_task(json::parse(line)));
  return schedule;
}

ScheduleReport check_schedule(const DumpedSchedule& schedule) {
  return ScheduleChecker(schedule).run();
}

}  // namespace strato
