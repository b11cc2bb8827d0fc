#include "core/sim/engine/fluid_links.h"

#include <algorithm>
#include <functional>
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

std::size_t hash(std::span<const ResourceId> links, bool in_order) {
  std::size_t value = 1469598103934665603u + (in_order ? 1 : 0);
  for (const ResourceId id : links) value = (value ^ id.index()) * 1099511628211u;
  return value ^ (value >> 29);
}

}  // namespace

void FluidLinks::start(const Program& program) {
  streams_ = program.stream_count();
  links_.resize(program.cluster->links().size());
  for (std::size_t i = 0; i < links_.size(); ++i) {
    Link& link = links_[i];
    link.bundles.clear();
    link.busy = Nanos(0);
    link.seen = 0;
    link.capacity = capacity_of(program.cluster->links()[LinkId(i)].bandwidth);
  }
  bundle_count_ = 0;
  table_.assign(std::max<std::size_t>(table_.size(), 64), -1);
  bundle_of_.assign(program.tasks.size(), -1);
  dirty_.clear();
  alone_.clear();
  mark_ = 0;
}

std::int32_t FluidLinks::bundle_of(std::span<const ResourceId> links, bool in_order) {
  if (2 * bundle_count_ >= table_.size()) {  // few are distinct: starting anew is rare
    table_.assign(4 * table_.size(), -1);
    for (std::size_t i = 0; i < bundle_count_; ++i) {
      std::size_t at = hash(bundles_[i].links, bundles_[i].in_order) % table_.size();
      while (table_[at] >= 0) at = (at + 1) % table_.size();
      table_[at] = static_cast<std::int32_t>(i);
    }
  }
  std::size_t at = hash(links, in_order) % table_.size();
  for (; table_[at] >= 0; at = (at + 1) % table_.size()) {
    const Bundle& known = bundle(table_[at]);
    if (known.in_order == in_order && std::ranges::equal(known.links, links)) return table_[at];
  }
  table_[at] = static_cast<std::int32_t>(bundle_count_);
  if (bundle_count_ == bundles_.size()) bundles_.emplace_back();
  Bundle& made = bundles_[bundle_count_++];
  made.links = links;
  made.full_rate = std::numeric_limits<std::uint64_t>::max();
  for (const ResourceId id : links) made.full_rate = std::min(made.full_rate, link(id).capacity);
  made.rate = made.speed = 0;
  made.served = made.last_end = 0;
  made.in_order = in_order;
  made.since = Nanos(0);
  made.flows.clear();
  made.told = {};
  made.seen = 0;
  return table_[at];
}

void FluidLinks::mark_dirty(const Bundle& changed) {
  for (const ResourceId id : changed.links)
    dirty_.push_back(static_cast<std::int32_t>(id.index() - streams_));
  if (changed.links.empty()) alone_.push_back(static_cast<std::int32_t>(&changed - &bundles_[0]));
}

// The bundle has its first flow.
void FluidLinks::join(std::int32_t index, Nanos now) {
  for (const ResourceId id : bundle(index).links) {
    Link& at = link(id);
    if (at.bundles.empty()) at.since = now;
    at.bundles.push_back(index);
  }
}

// The bundle's last flow has ended.
void FluidLinks::leave(std::int32_t index, Nanos now) {
  for (const ResourceId id : bundle(index).links) {
    Link& at = link(id);
    *std::find(at.bundles.begin(), at.bundles.end(), index) = at.bundles.back();
    at.bundles.pop_back();
    if (at.bundles.empty()) at.busy += now - at.since;
  }
  set_rate(bundle(index), 0, now);
}

void FluidLinks::add(TaskId task, std::span<const ResourceId> links, Nanos work, Nanos now,
                     bool in_order) {
  CHECK(work > Nanos(0), "a flow without work");
  const std::int32_t index = bundle_of(links, in_order);
  bundle_of_[task.index()] = index;
  Bundle& joined = bundle(index);
  if (joined.flows.empty()) join(index, now);
  Wide begin = joined.served_at(now);
  if (in_order && !joined.flows.empty()) begin = joined.last_end;
  joined.last_end = begin + (static_cast<Wide>(work.value) << kSpeedBits);
  joined.flows.push_back({joined.last_end, task});
  std::push_heap(joined.flows.begin(), joined.flows.end(), std::greater<>());
  mark_dirty(joined);
}

