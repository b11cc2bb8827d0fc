// Which devices are left to groups that may use only so many of them together.
#include <algorithm>

#include "core/search/constraint_rules.h"

namespace strato {
namespace {

// Depth first: for one limit after another a set of devices that leaves every group one.
class LimitKeeper {
 public:
  LimitKeeper(std::span<const DeviceLimit> limits, std::span<const DeviceId> preference,
              std::vector<ConstraintRule>& rules)
      : limits_(limits), preference_(preference), rules_(rules) {}

  bool keep(std::size_t number) {
    if (number == limits_.size()) return true;
    DeviceMask chosen(preference_.size(), 0);
    std::size_t count = 0;
    for (const std::size_t rule : limits_[number].rules) {
      if (!rules_[rule].pinned) continue;
      for (const DeviceShare& share : rules_[rule].pinned->devices)
        if (!std::exchange(chosen[share.device], 1)) ++count;
    }
    return count <= limits_[number].most && choose(number, chosen, count);
  }

 private:
  static constexpr int kPatience = 20'000;  // choices

  const ConstraintRule* without_device(const DeviceLimit& limit, const DeviceMask& chosen) const {
    const ConstraintRule* neediest = nullptr;
    std::ptrdiff_t fewest = 0;
    for (const std::size_t r : limit.rules) {
      const ConstraintRule& rule = rules_[r];
      bool served = rule.pinned.has_value();
      for (std::size_t d = 0; d < chosen.size() && !served; ++d)
        served = chosen[DeviceId(d)] && rule.allowed[DeviceId(d)];
      if (served) continue;
      const std::ptrdiff_t count = std::ranges::count(rule.allowed, 1);
      if (neediest == nullptr || count < fewest) neediest = &rule, fewest = count;
    }
    return neediest;
  }

  bool choose(std::size_t number, DeviceMask& chosen, std::size_t count) {
    const DeviceLimit& limit = limits_[number];
    if (++tried_ > kPatience) return false;
    const ConstraintRule* needy = without_device(limit, chosen);
    if (needy == nullptr) return fill_and_go_on(number, chosen, count);
    if (count == limit.most) return false;
    const DeviceMask allowed = needy->allowed;
    for (const DeviceId device : preference_) {
      if (!allowed[device]) continue;
      chosen[device] = 1;
      if (choose(number, chosen, count + 1)) return true;
      chosen[device] = 0;
    }
    return false;
  }

  bool fill_and_go_on(std::size_t number, DeviceMask chosen, std::size_t count) {
    const DeviceLimit& limit = limits_[number];
    for (const DeviceId device : preference_) {
      if (count == limit.most) break;
      const bool useful = std::ranges::any_of(
          limit.rules, [&](std::size_t r) { return rules_[r].allowed[device] != 0; });
      if (useful && !std::exchange(chosen[device], 1)) ++count;
    }
    std::vector<DeviceMask> before;
    for (const std::size_t r : limit.rules) {
      before.push_back(rules_[r].allowed);
      for (std::size_t d = 0; d < chosen.size(); ++d)
        if (!chosen[DeviceId(d)]) rules_[r].allowed[DeviceId(d)] = 0;
    }
    if (keep(number + 1)) return true;
    for (std::size_t i = 0; i < before.size(); ++i)
      rules_[limit.rules[i]].allowed = std::move(before[i]);
    return false;
  }

  std::span<const DeviceLimit> limits_;
  std::span<const DeviceId> preference_;
  std::vector<ConstraintRule>& rules_;
  int tried_ = 0;
};

}  // namespace

bool keep_limits(std::span<const DeviceLimit> limits, std::span<const DeviceId> preference,
                 std::vector<ConstraintRule>& rules) {
  return LimitKeeper(limits, preference, rules).keep(0);
}

}  // namespace strato
