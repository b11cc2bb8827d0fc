#include "app/cli/decision_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include "app/cli/suggest.h"
#include "core/base/error.h"
#include "core/base/number_from.h"

namespace strato::cli {
namespace {

constexpr std::int32_t kMostWeight = 1'000'000;
constexpr std::size_t kNamed = 12;  // names that an error lists at most

struct Share {
  std::vector<DeviceId> devices;
  std::int32_t weight = 1;
};

std::optional<Mode> mode_of(std::string_view word) {
  if (word == "allreduce") return Mode::ReplicateAllReduce;
  if (word == "ps") return Mode::ReplicatePs;
  return mode_from(word);
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& names) {
  const std::string near = nearest(word, names);
  return near.empty() ? "" : fmt::format("did you mean {}? ", near);
}

std::string listed(std::vector<std::string> names) {
  const std::size_t count = names.size();
  if (count > kNamed) names.resize(kNamed);
  return fmt::format("{}{}", fmt::join(names, ", "),
                     count > kNamed ? fmt::format(", ... ({} in all)", count) : "");
}

[[noreturn]] void fail_unknown(std::string_view name, const Cluster& cluster) {
  std::vector<std::string> groups, names;
  for (const DeviceGroup& group : cluster.groups()) groups.push_back(group.name);
  names = groups;
  for (std::size_t i = 0; i < cluster.device_count(); ++i)
    names.push_back(cluster.device(DeviceId(i)).name);
  throw InputError("", std::string(name),
                   fmt::format("{} has no device or device group of this name", cluster.name()),
                   fmt::format("{}its device groups: {}; a device: {}", did_you_mean(name, names),
                               listed(groups), cluster.device(DeviceId(0)).name));
}

// "v100x3": names may end in an x and digits themselves, so the whole is tried first.
Share parse_share(std::string_view text, const Cluster& cluster) {
  Share share{cluster.devices_named(text), 1};
  if (!share.devices.empty()) return share;
  const std::size_t cross = text.rfind('x');
  if (cross == std::string_view::npos) fail_unknown(text, cluster);
  std::string_view name = text.substr(0, cross);
  while (name.ends_with(' ')) name.remove_suffix(1);
  const std::string_view digits = text.substr(cross + 1);
  const auto weight = number_from<std::int32_t>(digits, 1, kMostWeight);
  share.devices = cluster.devices_named(name);
  if (share.devices.empty()) fail_unknown(text, cluster);
  if (!weight)
    throw InputError("", std::string(text), fmt::format("\"x{}\" is not a share", digits),
                     fmt::format("write a whole number from 1 to {} behind the x", kMostWeight));
  share.weight = *weight;
  return share;
}

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t comma = text.find(',');
    std::string_view part = text.substr(0, comma);
    while (part.starts_with(' ')) part.remove_prefix(1);
    while (part.ends_with(' ')) part.remove_suffix(1);
    parts.push_back(part);
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

void add(Decision& decision, const Share& share, std::string_view text, const Cluster& cluster) {
  for (const DeviceId device : share.devices) {
    const auto same = [&](const DeviceShare& other) { return other.device == device; };
    if (std::ranges::any_of(decision.devices, same)) {
      throw InputError("", std::string(text),
                       fmt::format("{} is named twice", cluster.device(device).name),
                       "name each device once");
    }
    decision.devices.push_back({device, share.weight});
  }
}

// From the front, with the colon behind it. `text`: all of it.
Mode take_mode(std::string_view& decision, std::string_view text) {
  const std::size_t colon = decision.find(':');
  const std::string_view word = decision.substr(0, colon);
  decision = colon == std::string_view::npos ? "" : decision.substr(colon + 1);
  if (const auto mode = mode_of(word)) return *mode;
  throw InputError("", std::string(text), fmt::format("there is no mode \"{}\"", word),
                   "write allreduce:DEVICES, ps:DEVICES, duplicate:DEVICES, "
                   "model-parallel:DEVICES or tensor:4:DEVICES");
}

// 2 : 4 is 1 : 2, so that equal decisions are the same.
void reduce_shares(Decision& decision) {
  std::int32_t divisor = 0;
  for (const DeviceShare& share : decision.devices) divisor = std::gcd(divisor, share.weight);
  for (DeviceShare& share : decision.devices) share.weight /= divisor;
}

}  // namespace

Decision parse_decision(std::string_view text, const Cluster& cluster) {
  Decision decision;
  std::string_view devices = text;
  if (const auto roles = take_roles(devices, std::string(text)))
    decision.roles = *roles;
  else
    decision.mode = take_mode(devices, text);
  if (devices.empty())
    throw InputError("", std::string(text), "names no device",
                     fmt::format("write {}:all, or devices and device groups with commas",
                                 text.substr(0, text.find_last_not_of(':') + 1)));
  for (const std::string_view part : split(devices))
    add(decision, parse_share(part, cluster), text, cluster);
  const bool replicates = splits_batch(decision.mode);
  const auto uneven = [](const DeviceShare& share) { return share.weight != 1; };
  if (!replicates && std::ranges::any_of(decision.devices, uneven)) {
    throw InputError("", std::string(text), "shares of the batch mean nothing in this mode",
                     "leave out the x and the number behind it");
  }
  std::ranges::sort(decision.devices);
  reduce_shares(decision);
  check_rows(decision, std::string(text));
  return decision;
}

GroupId find_op_group(std::string_view name, const Grouping& grouping) {
  if (const GroupId id = grouping.find(name); id.valid()) return id;
  std::vector<std::string> names;
  for (const OpGroup& group : grouping.groups()) names.push_back(group.name);
  const std::string hint = did_you_mean(name, names);
  throw InputError("", std::string(name), "there is no op group of this name",
                   fmt::format("{}the op groups: {}", hint, listed(std::move(names))));
}

}  // namespace strato::cli
