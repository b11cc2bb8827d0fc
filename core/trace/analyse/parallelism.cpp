#include "core/trace/analyse/parallelism.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <tuple>

#include "core/trace/analyse/communication.h"

namespace strato::trace {
namespace {

std::int64_t stride_of(const std::vector<std::int64_t>& ranks) {
  if (ranks.size() < 2) return 1;
  const std::int64_t stride = ranks[1] - ranks[0];
  for (std::size_t i = 2; i < ranks.size(); ++i)
    if (ranks[i] - ranks[i - 1] != stride) return 0;
  return stride;
}

// The framework's own words: Megatron's "TENSOR_MODEL_PARALLEL_GROUP", "mesh_tp", "dp_cp".
GroupRole role_of_description(std::string_view text) {
  std::string words;
  for (const char c : text)
    words += std::isalpha(static_cast<unsigned char>(c)) != 0
                 ? static_cast<char>(std::tolower(static_cast<unsigned char>(c)))
                 : ' ';
  words = " " + words + " ";
  const auto has = [&](std::string_view word) { return words.find(word) != std::string::npos; };
  if (has(" expert ") || has(" ep ") || has(" moe ")) return GroupRole::Expert;
  if (has(" tensor ") || has(" tp ")) return GroupRole::Tensor;
  if (has(" pipeline ") || has(" pp ")) return GroupRole::Pipeline;
  if (has(" data ") || has(" dp ") || has(" fsdp ") || has(" replicate ") || has(" shard "))
    return GroupRole::Data;
  if (has(" context ") || has(" cp ") || has(" sequence ") || has(" sp "))
    return GroupRole::Context;
  return GroupRole::Unknown;
}

std::int64_t total_calls(const GroupFamily& family) {
  std::int64_t sum = 0;
  for (const auto& [collective, count] : family.calls) sum += count;
  return sum;
}

std::int64_t calls_of(const GroupFamily& family, Collective collective) {
  const auto found = family.calls.find(collective);
  return found == family.calls.end() ? 0 : found->second;
}

std::string calls_text(const GroupFamily& family) {
  std::vector<std::string> texts;
  for (const auto& [collective, count] : family.calls)
    texts.push_back(fmt::format("{} {}", count, name_of(collective)));
  return fmt::format("{}", fmt::join(texts, ", "));
}

double bytes_of_a_call(const GroupFamily& family) {
  return static_cast<double>(family.sent.value) / static_cast<double>(total_calls(family));
}

std::int64_t world_size(std::span<const Trace> traces) {
  std::int64_t size = 0;
  for (const Trace& trace : traces) size = std::max(size, trace.world_size.value_or(0));
  return size;
}

void find_partition(GroupFamily& family, std::int64_t world) {
  std::set<std::int64_t> ranks;
  std::int64_t members = 0;
  for (const auto& group : family.groups) {
    ranks.insert(group.begin(), group.end());
    members += std::ssize(group);
  }
  family.partition = world > 0 && members == world && std::ssize(ranks) == world;
}

// Without the framework's word, by what runs in it.
void guess_by_collectives(GroupFamily& family) {
  const std::int64_t all = total_calls(family);
  if (calls_of(family, Collective::SendReceive) * 2 > all) {
    family.role = GroupRole::Pipeline;
    family.evidence = "most of its calls are sends and receives";
  } else if (calls_of(family, Collective::AllToAll) * 2 > all) {
    family.role = GroupRole::Expert;
    family.evidence = "most of its calls are AllToAll";
  }
}

// Of families of reductions and gathers, the one between neighbours with far more and smaller
// calls.
void tell_tensor_from_data(std::vector<GroupFamily*> open) {
  if (open.empty()) return;
  std::ranges::stable_sort(open, std::greater(),
                           [](const GroupFamily* f) { return total_calls(*f); });
  GroupFamily& busiest = *open.front();
  if (open.size() > 1) {
    const GroupFamily& next = *open[1];
    const double times = static_cast<double>(total_calls(busiest)) /
                         static_cast<double>(std::max<std::int64_t>(1, total_calls(next)));
    const bool sizes_known = busiest.sent > Bytes(0) && next.sent > Bytes(0);
    const bool smaller = !sizes_known || bytes_of_a_call(busiest) < bytes_of_a_call(next);
    if (busiest.stride != 1 || times < 3 || !smaller) return;
    busiest.role = GroupRole::Tensor;
    busiest.evidence =
        fmt::format("its ranks are neighbours, and it has {:.0f} times as many calls as the next{}",
                    times, sizes_known ? ", smaller ones" : "");
    open.erase(open.begin());
  }
  for (GroupFamily* family : open) {
    family->role = GroupRole::Data;
    family->evidence = open.size() == 1 && busiest.role != GroupRole::Tensor
                           ? "it is the only one that reduces or gathers"
                           : "it reduces or gathers, seldom and over ranks that are apart";
  }
}

void find_roles(std::vector<GroupFamily>& families, std::int64_t world) {
  std::vector<GroupFamily*> open;
  for (GroupFamily& family : families) {
    family.role = role_of_description(family.description);
    if (family.role != GroupRole::Unknown) {
      family.evidence = fmt::format("the framework calls it \"{}\"", family.description);
      continue;
    }
    guess_by_collectives(family);
    // The world, beside others: barriers, norms of gradients, losses.
    const bool whole = world > 0 && family.size == world;
    if (family.role == GroupRole::Unknown && whole && families.size() > 1) {
      family.role = GroupRole::World;
      family.evidence = "it has all ranks, beside smaller groups";
    }
    if (family.role == GroupRole::Unknown) open.push_back(&family);
  }
  tell_tensor_from_data(std::move(open));
}

}  // namespace

const char* name_of(GroupRole role) {
  constexpr std::array<const char*, 7> names = {"world",  "tensor",  "data",   "pipeline",
                                                "expert", "context", "unknown"};
  return names[static_cast<std::size_t>(role)];
}

std::vector<GroupFamily> group_families(std::span<const Trace> traces) {
  using Key = std::tuple<std::int64_t, std::int64_t, std::string>;
  std::map<Key, GroupFamily> families;
  std::map<Key, std::set<std::vector<std::int64_t>>> groups;
  std::map<Key, std::set<std::size_t>> ranks_read;
  for (std::size_t rank = 0; rank < traces.size(); ++rank) {
    const Trace& trace = traces[rank];
    for (const Event& event : trace.events) {
      if (!event.call.valid()) continue;
      // Of what ran on a device; of execution traces, which have no kernels, all.
      if (trace.timed && !runs_on_device(event.kind)) continue;
      const Call& call = trace.calls[event.call];
      if (!call.group.valid() || trace.groups[call.group].ranks.size() < 2) continue;
      const Group& group = trace.groups[call.group];
      const Key key = {std::ssize(group.ranks), stride_of(group.ranks),
                       group.description == "default_pg" ? "" : group.description};
      GroupFamily& family = families[key];
      ++family.calls[collective_of(trace, event)];
      family.sent += call.sent;
      groups[key].insert(group.ranks);
      ranks_read[key].insert(rank);
    }
  }
  std::vector<GroupFamily> result;
  for (auto& [key, family] : families) {
    std::tie(family.size, family.stride, family.description) = key;
    family.groups.assign(groups[key].begin(), groups[key].end());
    family.ranks_read = std::ssize(ranks_read[key]);
    find_partition(family, world_size(traces));
    result.push_back(std::move(family));
  }
  std::ranges::stable_sort(result, std::greater(), total_calls);
  find_roles(result, world_size(traces));
  return result;
}

std::vector<std::string> parallelism_sentences(std::span<const GroupFamily> families) {
  std::vector<std::string> sentences;
  for (const GroupFamily& family : families) {
    std::string what;
    if (family.role == GroupRole::World)
      what = fmt::format("All {} ranks communicate together", family.size);
    else if (family.role == GroupRole::Unknown)
      what = fmt::format("Groups of {} ranks, of which it is not clear what they are for",
                         family.size);
    else
      what = fmt::format("Looks like {} parallelism of {}", name_of(family.role), family.size);
    const std::string apart =
        family.stride > 0 ? fmt::format("{} apart", family.stride) : std::string("unevenly apart");
    sentences.push_back(fmt::format(
        "{}: {} of {} ranks {}{}, with {}{}{}.", what,
        family.groups.size() == 1 ? "one group" : fmt::format("{} groups", family.groups.size()),
        family.size, apart, family.partition ? ", together all ranks" : "", calls_text(family),
        family.evidence.empty() ? "" : "; ", family.evidence));
  }
  return sentences;
}

}  // namespace strato::trace
