#include "views/timeline/range_totals.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

#include "core/sim/explain/path_pieces.h"
#include "views/models/explanation.h"

namespace strato {
namespace {

struct Interval {
  std::int64_t begin, end;
};

// Disjoint and ascending.
std::vector<Interval> merged(std::vector<Interval> intervals) {
  std::ranges::sort(intervals, {}, &Interval::begin);
  std::vector<Interval> result;
  for (const Interval& next : intervals) {
    if (!result.empty() && next.begin <= result.back().end) {
      result.back().end = std::max(result.back().end, next.end);
    } else {
      result.push_back(next);
    }
  }
  return result;
}

std::int64_t length_of(const std::vector<Interval>& disjoint) {
  std::int64_t sum = 0;
  for (const Interval& i : disjoint) sum += i.end - i.begin;
  return sum;
}

std::int64_t common_length(const std::vector<Interval>& a, const std::vector<Interval>& b) {
  std::int64_t sum = 0;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    sum +=
        std::max<std::int64_t>(0, std::min(a[i].end, b[j].end) - std::max(a[i].begin, b[j].begin));
    a[i].end < b[j].end ? ++i : ++j;
  }
  return sum;
}

class Adder {
 public:
  Adder(const TimelineRows& rows, Nanos begin, Nanos end, const RowMask& mask,
        const PathReasons* reasons, const Grouping* grouping, bool measured)
      : rows_(rows),
        mask_(mask),
        measured_(measured),
        reasons_(measured ? nullptr : reasons),
        grouping_(grouping),
        program_(*rows.timeline->program),
        from_(begin.value),
        to_(std::max(begin, end).value) {
    totals_.begin = begin;
    totals_.end = std::max(begin, end);
    const std::size_t devices = program_.cluster->device_count();
    computing_.resize(devices);
    communicating_.resize(devices);
    ops_.resize(program_.graph->op_count());
    if (grouping_) groups_.resize(grouping_->size());
  }

  RangeTotals add() {
    bool streams = false;
    for (std::size_t r = 0; r < rows_.rows.size(); ++r) streams |= counts(r) && is_stream(r);
    for (std::size_t r = 0; r < rows_.rows.size(); ++r) {
      if (counts(r)) add_row(rows_.rows[r], is_stream(r) || !streams);
    }
    add_overlap();
    add_lists();
    return std::move(totals_);
  }

 private:
  bool counts(std::size_t r) const {
    return rows_.rows[r].measured == measured_ && (mask_.empty() || (r < mask_.size() && mask_[r]));
  }
  bool is_stream(std::size_t r) const {
    const RowKind kind = rows_.rows[r].kind;
    return kind == RowKind::Compute || kind == RowKind::Communication;
  }

  // `by_kind`: else only what links carry.
  void add_row(const TimelineRow& row, bool by_kind) {
    const SliceRow& slices = row.slices;
    if (row.kind == RowKind::Compute) add_idle(row);
    for (std::size_t i = slices.first_after(static_cast<double>(from_));
         i < slices.size() && slices.start[i] < to_; ++i) {
      const Interval part{std::max(from_, slices.start[i]), std::min(to_, slices.end[i])};
      if (part.end <= part.begin) continue;
      const Task& task = program_.tasks[slices.task[i]];
      if (by_kind) add_slice(task, part.end - part.begin);
      if (row.kind == RowKind::Compute) computing_[row.device.index()].push_back(part);
      if (row.kind == RowKind::Communication) communicating_[row.device.index()].push_back(part);
      if (row.kind != RowKind::Link) continue;
      LinkUse& use = links_[row.link];
      use.busy.push_back(part);
      use.bytes += static_cast<double>(task.bytes.value) *
                   static_cast<double>(part.end - part.begin) /
                   static_cast<double>(slices.end[i] - slices.start[i]);
    }
  }

  void add_slice(const Task& task, std::int64_t time) {
    const auto add = [time](RangeTotals::Part& part) {
      part.time += time;
      ++part.slices;
    };
    ++totals_.slices;
    add(totals_.kinds[static_cast<std::size_t>(task.kind)]);
    if (!task.op.valid()) return;
    if (!is_communication(task.kind)) add(ops_[task.op.index()]);
    if (grouping_) add(groups_[grouping_->group_of(task.op).index()]);
  }

  void add_idle(const TimelineRow& row) {
    ++totals_.devices;
    const std::int64_t step_end = rows_.timeline_of(row).step_time.value;
    const std::int64_t idle =
        std::max<std::int64_t>(0, std::min(to_, step_end) - std::max<std::int64_t>(0, from_)) -
        row.slices.busy_between(from_, to_);
    totals_.idle += idle;
    std::int64_t known = 0;
    if (reasons_) {
      reasons_->gaps[row.device].visit_long(from_, to_, 0, [&](const Gap& gap) {
        const std::int64_t time = std::min(to_, gap.end.value) - std::max(from_, gap.begin.value);
        if (time <= 0) return;
        known += time;
        (gap.next.valid() ? totals_.idle_by[static_cast<std::size_t>(gap.reason)]
                          : totals_.after_the_last) += time;
      });
    }
    totals_.not_explained += idle - known;
  }

  void add_overlap() {
    for (std::size_t d = 0; d < computing_.size(); ++d) {
      const auto computing = merged(std::move(computing_[d]));
      const auto communicating = merged(std::move(communicating_[d]));
      totals_.computing += length_of(computing);
      totals_.communicating += length_of(communicating);
      totals_.overlap += common_length(computing, communicating);
    }
  }

  void add_lists() {
    std::map<std::string_view, RangeTotals::Part> types;
    for (std::size_t op = 0; op < ops_.size(); ++op) {
      if (ops_[op].slices == 0) continue;
      RangeTotals::Part& part = types[program_.graph->op(OpId(op)).type];
      part.time += ops_[op].time;
      part.slices += ops_[op].slices;
    }
    for (const auto& [type, part] : types) totals_.types.push_back({part, std::string(type)});
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      if (groups_[g].slices > 0) totals_.groups.push_back({groups_[g], GroupId(g)});
    }
    for (auto& [link, use] : links_) {
      const std::size_t slices = use.busy.size();
      totals_.links.push_back(
          {{length_of(merged(std::move(use.busy))), slices}, link, std::llround(use.bytes)});
    }
    const auto more_time = [](const auto& a, const auto& b) { return a.time > b.time; };
    std::ranges::stable_sort(totals_.types, more_time);
    std::ranges::stable_sort(totals_.groups, more_time);
    std::ranges::stable_sort(totals_.links,
                             [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  }

  struct LinkUse {
    std::vector<Interval> busy;
    double bytes = 0;
  };
  const TimelineRows& rows_;
  const RowMask& mask_;
  const bool measured_;
  const PathReasons* reasons_;
  const Grouping* grouping_;
  const Program& program_;
  const std::int64_t from_, to_;
  RangeTotals totals_;
  std::vector<RangeTotals::Part> ops_, groups_;
  std::map<LinkId, LinkUse> links_;
  std::vector<std::vector<Interval>> computing_, communicating_;  // per device
};

}  // namespace

RangeTotals add_up(const TimelineRows& rows, Nanos begin, Nanos end, const RowMask& mask,
                   const PathReasons* reasons, const Grouping* grouping, bool measured) {
  return Adder(rows, begin, end, mask, reasons, grouping, measured && rows.measured).add();
}

}  // namespace strato
