// Links shared max-min fairly by fluid flows.
//
// A flow goes through a set of links; at full speed it uses the slowest of them fully. Rates, in
// bytes per second, rise together from zero; a link that is full stops the flows on it, the others
// go on (progressive filling). Rates change only when a flow begins or ends, and only those of
// flows that share links with it, directly or through others.
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

#include "core/program/program.h"

namespace strato {

class FluidLinks {
 public:
  struct Change {
    TaskId task;
    Nanos end;  // if nothing else begins or ends
  };

  void start(const Program& program);
  // A flow of `task` begins at `now` with `work` > 0; one without links goes at full speed.
  void add(TaskId task, std::span<const ResourceId> links, Nanos work, Nanos now);
  void remove(TaskId task, Nanos now);
  // New rates after any number of add and remove: the flows whose end is another than before.
  std::span<const Change> update(Nanos now);
  Nanos busy(LinkId link) const { return links_[link.index()].busy; }  // with at least one flow

 private:
  using Wide = unsigned __int128;
  struct Flow {
    TaskId task;
    std::span<const ResourceId> links;
    std::uint64_t full_rate = 0;  // of the slowest link
    std::uint64_t rate = 0;
    std::uint64_t speed = 0;  // rate / full_rate
    Wide left = 0;            // work, in 2^-60 ns, at `since`
    Nanos since;
    std::uint32_t seen = 0;
    bool fixed = false;
  };
  struct Link {
    std::uint64_t capacity = 0;
    std::uint64_t left = 0;  // while rates are found
    std::uint32_t open = 0;  // flows whose rate is not found yet
    std::uint32_t seen = 0;
    std::vector<std::int32_t> flows;  // slots
    Nanos busy, since;                // since: when the first of `flows` began
  };
  Link& link(ResourceId id) { return links_[id.index() - streams_]; }

  void collect(std::int32_t dirty);
  void fill();
  void fix(Link& full, std::uint64_t share);
  void settle(Flow& flow, std::uint64_t rate, Nanos now);

  std::size_t streams_ = 0;
  std::vector<Link> links_;
  std::vector<Flow> flows_;  // slots
  std::vector<std::int32_t> free_slots_;
  std::vector<std::int32_t> slot_;   // by task
  std::vector<std::int32_t> dirty_;  // links whose flows have changed
  std::vector<std::int32_t> new_;    // slots without links
  std::vector<std::int32_t> component_links_, component_flows_;
  std::vector<std::uint64_t> found_;  // rates, as component_flows_
  std::vector<Change> changes_;
  std::uint32_t mark_ = 0;
};

}  // namespace strato
