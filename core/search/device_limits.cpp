// Which devices are left to groups that may use only so many of them together.
#include <algorithm>
#include <utility>

#include "core/search/constraint_rules.h"

namespace strato {
namespace {

// Finds for every rule a device that counts in all of its limits, depth first: those with the fewest
// choices first, and what is counted already where that serves. Then fills up what limits leave.
// Complete but for its patience: limits that overlap are looked at together.
class LimitKeeper {
 public:
  LimitKeeper(std::span<const DeviceLimit> limits, std::span<const DeviceId> preference,
              std::vector<ConstraintRule>& rules)
      : limits_(limits), preference_(preference), rules_(rules), limits_of_(rules.size()) {
    for (std::size_t l = 0; l < limits.size(); ++l) {
      chosen_.emplace_back(preference.size(), 0);
      counts_.push_back(0);
      for (const std::size_t rule : limits[l].rules) limits_of_[rule].push_back(l);
    }
  }

  bool keep() {
    if (!count_pinned() || !serve_all()) return false;
    for (std::size_t l = 0; l < limits_.size(); ++l) fill(l);
    return true;
  }

 private:
  static constexpr std::size_t kPatience = 20'000'000;  // looks at a device for a rule

  bool count_pinned() {
    for (std::size_t r = 0; r < rules_.size(); ++r) {
      if (!rules_[r].pinned) continue;
      for (const DeviceShare& share : rules_[r].pinned->devices) count(r, share.device);
    }
    for (std::size_t l = 0; l < limits_.size(); ++l)
      if (counts_[l] > limits_[l].most) return false;
    return true;
  }

  // In all limits of the rule; returns those where it did not count before.
  std::vector<std::size_t> count(std::size_t rule, DeviceId device) {
    std::vector<std::size_t> fresh;
    for (const std::size_t l : limits_of_[rule]) {
      if (std::exchange(chosen_[l][device], 1)) continue;
      ++counts_[l];
      fresh.push_back(l);
    }
    return fresh;
  }

  void take_back(const std::vector<std::size_t>& limits, DeviceId device) {
    for (const std::size_t l : limits) {
      chosen_[l][device] = 0;
      --counts_[l];
    }
  }

  bool is_served(std::size_t rule) const {
    if (rules_[rule].pinned || limits_of_[rule].empty()) return true;
    return std::ranges::any_of(preference_, [&](DeviceId device) {
      return rules_[rule].allowed[device] != 0 &&
             std::ranges::all_of(limits_of_[rule],
                                 [&](std::size_t l) { return chosen_[l][device] != 0; });
    });
  }

  std::vector<DeviceId> choices_of(std::size_t rule) const {
    std::vector<DeviceId> choices;
    for (const DeviceId device : preference_) {
      if (!rules_[rule].allowed[device]) continue;
      const bool has_room = std::ranges::all_of(limits_of_[rule], [&](std::size_t l) {
        return chosen_[l][device] != 0 || counts_[l] < limits_[l].most;
      });
      if (has_room) choices.push_back(device);
    }
    return choices;
  }

  bool serve_all() {
    tried_ += rules_.size() * preference_.size();
    if (tried_ > kPatience) return false;
    std::size_t neediest = rules_.size();
    std::vector<DeviceId> choices;
    for (std::size_t r = 0; r < rules_.size(); ++r) {
      if (is_served(r)) continue;
      std::vector<DeviceId> own = choices_of(r);
      if (neediest != rules_.size() && own.size() >= choices.size()) continue;
      neediest = r;
      choices = std::move(own);
    }
    if (neediest == rules_.size()) return true;
    for (const DeviceId device : choices) {
      const std::vector<std::size_t> fresh = count(neediest, device);
      if (serve_all()) return true;
      take_back(fresh, device);
    }
    return false;
  }

  // As many devices as the limit lets, and no others: every rule keeps what serves it.
  void fill(std::size_t number) {
    const DeviceLimit& limit = limits_[number];
    DeviceMask& chosen = chosen_[number];
    for (const DeviceId device : preference_) {
      if (counts_[number] == limit.most) break;
      const bool useful = std::ranges::any_of(
          limit.rules, [&](std::size_t r) { return rules_[r].allowed[device] != 0; });
      if (useful && !std::exchange(chosen[device], 1)) ++counts_[number];
    }
    for (const std::size_t r : limit.rules)
      for (std::size_t d = 0; d < chosen.size(); ++d)
        if (!chosen[DeviceId(d)]) rules_[r].allowed[DeviceId(d)] = 0;
  }

  std::span<const DeviceLimit> limits_;
  std::span<const DeviceId> preference_;
  std::vector<ConstraintRule>& rules_;
  std::vector<std::vector<std::size_t>> limits_of_;  // by rule
  std::vector<DeviceMask> chosen_;                   // by limit
  std::vector<std::size_t> counts_;                  // by limit: devices in `chosen_`
  std::size_t tried_ = 0;
};

}  // namespace

bool keep_limits(std::span<const DeviceLimit> limits, std::span<const DeviceId> preference,
                 std::vector<ConstraintRule>& rules) {
  return LimitKeeper(limits, preference, rules).keep();
}

}  // namespace strato
