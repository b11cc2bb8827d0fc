#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <numeric>
#include <optional>

#include "core/base/error.h"
#include "core/base/quantity_text.h"
#include "core/strategy/value/strategy.h"

namespace strato {
namespace {

std::string describe_devices(const Decision& decision, const Cluster& cluster) {
  const bool equal = has_equal_weights(decision.devices);
  const std::size_t count = decision.devices.size();
  if (equal && count > 1 && count == cluster.device_count())
    return fmt::format("all {} devices", count);
  std::vector<std::string> parts;
  const auto add = [&](const std::string& name, std::int32_t weight) {
    parts.push_back(equal ? name : fmt::format("{} x{}", name, weight));
  };
  for (const DeviceGroup& group : cluster.groups()) {
    std::vector<DeviceShare> shares;
    std::ranges::copy_if(decision.devices, std::back_inserter(shares),
                         [&](const DeviceShare& share) {
                           return std::ranges::binary_search(group.devices, share.device);
                         });
    if (shares.size() > 1 && shares.size() == group.devices.size() && has_equal_weights(shares))
      add(group.name, shares.front().weight);
    else
      for (const DeviceShare& share : shares) add(cluster.device(share.device).name, share.weight);
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string describe_bucket(Bytes bucket) {
  return bucket > Bytes(0) ? "up to " + bytes_text(bucket) : "none";
}

std::string with_commas(std::size_t count) {
  std::string text = fmt::to_string(count);
  for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3)
    text.insert(static_cast<std::size_t>(at), ",");
  return text;
}

// Ops of the most frequent priority are those that nothing was said about, if there are several.
std::string describe_order(std::vector<std::int32_t> priorities) {
  std::ranges::sort(priorities);
  std::size_t alike = 0, run = 0;
  for (std::size_t i = 0; i < priorities.size(); ++i) {
    run = i > 0 && priorities[i] == priorities[i - 1] ? run + 1 : 1;
    alike = std::max(alike, run);
  }
  const std::size_t ordered = priorities.size() - (alike > 1 ? alike : 0);
  if (ordered == 0) return "first in first out";
  return fmt::format("{} op{} ordered", with_commas(ordered), ordered == 1 ? "" : "s");
}

// Counts the priorities in which two orders differ; 0 when one has none.
std::size_t changed_priorities(std::span<const std::int32_t> before,
                               std::span<const std::int32_t> after) {
  const std::size_t both = std::min(before.size(), after.size());
  return std::inner_product(before.begin(), before.begin() + static_cast<std::ptrdiff_t>(both),
                            after.begin(), std::size_t{0}, std::plus(), std::not_equal_to());
}

// Adds how many ops are in one list only where the counts do not say how much differs.
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

// Also how many entries are in one list only, or differ. Both lists ascend by `key`.
template <class Entry, class Key>
std::string describe_entries(const char* what, const std::vector<Entry>& before,
                             const std::vector<Entry>& after, Key key) {
  std::size_t changed = 0;
  auto a = before.begin(), b = after.begin();
  while (a != before.end() || b != after.end()) {
    const bool only_before = b == after.end() || (a != before.end() && (*a).*key < (*b).*key);
    const bool only_after = a == before.end() || (b != after.end() && (*b).*key < (*a).*key);
    changed += only_before || only_after || *a != *b;
    if (!only_after) ++a;
    if (!only_before) ++b;
  }
  return fmt::format("{}: {} -> {} ({} changed)", what, with_commas(before.size()),
                     with_commas(after.size()), with_commas(changed));
}

// Ops of one group whose decision changed alike.
struct Change {
  const std::optional<Decision>*before, *after;
  std::size_t ops = 0;
};

void add(std::vector<Change>& changes, const std::optional<Decision>& before,
         const std::optional<Decision>& after) {
  if (before == after) return;
  const auto known = std::ranges::find_if(changes, [&](const Change& change) {
    return *change.before == before && *change.after == after;
  });
  if (known == changes.end())
    changes.push_back({&before, &after, 1});
  else
    ++known->ops;
}

// "conv4 (12 ops): AllReduce on v100 -> on v100:0"; of a part of the group "conv4 (5 of 12 ops)".
std::string describe(const Change& change, const OpGroup& group, const Cluster& cluster) {
  const auto text = [&](const std::optional<Decision>& decision) {
    return decision ? describe(*decision, cluster) : std::string("undecided");
  };
  const std::size_t all = group.ops.size();
  return fmt::format("{} ({}{} op{}): {} -> {}", group.name,
                     change.ops < all ? fmt::format("{} of ", change.ops) : "", all,
                     all == 1 ? "" : "s", text(*change.before), text(*change.after));
}

const Grouping& grouping_of(const Strategy& strategy, const Grouping& problems) {
  return strategy.grouping ? *strategy.grouping : problems;
}

}  // namespace

std::string describe(const Decision& decision, const Cluster& cluster) {
  const std::string devices = describe_devices(decision, cluster);
  if (decision.devices.size() == 1) return "on " + devices;  // every mode is the same there
  return fmt::format("{} on {}", label_of(decision.mode), devices);
}

std::vector<std::string> describe_difference(const Strategy& before, const Strategy& after,
                                             const Grouping& grouping, const Cluster& cluster) {
  const Grouping& of_before = grouping_of(before, grouping);
  const Grouping& of_after = grouping_of(after, grouping);
  CHECK(before.groups.size() == of_before.size() && after.groups.size() == of_after.size(),
        "strategies have the decisions of their groups");
  // The names of the larger groups, each with what its ops are told in the smaller ones.
  const bool after_is_finer = of_after.size() >= of_before.size();
  const Grouping& named = after_is_finer ? of_before : of_after;
  const Grouping& finer = after_is_finer ? of_after : of_before;
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < named.size(); ++i) {
    std::vector<Change> changes;
    for (const OpId op : named.group(GroupId(i)).ops)
      add(changes, before.groups[of_before.group_of(op)], after.groups[of_after.group_of(op)]);
    for (const Change& change : changes)
      lines.push_back(describe(change, named.group(GroupId(i)), cluster));
  }
  if (named.digest() != finer.digest())
    lines.push_back(fmt::format("op groups: {} -> {}", with_commas(of_before.size()),
                                with_commas(of_after.size())));
  if (before.bucket != after.bucket)
    lines.push_back(fmt::format("gradient buckets: {} -> {}", describe_bucket(before.bucket),
                                describe_bucket(after.bucket)));
  if (before.duplicated != after.duplicated)
    lines.push_back(describe_duplicated(before.duplicated, after.duplicated));
  if (before.splits != after.splits)
    lines.push_back(describe_entries("ops split", before.splits, after.splits, &OpSplit::op));
  if (before.variables != after.variables)
    lines.push_back(describe_entries("variables synchronised on their own", before.variables,
                                     after.variables, &VariableSync::update));
  if (before.priorities != after.priorities) {
    lines.push_back(fmt::format("execution order: {} -> {}", describe_order(before.priorities),
                                describe_order(after.priorities)));
    const std::size_t changed = changed_priorities(before.priorities, after.priorities);
    if (changed > 0) lines.back() += fmt::format(" ({} changed)", with_commas(changed));
  }
  return lines;
}

}  // namespace strato
