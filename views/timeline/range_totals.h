// What fills a range of time, added up: kinds, op types, groups, links, what idle devices wait for,
// and how much of the communication runs under computation. Pure functions of simulated rows;
// safe from any thread. All times are nanoseconds, cut at the range's ends.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/graph/group/grouping.h"
#include "core/sim/explain/path_pieces.h"
#include "views/timeline/timeline_rows.h"

namespace strato {

struct PathReasons;

inline constexpr std::size_t kTaskKinds = static_cast<std::size_t>(TaskKind::Update) + 1;

struct RangeTotals {
  struct Part {
    std::int64_t time = 0;
    std::size_t slices = 0;
  };
  struct TypePart : Part {
    std::string type;
  };
  struct GroupPart : Part {
    GroupId group;
  };
  struct LinkPart : Part {  // time: with at least one slice on it
    LinkId link;
    std::int64_t bytes = 0;  // of its slices, in proportion to the part inside the range
  };
  Nanos begin, end;
  std::size_t devices = 0;  // whose compute streams were looked at
  // Stream time: a collective counts once for each member. Of link rows where there are no others.
  std::array<Part, kTaskKinds> kinds{};
  std::vector<TypePart> types;    // of what computes; most time first
  std::vector<GroupPart> groups;  // of everything; most time first
  std::vector<LinkPart> links;    // most bytes first
  std::size_t slices = 0;
  // Summed over devices: a device communicates while any of its transfers or collectives runs.
  std::int64_t computing = 0, communicating = 0, overlap = 0;
  // Of compute streams; idle is the sum of all of these.
  std::int64_t idle = 0, after_the_last = 0, not_explained = 0;
  std::array<std::int64_t, kReasons> idle_by{};

  Nanos length() const { return end - begin; }
};

// Rows that count; empty: all.
using RowMask = std::vector<bool>;

// `reasons` and `grouping` are of the rows' own timeline and graph; null: not known, and the parts
// that need them stay empty. `measured`: of the step as it was measured; its reasons are not known.
RangeTotals add_up(const TimelineRows& rows, Nanos begin, Nanos end, const RowMask& mask,
                   const PathReasons* reasons, const Grouping* grouping, bool measured = false);

}  // namespace strato
