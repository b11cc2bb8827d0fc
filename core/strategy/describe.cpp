#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "core/base/error.h"
#include "core/base/quantity_text.h"
#include "core/strategy/strategy.h"

namespace strato {
namespace {

bool has_equal_shares(const Decision& decision) {
  return std::all_of(
      decision.devices.begin(), decision.devices.end(),
      [&](const DeviceShare& share) { return share.weight == decision.devices.front().weight; });
}

// Shares of one device group, in words; `shares` is not empty.
std::vector<std::string> describe_group(const DeviceGroup& group,
                                        std::span<const DeviceShare> shares, bool show_weights,
                                        const Cluster& cluster) {
  const auto text = [&](const std::string& name, std::int32_t weight) {
    return show_weights ? fmt::format("{} x{}", name, weight) : name;
  };
  const bool alike = std::all_of(shares.begin(), shares.end(), [&](const DeviceShare& share) {
    return share.weight == shares.front().weight;
  });
  if (alike && shares.size() > 1 && shares.size() == group.devices.size()) {
    return {text(group.name, shares.front().weight)};
  }
  std::vector<std::string> names;
  for (const DeviceShare& share : shares) {
    names.push_back(text(cluster.device(share.device).name, share.weight));
  }
  return names;
}

std::string describe_devices(const Decision& decision, const Cluster& cluster) {
  const bool equal = has_equal_shares(decision);
  const std::size_t count = decision.devices.size();
  if (equal && count > 1 && count == cluster.device_count()) {
    return fmt::format("all {} devices", count);
  }
  std::vector<std::string> parts;
  for (const DeviceGroup& group : cluster.groups()) {
    std::vector<DeviceShare> shares;
    for (const DeviceShare& share : decision.devices) {
      if (std::binary_search(group.devices.begin(), group.devices.end(), share.device)) {
        shares.push_back(share);
      }
    }
    if (shares.empty()) continue;
    for (std::string& part : describe_group(group, shares, !equal, cluster)) {
      parts.push_back(std::move(part));
    }
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string describe_bucket(Bytes bucket) {
  return bucket > Bytes(0) ? "up to " + bytes_text(bucket) : "none";
}

std::string with_commas(std::size_t count) {
  std::string text = std::to_string(count);
  for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3)
    text.insert(static_cast<std::size_t>(at), ",");
  return text;
}

// Ops of the most frequent priority are those that nothing was said about, if there are several.
std::string describe_order(std::vector<std::int32_t> priorities) {
  std::sort(priorities.begin(), priorities.end());
  std::size_t alike = 0, run = 0;
  for (std::size_t i = 0; i < priorities.size(); ++i) {
    run = i > 0 && priorities[i] == priorities[i - 1] ? run + 1 : 1;
    alike = std::max(alike, run);
  }
  const std::size_t ordered = priorities.size() - (alike > 1 ? alike : 0);
  if (ordered == 0) return "first in first out";
  return fmt::format("{} op{} ordered", with_commas(ordered), ordered == 1 ? "" : "s");
}

// Of two orders; 0 when one has none.
std::size_t changed_priorities(std::span<const std::int32_t> before,
                               std::span<const std::int32_t> after) {
  std::size_t changed = 0;
  for (std::size_t i = 0; i < std::min(before.size(), after.size()); ++i)
    changed += before[i] != after[i];
  return changed;
}

// Where the counts do not say how much differs, how many ops are in one list only.
std::string describe_duplicated(std::span<const OpId> before, std::span<const OpId> after) {
  std::vector<OpId> changed;
  std::set_symmetric_difference(before.begin(), before.end(), after.begin(), after.end(),
                                std::back_inserter(changed));
  const std::size_t more = std::max(before.size(), after.size());
  const std::string text = fmt::format("ops duplicated: {} -> {}", with_commas(before.size()),
                                       with_commas(after.size()));
  if (changed.size() == 2 * more - before.size() - after.size()) return text;
  return fmt::format("{} ({} changed)", text, with_commas(changed.size()));
}

}  // namespace

std::string describe(const Decision& decision, const Cluster& cluster) {
  const std::string devices = describe_devices(decision, cluster);
  if (decision.devices.size() == 1) return "on " + devices;  // every mode is the same there
  return fmt::format("{} on {}", label_of(decision.mode), devices);
}

std::vector<std::string> describe_difference(const Strategy& before, const Strategy& after,
                                             const Grouping& grouping, const Cluster& cluster) {
  CHECK(before.groups.size() == grouping.size() && after.groups.size() == grouping.size(),
        "strategies of one grouping are compared");
  const auto text = [&](const std::optional<Decision>& decision) {
    return decision ? describe(*decision, cluster) : std::string("undecided");
  };
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < grouping.size(); ++i) {
    const GroupId id(i);
    if (before.groups[id] == after.groups[id]) continue;
    const OpGroup& group = grouping.group(id);
    lines.push_back(fmt::format("{} ({} op{}): {} -> {}", group.name, group.ops.size(),
                                group.ops.size() == 1 ? "" : "s", text(before.groups[id]),
                                text(after.groups[id])));
  }
  if (before.bucket != after.bucket) {
    lines.push_back(fmt::format("gradient buckets: {} -> {}", describe_bucket(before.bucket),
                                describe_bucket(after.bucket)));
  }
  if (before.duplicated != after.duplicated)
    lines.push_back(describe_duplicated(before.duplicated, after.duplicated));
  if (before.priorities != after.priorities) {
    lines.push_back(fmt::format("execution order: {} -> {}", describe_order(before.priorities),
                                describe_order(after.priorities)));
    const std::size_t changed = changed_priorities(before.priorities, after.priorities);
    if (changed > 0) lines.back() += fmt::format(" ({} changed)", with_commas(changed));
  }
  return lines;
}

}  // namespace strato
