// Two programs, timelines or feedbacks are equal in everything.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>

#include "core/sim/engine/simulate.h"
#include "core/sim/timeline/feedback.h"

namespace strato {

inline bool same_row(auto a, auto b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }

inline void expect_same(const Program& a, const Program& b) {
  ASSERT_EQ(a.tasks.size(), b.tasks.size());
  for (std::size_t i = 0; i < a.tasks.size(); ++i) {
    const Task &s = a.tasks[TaskId(i)], &t = b.tasks[TaskId(i)];
    ASSERT_TRUE(s.kind == t.kind && s.op == t.op && s.tensor == t.tensor && s.device == t.device &&
                s.target == t.target && a.part_of(s) == b.part_of(t) && s.bytes == t.bytes &&
                s.duration == t.duration && s.latency == t.latency && s.priority == t.priority)
        << b.task_name(TaskId(i));
    ASSERT_TRUE(same_row(a.dependencies[i], b.dependencies[i])) << b.task_name(TaskId(i));
    ASSERT_TRUE(same_row(a.resources[i], b.resources[i])) << b.task_name(TaskId(i));
    ASSERT_TRUE(same_row(a.writes[i], b.writes[i])) << b.task_name(TaskId(i));
    ASSERT_TRUE(same_row(a.reads[i], b.reads[i])) << b.task_name(TaskId(i));
  }
  ASSERT_TRUE(std::ranges::equal(a.buffers, b.buffers, [&](const Buffer& s, const Buffer& t) {
    return s.tensor == t.tensor && s.device == t.device && s.bytes == t.bytes &&
           a.parts[s.part] == b.parts[t.part];
  }));
  ASSERT_TRUE(
      std::ranges::equal(a.residents, b.residents, [&](const Resident& s, const Resident& t) {
        return s.tensor == t.tensor && s.device == t.device && s.bytes == t.bytes &&
               a.part_of(s) == b.part_of(t);
      }));
}

inline void expect_same(const Timeline& a, const Timeline& b) {
  ASSERT_EQ(a.step_time, b.step_time);
  ASSERT_EQ(a.feasible, b.feasible);
  ASSERT_TRUE(std::ranges::equal(a.tasks, b.tasks, [](const TaskTimes& s, const TaskTimes& t) {
    return s.ready == t.ready && s.start == t.start && s.end == t.end;
  }));
  ASSERT_TRUE(std::ranges::equal(a.devices, b.devices, [](const DeviceUse& s, const DeviceUse& t) {
    return s.compute_busy == t.compute_busy && s.communication_busy == t.communication_busy &&
           s.resident == t.resident && s.peak == t.peak && s.peak_at == t.peak_at &&
           s.capacity == t.capacity;
  }));
  ASSERT_TRUE(same_row(a.link_busy, b.link_busy));
}

inline void expect_same(const Feedback& a, const Feedback& b) {
  ASSERT_TRUE(std::ranges::equal(a.groups, b.groups, [](const auto& s, const auto& t) {
    return s.makespan == t.makespan && s.idle_before_transfer == t.idle_before_transfer;
  }));
  ASSERT_TRUE(std::ranges::equal(
      a.device_groups, b.device_groups,
      [](const auto& s, const auto& t) { return s.peak == t.peak && s.idle == t.idle; }));
  ASSERT_EQ(a.link_idle, b.link_idle);
}

}  // namespace strato
