// Limits on how many devices groups use together, against every way to give each group a device.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "core/search/constraints/constraint_rules.h"

namespace strato {
namespace {

constexpr std::size_t kPatience = 200'000'000;

bool keep_limits(std::span<const DeviceLimit> limits, std::span<const DeviceId> preference,
                 std::vector<ConstraintRule>& rules) {
  const auto found = find_limit_devices(limits, preference, rules, kPatience).devices;
  if (found) keep_to(*found, limits, rules);
  return found.has_value();
}

struct LimitCase {
  std::size_t devices;
  std::vector<DeviceLimit> limits;
  std::vector<ConstraintRule> rules;

  std::vector<DeviceId> in_order() const {
    std::vector<DeviceId> order;
    for (std::size_t d = 0; d < devices; ++d) order.emplace_back(d);
    return order;
  }
};

bool within(const LimitCase& of, const std::vector<std::set<std::size_t>>& used) {
  return std::ranges::all_of(of.limits, [&](const DeviceLimit& limit) {
    std::set<std::size_t> together;
    for (const std::size_t r : limit.rules) together.insert(used[r].begin(), used[r].end());
    return together.size() <= limit.most;
  });
}

// Whether some choice of one device for each rule that is not pinned keeps all limits.
bool can_be_kept(const LimitCase& of, std::size_t rule, std::vector<std::set<std::size_t>>& used) {
  if (rule == of.rules.size()) return within(of, used);
  const ConstraintRule& own = of.rules[rule];
  if (own.pinned) {
    used[rule].clear();
    for (const DeviceShare& share : own.pinned->devices) used[rule].insert(share.device.index());
    return can_be_kept(of, rule + 1, used);
  }
  for (std::size_t d = 0; d < of.devices; ++d) {
    if (!own.allowed[DeviceId(d)]) continue;
    used[rule] = {d};
    if (can_be_kept(of, rule + 1, used)) return true;
  }
  return false;
}

LimitCase random_case(std::mt19937& random) {
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  LimitCase made{2 + below(3), {}, {}};
  const std::size_t rules = 1 + below(5), limits = 1 + below(3);
  for (std::size_t r = 0; r < rules; ++r) {
    ConstraintRule rule;
    rule.allowed = DeviceMask(made.devices, 0);
    for (std::size_t d = 0; d < made.devices; ++d) rule.allowed[DeviceId(d)] = random() % 2 == 0;
    rule.allowed[DeviceId(below(made.devices))] = 1;
    if (below(5) == 0) {
      rule.pinned = Decision{Mode::ReplicatePs, {}};
      for (std::size_t d = 0; d < made.devices; ++d)
        if (rule.allowed[DeviceId(d)]) rule.pinned->devices.push_back({DeviceId(d), 1});
    }
    made.rules.push_back(std::move(rule));
  }
  for (std::size_t l = 0; l < limits; ++l) {
    DeviceLimit limit{1 + below(3), {}};
    for (std::size_t r = 0; r < rules; ++r)
      if (random() % 2 == 0) limit.rules.push_back(r);
    made.limits.push_back(std::move(limit));
  }
  return made;
}

TEST(DeviceLimits, AreKeptWheneverTheyCanBe) {
  std::mt19937 random(7);
  int kept = 0, refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    SCOPED_TRACE(i);
    LimitCase made = random_case(random);
    const LimitCase before = made;
    std::vector<std::set<std::size_t>> used(made.rules.size());
    const bool can = can_be_kept(made, 0, used);
    std::vector<DeviceId> preference = made.in_order();
    std::ranges::shuffle(preference, random);
    ASSERT_EQ(keep_limits(made.limits, preference, made.rules), can);
    (can ? kept : refused) += 1;
    ASSERT_FALSE(find_limit_devices(before.limits, preference, before.rules, kPatience).gave_up);
    if (!can) continue;
    // Whatever the groups use of what is left: all limits are kept, and everybody has something.
    for (std::size_t r = 0; r < made.rules.size(); ++r) {
      used[r].clear();
      for (std::size_t d = 0; d < made.devices; ++d) {
        if (!made.rules[r].allowed[DeviceId(d)]) continue;
        used[r].insert(d);
        ASSERT_TRUE(before.rules[r].allowed[DeviceId(d)]);
      }
      ASSERT_FALSE(used[r].empty());
      if (made.rules[r].pinned) {
        ASSERT_EQ(used[r].size(), made.rules[r].pinned->devices.size());
      }
    }
    ASSERT_TRUE(within(made, used));
  }
  EXPECT_GT(kept, 1000);
  EXPECT_GT(refused, 1000);
}

// The first of a limit's preferred devices are of no use to the other limit.
TEST(DeviceLimits, OverlapAndDoNotContradict) {
  LimitCase made{4, {{2, {0, 1}}, {1, {1, 2}}}, {}};
  const std::vector<std::vector<std::size_t>> allowed = {{0}, {0, 1, 2, 3}, {3}};
  for (const std::vector<std::size_t>& devices : allowed) {
    ConstraintRule rule;
    rule.allowed = DeviceMask(4, 0);
    for (const std::size_t d : devices) rule.allowed[DeviceId(d)] = 1;
    made.rules.push_back(std::move(rule));
  }
  ASSERT_TRUE(keep_limits(made.limits, made.in_order(), made.rules));
  EXPECT_TRUE(made.rules[1].allowed[DeviceId(3)]);
  EXPECT_EQ(std::ranges::count(made.rules[1].allowed, 1), 1);
}

// What is preferred stays where nothing speaks against it.
TEST(DeviceLimits, PreferredDevicesStay) {
  LimitCase made{4, {{2, {0, 1}}}, {}};
  for (int i = 0; i < 2; ++i) {
    ConstraintRule rule;
    rule.allowed = DeviceMask(4, 1);
    made.rules.push_back(std::move(rule));
  }
  const std::vector<DeviceId> preference = {DeviceId(2), DeviceId(0), DeviceId(1), DeviceId(3)};
  ASSERT_TRUE(keep_limits(made.limits, preference, made.rules));
  for (const ConstraintRule& rule : made.rules) {
    EXPECT_TRUE(rule.allowed[DeviceId(2)] && rule.allowed[DeviceId(0)]);
    EXPECT_EQ(std::ranges::count(rule.allowed, 1), 2);
  }
}

// Every rule has three devices, of which the first ones together serve all: who begins with the
// others comes to dead ends again and again, and gives up.
TEST(DeviceLimits, GiveUpWhenTheirPatienceIsOver) {
  constexpr std::size_t kServing = 14, kDevices = 42;
  std::mt19937 random(3);
  LimitCase made{kDevices, {{kServing, {}}}, {}};
  for (std::size_t r = 0; r < 60; ++r) {
    ConstraintRule rule;
    rule.allowed = DeviceMask(kDevices, 0);
    rule.allowed[DeviceId(r % kServing)] = 1;
    for (int i = 0; i < 2; ++i)
      rule.allowed[DeviceId(kServing + random() % (kDevices - kServing))] = 1;
    made.rules.push_back(std::move(rule));
    made.limits[0].rules.push_back(r);
  }
  std::vector<DeviceId> backwards = made.in_order();
  std::ranges::reverse(backwards);
  const auto vain = find_limit_devices(made.limits, backwards, made.rules, 2'000'000);
  EXPECT_FALSE(vain.devices);
  EXPECT_TRUE(vain.gave_up);
  const auto found =
      find_limit_devices(made.limits, made.in_order(), made.rules, kPatience).devices;
  ASSERT_TRUE(found);
  keep_to(*found, made.limits, made.rules);
  for (const ConstraintRule& rule : made.rules) EXPECT_GT(std::ranges::count(rule.allowed, 1), 0);
}

// Many groups and devices: an answer soon, whichever it is.
TEST(DeviceLimits, ManyGroupsTakeNoTime) {
  std::mt19937 random(11);
  for (int i = 0; i < 5; ++i) {
    LimitCase made{128, {}, {}};
    for (int r = 0; r < 200; ++r) {
      ConstraintRule rule;
      rule.allowed = DeviceMask(128, 0);
      for (int d = 0; d < 16; ++d) rule.allowed[DeviceId(random() % 128)] = 1;
      made.rules.push_back(std::move(rule));
    }
    for (int l = 0; l < 8; ++l) {
      DeviceLimit limit{static_cast<std::size_t>(1 + random() % 24), {}};
      for (std::size_t r = 0; r < 200; ++r)
        if (random() % 4 == 0) limit.rules.push_back(r);
      made.limits.push_back(std::move(limit));
    }
    keep_limits(made.limits, made.in_order(), made.rules);
  }
}

}  // namespace
}  // namespace strato
