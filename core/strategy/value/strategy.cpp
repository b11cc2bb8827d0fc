#include "core/strategy/value/strategy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <type_traits>

#include "core/base/error.h"
#include "core/strategy/value/variable_check.h"

namespace strato {
namespace {

// Device and weight of one after the other, as they lie in memory: of thousands at once.
void add_to(Hasher& hasher, std::span<const DeviceShare> shares) {
  static_assert(sizeof(DeviceShare) == sizeof(std::int32_t) * 2);
  static_assert(std::has_unique_object_representations_v<DeviceShare>);
  hasher.bytes(shares.data(), shares.size_bytes());
}

struct ModeNames {
  std::string_view name, label;
};
constexpr std::array<ModeNames, 4> kModes = {{{"replicate-allreduce", "AllReduce"},
                                              {"replicate-ps", "PS"},
                                              {"duplicate", "Duplicate"},
                                              {"model-parallel", "Model parallel"}}};

constexpr auto kIsDecided = [](const std::optional<Decision>& group) { return group.has_value(); };

Decision data_parallel(const Cluster& cluster) {
  Decision decision;
  for (std::size_t i = 0; i < cluster.device_count(); ++i)
    decision.devices.push_back({DeviceId(i), 1});
  return decision;
}

// The common case, which lowering asks for thousands of times: no remainders to sort.
std::vector<std::int64_t> apportion_equally(std::int64_t batch, std::size_t parts) {
  CHECK(batch >= 0, "a batch has no negative size");
  const auto count = static_cast<std::int64_t>(parts);
  std::vector<std::int64_t> samples(parts, batch / count);
  std::fill_n(samples.begin(), batch % count, batch / count + 1);
  return samples;
}

template <class... Values>
[[noreturn]] void refuse(const std::string& place, const char* remedy,
                         fmt::format_string<Values...> problem, Values&&... values) {
  throw InputError("", place, fmt::format(problem, std::forward<Values>(values)...), remedy);
}

void validate_shares(std::span<const DeviceShare> shares, const std::string& place,
                     const Cluster& cluster) {
  DeviceId last;
  for (const DeviceShare& share : shares) {
    if (!share.device.valid() || share.device.index() >= cluster.device_count())
      refuse(place, "choose a device of the cluster",
             "names device number {}, which the cluster does not have", share.device.value());
    const std::string& name = cluster.device(share.device).name;
    if (share.device == last) refuse(place, "name each device once", "repeats device {}", name);
    if (share.device < last) refuse(place, "sort the devices", "has device {} out of order", name);
    if (share.weight < 1)
      refuse(place, "give a weight of at least 1", "gives device {} the weight {}", name,
             share.weight);
    last = share.device;
  }
}

void validate(const Decision& decision, const std::string& place, const Cluster& cluster) {
  if (decision.devices.empty())
    refuse(place, "give at least one, or leave it undecided", "names no device");
  if (static_cast<std::size_t>(decision.mode) >= kModes.size())
    refuse(place, "choose one", "has no known mode");
  validate_shares(decision.devices, place, cluster);
  check_rows(decision, place);
}

std::size_t rows_of(const Decision& decision) {
  return decision.devices.size() / columns_of(decision);
}

void check_columns(const Decision& decision, const std::string& place) {
  const std::int32_t tensor = decision.roles.tensor;
  if (tensor < 1) refuse(place, "give at least 1", "is tensor {}", tensor);
  if (decision.roles.pieces < 1)
    refuse(place, "give at least 1", "exchanges in {} pieces", decision.roles.pieces);
  if (tensor == 1 || columns_of(decision) > 1) return;
  if (decision.mode != Mode::ReplicateAllReduce)
    refuse(place, "take replicate-allreduce, or tensor 1", "is tensor {} in mode {}", tensor,
           name_of(decision.mode));
  if (decision.devices.size() % static_cast<std::size_t>(tensor) != 0)
    refuse(place, "give a number that divides that of the devices",
           "is tensor {} on {} devices, which are no whole rows", tensor, decision.devices.size());
  refuse(place, "give equal weights to the devices of a row", "is tensor {} with unequal weights",
         tensor);
}

void check_expert_rows(const Decision& decision, const std::string& place) {
  const std::int32_t expert = decision.roles.expert;
  if (expert < 1) refuse(place, "give at least 1", "is expert {}", expert);
  if (expert == 1 || expert_rows_of(decision) > 1) return;
  if (decision.mode != Mode::ReplicateAllReduce)
    refuse(place, "take replicate-allreduce, or expert 1", "is expert {} in mode {}", expert,
           name_of(decision.mode));
  refuse(place, "give a number that divides that of the rows",
         "is expert {} on {} rows of devices, which it does not divide", expert,
         rows_of(decision) / context_rows_of(decision));
}

void check_context_rows(const Decision& decision, const std::string& place) {
  const std::int32_t context = decision.roles.context;
  if (context < 1) refuse(place, "give at least 1", "is context {}", context);
  if (context == 1 || context_rows_of(decision) > 1) return;
  if (decision.mode != Mode::ReplicateAllReduce)
    refuse(place, "take replicate-allreduce, or context 1", "is context {} in mode {}", context,
           name_of(decision.mode));
  if (rows_of(decision) % static_cast<std::size_t>(context) != 0)
    refuse(place, "give a number that divides that of the rows",
           "is context {} on {} rows of devices, which it does not divide", context,
           rows_of(decision));
  refuse(place, "give equal weights to rows that have the same samples",
         "is context {} with unequal weights", context);
}

// On a single row there is nothing to share, which is legal.
void check_state_rows(const Decision& decision, const std::string& place) {
  const StateSharding& states = decision.roles.states;
  if (states.stage < 0 || states.stage > StateSharding::kMostStage)
    refuse(place, "give a stage of ZeRO, from 0 to 3", "is ZeRO {}", states.stage);
  if (states.rows < 0)
    refuse(place, "give at least 2, or 0 for all rows", "shares states in {} rows", states.rows);
  if (states.smallest < Bytes(0))
    refuse(place, "give 0 bytes or more", "keeps parameters below {} bytes whole",
           states.smallest.value);
  if (states.stage == 0 && states.rows > 0)
    refuse(place, "give it one, from 1 to 3", "shares states in {} rows without a stage of ZeRO",
           states.rows);
  if (states.stage == 0) return;
  if (decision.mode != Mode::ReplicateAllReduce)
    refuse(place, "take replicate-allreduce, or ZeRO 0", "is ZeRO {} in mode {}", states.stage,
           name_of(decision.mode));
  const auto rows = static_cast<std::size_t>(states.rows);
  if (rows == 0) return;
  if (rows_of(decision) % rows != 0)
    refuse(place, "give a number that divides that of the rows",
           "shares states in {} rows of {}, which it does not divide", rows, rows_of(decision));
  if (rows % context_rows_of(decision) != 0)
    refuse(place, "give a multiple of the rows that have the same samples",
           "shares states in {} rows, of which {} have the same samples", rows,
           context_rows_of(decision));
  if (rows % (expert_rows_of(decision) * context_rows_of(decision)) != 0)
    refuse(place, "give a multiple of the rows that have the experts",
           "shares states in {} rows, of which {} have the experts among them", rows,
           expert_rows_of(decision));
}

// Only the graph tells whether an axis divides its op (split_axes.h).
void validate_splits(const Strategy& strategy, const Grouping& grouping, const Cluster& cluster) {
  std::vector<OpId> ops;
  for (const OpSplit& split : strategy.splits) ops.push_back(split.op);
  validate_ops(ops, {"split ops"}, grouping);
  for (const OpSplit& split : strategy.splits) {
    const std::string place = fmt::format("split of op number {}", split.op.value());
    if (split.axis < 0) refuse(place, "count axes from 0", "is along axis {}", split.axis);
    if (split.parts.size() < 2)
      refuse(place, "give at least two devices, or do not split it", "has {} parts",
             split.parts.size());
    validate_shares(split.parts, place, cluster);
  }
}

void validate_offloaded(const Strategy& strategy, const Grouping& grouping) {
  validate_ops(strategy.offloaded, {"offloaded ops"}, grouping);
  for (const OpId op : strategy.offloaded)
    if (std::ranges::binary_search(strategy.recomputed, op))
      refuse("offloaded ops", "name it in one of both lists",
             "have op number {}, which is recomputed, too", op.value());
}

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
    for (const DeviceShare& share : decision.devices)
      if (std::ranges::binary_search(group.devices, share.device)) shares.push_back(share);
    if (shares.size() > 1 && shares.size() == group.devices.size() && has_equal_weights(shares))
      add(group.name, shares.front().weight);
    else
      for (const DeviceShare& share : shares) add(cluster.device(share.device).name, share.weight);
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

std::string_view name_of(Mode mode) { return kModes[static_cast<std::size_t>(mode)].name; }
std::string_view label_of(Mode mode) { return kModes[static_cast<std::size_t>(mode)].label; }

std::optional<Mode> mode_from(std::string_view name) {
  const auto known = std::ranges::find(kModes, name, &ModeNames::name);
  if (known == kModes.end()) return std::nullopt;
  return static_cast<Mode>(known - kModes.begin());
}

bool Strategy::is_complete() const { return std::ranges::all_of(groups, kIsDecided); }

std::string_view name_of(PipelineSchedule schedule) {
  if (schedule == PipelineSchedule::ByHand) return "by-hand";
  return kPipelineSchedules[static_cast<std::size_t>(schedule)];
}

std::int64_t most_under_way(const MicroBatches& micro_batches, std::size_t chunks) {
  const bool all_at_once = micro_batches.schedule == PipelineSchedule::AsReady ||
                           micro_batches.schedule == PipelineSchedule::Gpipe;
  return all_at_once ? std::int64_t{micro_batches.count} : static_cast<std::int64_t>(chunks);
}

MicroBatches by_hand(ScheduleTable table, std::int32_t count) {
  if (count == 1) count = std::max(1, micro_batch_count(table));
  return {count, PipelineSchedule::ByHand, std::move(table)};
}

std::optional<PipelineSchedule> pipeline_schedule_from(std::string_view name) {
  const auto at = std::ranges::find(kPipelineSchedules, name);
  if (at == kPipelineSchedules.end()) return std::nullopt;
  return static_cast<PipelineSchedule>(at - kPipelineSchedules.begin());
}

Digest Strategy::digest() const {
  Hasher hasher;
  hasher.text("strategy 1").number(groups.size());
  if (grouping != nullptr) hasher.digest(grouping->digest());
  for (const std::optional<Decision>& decision : groups) {
    hasher.number(decision.has_value());
    if (!decision) continue;
    hasher.number(decision->mode).number(decision->devices.size());
    add_to(hasher, decision->devices);
    add_to(hasher, decision->roles);
  }
  // Nothing is added for what is not set: digests of strategies without stay what they were.
  if (bucket > Bytes(0)) hasher.text("bucket").number(bucket.value);
  if (!duplicated.empty()) hasher.text("duplicated").number(duplicated.size());
  for (const OpId op : duplicated) hasher.number(op.value());
  if (!recomputed.empty()) hasher.text("recomputed").number(recomputed.size());
  for (const OpId op : recomputed) hasher.number(op.value());
  if (!offloaded.empty()) hasher.text("offloaded").number(offloaded.size());
  for (const OpId op : offloaded) hasher.number(op.value());
  if (!splits.empty()) hasher.text("splits").number(splits.size());
  for (const OpSplit& split : splits) {
    hasher.number(split.op.value()).number(split.axis).number(split.parts.size());
    add_to(hasher, split.parts);
  }
  if (!variables.empty()) hasher.text("variables").number(variables.size());
  for (const VariableSync& variable : variables) add_to(hasher, variable);
  if (!priorities.empty()) hasher.text("priorities").numbers(std::span(priorities));
  if (micro_batches.count > 1)
    hasher.text("micro-batches").number(micro_batches.count).number(micro_batches.schedule);
  if (micro_batches.count > 1) add_to(hasher, micro_batches.table);
  for (std::size_t g = 0; grouping && g < grouping->size(); ++g)
    if (grouping->is_renamed(GroupId(g)))
      hasher.text("named").number(g).text(grouping->group(GroupId(g)).name);
  return hasher.finish();
}

bool operator==(const Strategy& a, const Strategy& b) {
  const bool alike =
      a.grouping && b.grouping ? *a.grouping == *b.grouping : a.grouping == b.grouping;
  return a.groups == b.groups && a.bucket == b.bucket && a.duplicated == b.duplicated &&
         a.recomputed == b.recomputed && a.offloaded == b.offloaded && a.splits == b.splits &&
         a.variables == b.variables && a.priorities == b.priorities &&
         a.micro_batches == b.micro_batches && alike;
}

Decision decision_on_groups(const Cluster& cluster, std::span<const DeviceGroupId> groups,
                            Mode mode) {
  Decision decision{mode, {}};
  for (const DeviceGroupId group : groups)
    for (const DeviceId device : cluster.groups()[group].devices)
      decision.devices.push_back({device, 1});
  std::ranges::sort(decision.devices);
  decision.devices.erase(std::unique(decision.devices.begin(), decision.devices.end()),
                         decision.devices.end());
  return decision;
}

Decision decision_on_device(DeviceId device) { return {Mode::ReplicateAllReduce, {{device, 1}}}; }

std::size_t columns_of(const Decision& decision) {
  const std::int32_t tensor = decision.roles.tensor;
  if (tensor <= 1 || decision.mode != Mode::ReplicateAllReduce) return 1;
  const auto columns = static_cast<std::size_t>(tensor);
  const std::span<const DeviceShare> devices = decision.devices;
  if (devices.size() % columns != 0) return 1;
  for (std::size_t row = 0; row < devices.size(); row += columns)
    if (!has_equal_weights(devices.subspan(row, columns))) return 1;
  return columns;
}

std::size_t expert_rows_of(const Decision& decision) {
  if (decision.roles.expert <= 1 || decision.mode != Mode::ReplicateAllReduce) return 1;
  const auto experts = static_cast<std::size_t>(decision.roles.expert);
  return rows_of(decision) / context_rows_of(decision) % experts == 0 ? experts : 1;
}

std::size_t context_rows_of(const Decision& decision) {
  if (decision.roles.context <= 1 || decision.mode != Mode::ReplicateAllReduce) return 1;
  const auto context = static_cast<std::size_t>(decision.roles.context);
  const std::span<const DeviceShare> devices = decision.devices;
  const std::size_t together = context * columns_of(decision);
  if (devices.size() % together != 0) return 1;
  for (std::size_t first = 0; first < devices.size(); first += together)
    if (!has_equal_weights(devices.subspan(first, together))) return 1;
  return context;
}

std::size_t state_rows_of(const Decision& decision) {
  const StateSharding& states = decision.roles.states;
  if (states.stage == 0 || decision.mode != Mode::ReplicateAllReduce) return 1;
  const std::size_t all = rows_of(decision);
  const std::size_t rows = states.rows == 0 ? all : static_cast<std::size_t>(states.rows);
  const std::size_t apart = expert_rows_of(decision) * context_rows_of(decision);
  return all % rows == 0 && rows % apart == 0 ? rows : 1;
}

void drop_meaningless_roles(Decision& decision) {
  decision.roles.tensor = static_cast<std::int32_t>(columns_of(decision));
  if (decision.roles.tensor == 1) decision.roles.pieces = 1, decision.roles.sequence = true;
  decision.roles.context = static_cast<std::int32_t>(context_rows_of(decision));
  decision.roles.expert = static_cast<std::int32_t>(expert_rows_of(decision));
  if (state_rows_of(decision) == 1) decision.roles.states = {};
}

void check_rows(const Decision& decision, const std::string& place) {
  check_columns(decision, place);
  check_context_rows(decision, place);
  check_expert_rows(decision, place);
  check_state_rows(decision, place);
}

bool has_equal_weights(std::span<const DeviceShare> shares) {
  return std::ranges::all_of(
      shares, [&](const DeviceShare& share) { return share.weight == shares.front().weight; });
}

void divide_by_common(std::vector<DeviceShare>& shares) {
  std::int32_t divisor = 0;
  for (const DeviceShare& share : shares) divisor = std::gcd(divisor, share.weight);
  if (divisor < 2) return;
  for (DeviceShare& share : shares) share.weight /= divisor;
}

Decision reduced(Decision decision) {
  if (splits_batch(decision.mode))
    divide_by_common(decision.devices);
  else
    for (DeviceShare& share : decision.devices) share.weight = 1;
  return decision;
}

Strategy complete(const Strategy& partial, const Cluster& cluster) {
  Strategy result = partial;
  if (partial.is_complete()) return result;
  const auto first = std::ranges::find_if(partial.groups, kIsDecided);
  const Decision decision = first == partial.groups.end() ? data_parallel(cluster) : **first;
  for (std::optional<Decision>& group : result.groups)
    if (!group) group = decision;
  return result;
}

CompleteStrategy::CompleteStrategy(const Strategy& strategy, const Cluster& cluster) {
  Strategy whole = complete(strategy, cluster);
  const Digest digest = whole.digest();
  made_ = std::make_shared<const Made>(Made{std::move(whole), digest});
}

std::vector<std::int64_t> apportion(std::int64_t batch, std::span<const DeviceShare> shares) {
  const bool divides = !shares.empty() && shares.front().weight > 0;
  if (divides && has_equal_weights(shares)) return apportion_equally(batch, shares.size());
  using Wide = __int128;  // batch x weight may not fit in 64 bits
  Wide total = 0;
  for (const DeviceShare& share : shares) total += share.weight;
  CHECK(batch >= 0 && total > 0, "a batch is divided among shares with weights");
  std::vector<std::int64_t> samples;
  std::vector<std::pair<Wide, std::size_t>> remainders;  // (minus the remainder, index)
  std::int64_t left = batch;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const Wide quota = Wide(batch) * shares[i].weight;
    samples.push_back(static_cast<std::int64_t>(quota / total));
    remainders.emplace_back(-(quota % total), i);
    left -= samples.back();
  }
  std::ranges::sort(remainders);
  for (std::int64_t i = 0; i < left; ++i) ++samples[remainders[static_cast<std::size_t>(i)].second];
  return samples;
}

void validate(const Strategy& strategy, const Grouping& grouping, const Cluster& cluster) {
  if (strategy.grouping != nullptr && strategy.grouping->digest() != grouping.digest())
    refuse("strategy", "look at it in the grouping that it was made with",
           "has op groups of its own");
  if (strategy.groups.size() != grouping.size())
    refuse("strategy", "use the grouping that it was made with",
           "is for {} op groups, the model has {}", strategy.groups.size(), grouping.size());
  for (std::size_t i = 0; i < grouping.size(); ++i)
    if (const std::optional<Decision>& decision = strategy.groups[GroupId(i)])
      validate(*decision, fmt::format("group \"{}\"", grouping.group(GroupId(i)).name), cluster);
  if (strategy.bucket < Bytes(0))
    refuse("gradient buckets", "give a positive number of bytes, or 0 for no buckets",
           "have a limit of {} bytes", strategy.bucket.value);
  const std::size_t priorities = strategy.priorities.size();
  if (priorities != 0 && priorities != grouping.op_count())
    refuse("execution order", "give one for each op, or none",
           "has {} priorities, the model has {} ops", priorities, grouping.op_count());
  if (strategy.micro_batches.count < 1)
    refuse("micro-batches", "give at least 1", "are {}", strategy.micro_batches.count);
  if (strategy.micro_batches.schedule == PipelineSchedule::ByHand)
    check_table(strategy.micro_batches.table, strategy.micro_batches.count);
  validate_ops(strategy.duplicated, {"duplicated ops"}, grouping);
  validate_ops(strategy.recomputed, {"recomputed ops"}, grouping);
  validate_offloaded(strategy, grouping);
  validate_splits(strategy, grouping, cluster);
  validate_variables(strategy, grouping, cluster);
}

std::string describe(const MicroBatches& micro_batches) {
  if (micro_batches.count == 1) return "1";
  const bool by_hand = micro_batches.schedule == PipelineSchedule::ByHand;
  return fmt::format("{} by {}", micro_batches.count,
                     by_hand ? "a table" : name_of(micro_batches.schedule));
}

std::string describe(const Decision& decision, const Cluster& cluster) {
  const std::string devices = describe_devices(decision, cluster);
  if (decision.devices.size() == 1) return "on " + devices;  // every mode is the same there
  Decision meant = decision;
  drop_meaningless_roles(meant);
  return fmt::format("{}{} on {}", label_of(decision.mode), describe(meant.roles), devices);
}

}  // namespace strato
