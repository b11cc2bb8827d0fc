// Links shared max-min fairly by fluid flows.
//
// A flow goes through a set of links; at full speed it uses the slowest of them fully. Rates, in
// bytes per second, rise together from zero; a link that is full stops the flows on it, the others
// go on (progressive filling). Rates change only when a flow begins or ends, and only those of
// flows that share links with it, directly or through others.
//
// Transfers from one device to another are messages on one connection: they go one after the other,
// in the order in which they came, and together have the share of one flow. So it is with TCP and
// with the channels of NCCL, and the first message is there long before the last one.
//
// Flows through the same links have the same rate: they are one bundle. A bundle counts the work
// that it has served to each of its flows; a flow ends when that has grown by the flow's work. So a
// change costs time by bundle, however many flows there are. A bundle in order serves one flow at a
// time: a flow ends when all work up to its own is served.
//
// Whole-number arithmetic, so that every machine agrees: bandwidths in 2^-16 bytes per second, the
// speed of a flow in 2^-60 of its full speed, both rounded down, so that no link carries more
// than it can. A flow ends at the first whole nanosecond at which less than a thousandth of a
// nanosecond of work (its time at full speed) is left; so shares like 1/3 do not cost a nanosecond.
// Reuses its arrays. Not thread safe. Private to this folder.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/program/value/program.h"

namespace strato {

class FluidLinks {
 public:
  struct NewEnd {
    TaskId task;  // the first of its bundle to end
    Nanos end;    // if nothing else begins or ends
  };

  void start(const Program& program);
  // A flow of `task` begins at `now` with `work` > 0; one without links goes at full speed. In
  // order: after those through the same links that came before it.
  void add(TaskId task, std::span<const ResourceId> links, Nanos work, Nanos now, bool in_order);
  // Is `now` the end of `task` that was told last?
  bool ends_at(TaskId task, Nanos now) const {
    const Bundle& of = bundles_[static_cast<std::size_t>(bundle_of_[task.index()])];
    return of.told.task == task && of.told.end == now;
  }
  // The flow of `task` ends, and with it those of its bundle that end at this moment, too.
  std::span<const TaskId> finish(TaskId task, Nanos now);
  // New rates after any number of add and finish: the ends that are others than before.
  std::span<const NewEnd> update(Nanos now);
  Nanos busy(LinkId link) const { return links_[link.index()].busy; }  // with at least one flow

 private:
  using Wide = unsigned __int128;
  struct Flow {
    Wide end;  // of `served`
    TaskId task;
    friend bool operator>(const Flow& a, const Flow& b) {
      return a.end != b.end ? a.end > b.end : a.task > b.task;
    }
  };
  struct Bundle {
    std::span<const ResourceId> links;
    std::uint64_t full_rate = 0;  // of the slowest link
    std::uint64_t rate = 0;       // of each flow
    std::uint64_t speed = 0;      // rate / full_rate
    Wide served = 0;              // at `since`, in 2^-60 ns
    Nanos since;
    std::vector<Flow> flows;  // a heap, the first to end on top
    Wide last_end = 0;        // of those in order
    bool in_order = false;
    NewEnd told;
    std::uint32_t seen = 0;
    bool fixed = false;
    std::uint32_t shares() const {  // of each of its links
      return in_order ? 1 : static_cast<std::uint32_t>(flows.size());
    }
    Wide served_at(Nanos now) const {
      return served + static_cast<Wide>(speed) * static_cast<Wide>((now - since).value);
    }
  };
  struct Link {
    std::uint64_t capacity = 0;
    std::uint64_t left = 0;  // while rates are found
    std::uint32_t open = 0;  // flows whose rate is not found yet
    std::uint32_t seen = 0;
    std::vector<std::int32_t> bundles;  // with flows
    Nanos busy, since;                  // since: when the first of them began
  };
  Link& link(ResourceId id) { return links_[id.index() - streams_]; }

  Bundle& bundle(std::int32_t index) { return bundles_[static_cast<std::size_t>(index)]; }
  std::int32_t bundle_of(std::span<const ResourceId> links, bool in_order);
  void join(std::int32_t index, Nanos now);
  void leave(std::int32_t index, Nanos now);
  void mark_dirty(const Bundle& changed);
  void collect(std::int32_t dirty);
  void fill();
  void fix(Link& full, std::uint64_t share);
  void set_rate(Bundle& changed, std::uint64_t rate, Nanos now);
  void tell_first(Bundle& changed);

  std::size_t streams_ = 0;
  std::vector<Link> links_;
  std::vector<Bundle> bundles_;  // the first bundle_count_ are in use
  std::size_t bundle_count_ = 0;
  std::vector<std::int32_t> table_;      // hash of links to bundle; -1: free
  std::vector<std::int32_t> bundle_of_;  // by task
  std::vector<std::int32_t> dirty_;      // links whose flows have changed
  std::vector<std::int32_t> alone_;      // bundles without links that have changed
  std::vector<std::int32_t> component_links_, component_bundles_;
  std::vector<std::uint64_t> found_;  // rates by bundle
  std::vector<NewEnd> news_;
  std::vector<TaskId> finished_;
  std::uint32_t mark_ = 0;
};

}  // namespace strato