std::span<const TaskId> FluidLinks::finish(TaskId task, Nanos now) {
  finished_.clear();
  const std::int32_t index = bundle_of_[task.index()];
  Bundle& left = bundle(index);
  const Wide served = left.served_at(now) + kNothing;
  while (!left.flows.empty() && left.flows.front().end <= served) {
    finished_.push_back(left.flows.front().task);
    std::pop_heap(left.flows.begin(), left.flows.end(), std::greater<>());
    left.flows.pop_back();
  }
  CHECK(!finished_.empty(), "a flow ends too soon");
  if (left.flows.empty()) leave(index, now);
  mark_dirty(left);
  return finished_;
}

// The links and bundles that can feel a change on this link.
void FluidLinks::collect(std::int32_t dirty) {
  component_links_.clear();
  component_bundles_.clear();
  const auto visit = [&](std::int32_t index) {
    Link& at = links_[static_cast<std::size_t>(index)];
    if (at.seen == mark_) return;
    at.seen = mark_;
    component_links_.push_back(index);
  };
  visit(dirty);
  for (std::size_t next = 0; next < component_links_.size();) {  // they become more
    Link& at = links_[static_cast<std::size_t>(component_links_[next++])];
    at.left = at.capacity;
    at.open = 0;
    for (const std::int32_t index : at.bundles) {
      Bundle& user = bundle(index);
      at.open += user.shares();
      if (user.seen == mark_) continue;
      user.seen = mark_;
      user.fixed = false;
      component_bundles_.push_back(index);
      for (const ResourceId id : user.links)
        visit(static_cast<std::int32_t>(id.index() - streams_));
    }
  }
  found_.resize(std::max(found_.size(), bundle_count_));
}

void FluidLinks::fix(Link& full, std::uint64_t share) {
  for (const std::int32_t index : full.bundles) {
    Bundle& user = bundle(index);
    if (user.fixed) continue;
    user.fixed = true;
    found_[static_cast<std::size_t>(index)] = share;
    for (const ResourceId id : user.links) {
      Link& other = link(id);
      other.left -= share * user.shares();
      other.open -= user.shares();
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

void FluidLinks::set_rate(Bundle& changed, std::uint64_t rate, Nanos now) {
  if (rate == changed.rate) return;
  changed.served = changed.served_at(now);
  changed.since = now;
  changed.rate = rate;
  changed.speed =
      rate == changed.full_rate
          ? kFullSpeed
          : static_cast<std::uint64_t>((static_cast<Wide>(rate) << kSpeedBits) / changed.full_rate);
}

// Says when the first flow of the bundle ends, if that is news.
void FluidLinks::tell_first(Bundle& changed) {
  CHECK(changed.speed > 0, "a flow stands still");
  const Flow& first = changed.flows.front();
  const Wide goal = first.end - kNothing;
  const Wide rest = goal > changed.served ? goal - changed.served : 1;
  const Wide more = changed.speed == kFullSpeed ? (rest + kFullSpeed - 1) >> kSpeedBits
                                                : (rest + changed.speed - 1) / changed.speed;
  const Nanos end = changed.since + Nanos(static_cast<std::int64_t>(more));
  if (changed.told.task == first.task && changed.told.end == end) return;
  changed.told = {first.task, end};
  news_.push_back(changed.told);
}

std::span<const FluidLinks::NewEnd> FluidLinks::update(Nanos now) {
  news_.clear();
  ++mark_;
  for (const std::int32_t index : dirty_) {
    if (links_[static_cast<std::size_t>(index)].seen == mark_) continue;
    collect(index);
    fill();
    for (const std::int32_t changed : component_bundles_) {
      set_rate(bundle(changed), found_[static_cast<std::size_t>(changed)], now);
      tell_first(bundle(changed));
    }
  }
  dirty_.clear();
  for (const std::int32_t index : alone_) {
    if (bundle(index).flows.empty()) continue;
    set_rate(bundle(index), bundle(index).full_rate, now);
    tell_first(bundle(index));
  }
  alone_.clear();
  return news_;
}

}  // namespace strato
