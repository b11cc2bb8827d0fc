#include "core/program/sfb/sites.h"

#include <algorithm>
#include <map>
#include <utility>

#include "core/base/error.h"
#include "core/io/byte_io.h"

namespace strato {
namespace {

// Every op computes the same on the whole batch as its shards do together, except a batch
// normalisation, whose statistics are those of a shard, and its gradient.
bool may_be_duplicated(const Tables& tables, OpId id) {
  const Op& op = tables.graph->op(id);
  const Op& forward = op.forward.valid() ? tables.graph->op(op.forward) : op;
  return tables.ops[id].splittable && forward.type != "BatchNormalization";
}

class Finder {
 public:
  Finder(const Tables& tables, int max_distance)
      : tables_(tables), max_distance_(max_distance), index_(tables.graph->op_count(), -1) {}

  std::vector<SfbSite> find() {
    std::map<OpId, SfbSite> by_producer;
    for (const OpId update : tables_.updates)
      for (const TensorId input : tables_.inputs(update)) {
        const TensorFacts& facts = tables_.tensors[input];
        if (facts.source != Source::Produced || facts.kind != BatchKind::Partial) continue;
        if (!may_be_duplicated(tables_, facts.op)) continue;
        SfbSite& site = by_producer[facts.op];
        site.producer = facts.op;
        site.gradients.push_back(input);
        site.updates.push_back(update);
      }
    std::vector<SfbSite> sites;
    for (auto& [producer, site] : by_producer) {
      explore(site);
      sites.push_back(std::move(site));
    }
    return sites;
  }

 private:
  static constexpr std::size_t kMostOps = 64;

  void explore(SfbSite& site) {
    const GroupId group = tables_.grouping->group_of(site.producer);
    std::vector<int> distance = {0};
    add(site, site.producer);
    for (std::size_t i = 0; i < site.ops.size(); ++i) {
      if (distance[i] == max_distance_) break;
      for (const TensorId input : tables_.inputs(site.ops[i])) {
        const TensorFacts& facts = tables_.tensors[input];
        if (facts.source != Source::Produced || index_[facts.op.index()] >= 0) continue;
        if (site.ops.size() == kMostOps || tables_.grouping->group_of(facts.op) != group) continue;
        if (!may_be_duplicated(tables_, facts.op)) continue;
        add(site, facts.op);
        distance.push_back(distance[i] + 1);
      }
    }
    list_edges(site);
    for (const OpId op : site.ops) index_[op.index()] = -1;
  }

  void add(SfbSite& site, OpId op) {
    index_[op.index()] = static_cast<int>(site.ops.size());
    site.ops.push_back(op);
  }

  void list_edges(SfbSite& site) {
    std::map<TensorId, std::size_t> edge_of;
    for (std::size_t i = 0; i < site.ops.size(); ++i)
      for (const TensorId input : tables_.inputs(site.ops[i])) {
        const TensorFacts& facts = tables_.tensors[input];
        if (facts.source != Source::Produced) continue;
        const auto [at, fresh] = edge_of.try_emplace(input, site.edges.size());
        if (fresh) site.edges.push_back({input, index_[facts.op.index()], {}});
        site.edges[at->second].readers.push_back(static_cast<int>(i));
      }
  }

  const Tables& tables_;
  const int max_distance_;
  std::vector<int> index_;  // by op: in the site being explored, or -1
};

Digest shape_of(const Replicas::Group& group) {
  ByteWriter bytes;
  for (const DeviceId device : group.devices) bytes.number(device.value());
  for (const std::int64_t samples : group.samples) bytes.number(samples);
  return digest_of(std::move(bytes).take());
}

}  // namespace

std::vector<SfbSite> sfb_sites(const Tables& tables, int max_distance) {
  return Finder(tables, max_distance).find();
}

Replicas::Replicas(const Tables& tables, const Strategy& complete) : tables_(tables) {
  place_groups(complete);
  sharded_.assign(tables.graph->op_count(), 1);
  for (const OpId op : complete.duplicated) sharded_[op] = 0;
  for (std::size_t i = 0; i < sharded_.size(); ++i)  // producers come first
    if (!may_shard(OpId(i))) sharded_[OpId(i)] = 0;
}

void Replicas::place_groups(const Strategy& complete) {
  CHECK(complete.is_complete() && complete.groups.size() == tables_.grouping->size(),
        "strategy of another grouping, or not complete");
  for (const std::optional<Decision>& decision : complete.groups) {
    Group group;
    // Columns of a row have the same samples, and rows may share updates: their factors are not
    // what is priced here.
    group.mode = is_mesh(*decision) ? Mode::Duplicate : decision->mode;
    const auto samples = splits_batch(group.mode)
                             ? apportion(tables_.batch, decision->devices)
                             : std::vector<std::int64_t>(decision->devices.size(), tables_.batch);
    for (std::size_t i = 0; i < samples.size(); ++i) {
      if (samples[i] == 0) continue;
      group.devices.push_back(decision->devices[i].device);
      group.samples.push_back(samples[i]);
    }
    group.spread = group.mode == Mode::ModelParallel && group.devices.size() > 1;
    group.shape = shape_of(group);
    groups_.push_back(std::move(group));
  }
}

bool Replicas::may_shard(OpId op) const {
  const Group& here = group(op);
  if (!splits_batch(here.mode) || here.devices.size() < 2 || !tables_.ops[op].splittable)
    return false;
  return std::ranges::all_of(tables_.inputs(op), [&](TensorId input) {
    const TensorFacts& facts = tables_.tensors[input];
    if (facts.source != Source::Produced || facts.kind != BatchKind::Partial) return true;
    return sharded_[facts.op] && group(facts.op).shape == here.shape;
  });
}

bool Replicas::is_whole_on(OpId op, const std::vector<DeviceId>& devices) const {
  const Group& there = group(op);
  return !sharded_[op] && !there.spread && std::ranges::includes(there.devices, devices);
}

}  // namespace strato
