#include "core/sim/fluid_links.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.h"

namespace strato {
namespace {

constexpr int kSpeedBits = 60;
constexpr std::uint64_t kFullSpeed = std::uint64_t{1} << kSpeedBits;
constexpr std::uint64_t kNothing = kFullSpeed >> 10;  // a thousandth of a nanosecond

std::uint64_t capacity_of(double bandwidth) {
  return static_cast<std::uint64_t>(std::clamp(bandwidth, 1.0, 1e14) * 65536.0);
}

}  // namespace

void FluidLinks::start(const Program& program) {
  streams_ = 2 * program.cluster->device_count();
  links_.resize(program.cluster->links().size());
  for (std::size_t i = 0; i < links_.size(); ++i) {
    Link& link = links_[i];
    link.flows.clear();
    link.busy = Nanos(0);
    link.seen = 0;
    link.capacity = capacity_of(program.cluster->links()[LinkId(i)].bandwidth);
  }
  flows_.clear();
  free_slots_.clear();
  slot_.assign(program.tasks.size(), -1);
  dirty_.clear();
  new_.clear();
  mark_ = 0;
}

void FluidLinks::add(TaskId task, std::span<const ResourceId> links, Nanos work, Nanos now) {
  CHECK(work > Nanos(0), "a flow without work");
  std::int32_t slot = static_cast<std::int32_t>(flows_.size());
  if (free_slots_.empty()) {
    flows_.emplace_back();
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
  }
  slot_[task.index()] = slot;
  Flow& flow = flows_[static_cast<std::size_t>(slot)];
  flow = Flow();
  flow.task = task;
  flow.links = links;
  flow.left = static_cast<Wide>(work.value) << kSpeedBits;
  flow.since = now;
  flow.full_rate = std::numeric_limits<std::uint64_t>::max();
  for (const ResourceId id : links) {
    Link& at = link(id);
    flow.full_rate = std::min(flow.full_rate, at.capacity);
    if (at.flows.empty()) at.since = now;
    at.flows.push_back(slot);
    dirty_.push_back(static_cast<std::int32_t>(id.index() - streams_));
  }
  if (links.empty()) new_.push_back(slot);
}

void FluidLinks::remove(TaskId task, Nanos now) {
  const std::int32_t slot = slot_[task.index()];
  for (const ResourceId id : flows_[static_cast<std::size_t>(slot)].links) {
    Link& at = link(id);
    *std::find(at.flows.begin(), at.flows.end(), slot) = at.flows.back();
    at.flows.pop_back();
    if (at.flows.empty()) at.busy += now - at.since;
    dirty_.push_back(static_cast<std::int32_t>(id.index() - streams_));
  }
  free_slots_.push_back(slot);
}

// The links and flows that can feel a change on this link.
void FluidLinks::collect(std::int32_t dirty) {
  component_links_.clear();
  component_flows_.clear();
  const auto visit = [&](std::int32_t index) {
    Link& at = links_[static_cast<std::size_t>(index)];
    if (at.seen == mark_) return;
    at.seen = mark_;
    component_links_.push_back(index);
  };
  visit(dirty);
  for (std::size_t i = 0; i < component_links_.size(); ++i) {
    Link& at = links_[static_cast<std::size_t>(component_links_[i])];
    at.left = at.capacity;
    at.open = static_cast<std::uint32_t>(at.flows.size());
    for (const std::int32_t slot : at.flows) {
      Flow& flow = flows_[static_cast<std::size_t>(slot)];
      if (flow.seen == mark_) continue;
      flow.seen = mark_;
      flow.fixed = false;
      component_flows_.push_back(slot);
      for (const ResourceId id : flow.links)
        visit(static_cast<std::int32_t>(id.index() - streams_));
    }
  }
  std::erase_if(component_links_, [&](std::int32_t index) {
    return links_[static_cast<std::size_t>(index)].open == 0;
  });
  found_.resize(flows_.size());
}

void FluidLinks::fix(Link& full, std::uint64_t share) {
  for (const std::int32_t slot : full.flows) {
    Flow& flow = flows_[static_cast<std::size_t>(slot)];
    if (flow.fixed) continue;
    flow.fixed = true;
    found_[static_cast<std::size_t>(slot)] = share;
    for (const ResourceId id : flow.links) {
      Link& other = link(id);
      other.left -= share;
      --other.open;
    }
  }
}

// Fills link after link, the one with the least for each of its flows first. Links with equal
// shares do not disturb each other, so their order does not matter.
void FluidLinks::fill() {
  while (!component_links_.empty()) {
    std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
    std::size_t kept = 0;
    std::int32_t fullest = -1;
    for (const std::int32_t index : component_links_) {
      const Link& at = links_[static_cast<std::size_t>(index)];
      if (at.open == 0) continue;
      component_links_[kept++] = index;
      const std::uint64_t share = at.open == 1 ? at.left : at.left / at.open;
      if (share < least) least = share, fullest = index;
    }
    component_links_.resize(kept);
    if (fullest >= 0) fix(links_[static_cast<std::size_t>(fullest)], least);
  }
}

// Takes off what was done since the last change, and goes on at the new rate.
void FluidLinks::settle(Flow& flow, std::uint64_t rate, Nanos now) {
  if (rate == flow.rate) return;
  const Wide done = static_cast<Wide>(flow.speed) * static_cast<Wide>((now - flow.since).value);
  flow.left = done < flow.left ? flow.left - done : 0;
  flow.since = now;
  flow.rate = rate;
  flow.speed =
      rate == flow.full_rate
          ? kFullSpeed
          : static_cast<std::uint64_t>((static_cast<Wide>(rate) << kSpeedBits) / flow.full_rate);
  CHECK(flow.speed > 0, "a flow stands still");
  const Wide rest = flow.left > kNothing ? flow.left - kNothing : 1;
  const Wide more = flow.speed == kFullSpeed ? (rest + kFullSpeed - 1) >> kSpeedBits
                                             : (rest + flow.speed - 1) / flow.speed;
  changes_.push_back({flow.task, now + Nanos(static_cast<std::int64_t>(more))});
}

std::span<const FluidLinks::Change> FluidLinks::update(Nanos now) {
  changes_.clear();
  ++mark_;
  for (const std::int32_t index : dirty_) {
    if (links_[static_cast<std::size_t>(index)].seen == mark_) continue;
    collect(index);
    fill();
    for (const std::int32_t slot : component_flows_)
      settle(flows_[static_cast<std::size_t>(slot)], found_[static_cast<std::size_t>(slot)], now);
  }
  dirty_.clear();
  for (const std::int32_t slot : new_) {
    Flow& flow = flows_[static_cast<std::size_t>(slot)];
    settle(flow, flow.full_rate, now);
  }
  new_.clear();
  return changes_;
}

}  // namespace strato
