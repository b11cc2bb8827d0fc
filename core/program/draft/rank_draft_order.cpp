// The order that a rank's streams need: what an instruction waits for beyond its own stream,
// and where values are released.
//
// An instruction is known to have ended when another starts because both are on the compute stream,
// or because of waits. Communication that was started earlier may be under way still, also when a
// later one has ended, and says nothing about when another stream's starts.
#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "core/program/draft/rank_draft.h"

namespace strato {
namespace {

class StreamOrder {
 public:
  StreamOrder(RankProgram& program, const IdVector<ValueId, ValueId>& base_of)
      : program_(program),
        base_of_(base_of),
        progress_(program.instructions.size()),
        waits_(program.instructions.size()),
        releases_(program.instructions.size()) {
    for (Progress& at : progress_) {
      at.ended.fill(kNone);
      at.waiter.fill(kNever);
    }
  }

  void run(std::vector<Need> needs) {
    std::ranges::sort(needs);
    needs.erase(std::unique(needs.begin(), needs.end()), needs.end());
    std::size_t next = 0;
    for (Index i = 0; i < size(); ++i) {
      const std::size_t first = next;
      while (next < needs.size() && needs[next].later == i) ++next;
      start(i, std::span(needs).subspan(first, next - first));
    }
    release_values();
    for (Index i = 0; i < size(); ++i) {
      std::ranges::sort(waits_[i]);
      program_.waits.push_row(waits_[i]);
      program_.releases.push_row(releases_[i]);
    }
  }

 private:
  using Index = std::uint32_t;
  static constexpr std::int64_t kNone = -1;
  static constexpr auto kCompute = static_cast<std::size_t>(Stream::Compute);
  static constexpr Index kNever = std::numeric_limits<Index>::max();

  struct Progress {  // when an instruction starts
    // The last ones of each stream that are known to have ended. Of the compute stream all earlier
    // ones have, too.
    std::array<std::int64_t, kStreams> ended;
    std::array<Index, kStreams> waiter;  // the first ones that wait for it, if it is communication
  };
  struct Uses {  // of a value and its views
    std::int64_t last_compute = kNone;
    std::vector<Index> communication;  // ascending
    std::vector<ValueId> values;
  };

  Index size() const { return static_cast<Index>(program_.instructions.size()); }
  std::size_t stream_of(Index i) const {
    return static_cast<std::size_t>(program_.instructions[i].stream);
  }
  bool computes(Index i) const { return stream_of(i) == kCompute; }
  ValueId root(ValueId id) const { return base_of_[id].valid() ? base_of_[id] : id; }

  bool knows(Index i, Index communication) const {
    const std::array<Index, kStreams>& waiter = progress_[communication].waiter;
    return waiter[stream_of(i)] <= i ||
           (!computes(i) &&
            static_cast<std::int64_t>(waiter[kCompute]) <= progress_[i].ended[kCompute]);
  }
  void wait_for(Index i, Index communication) {
    if (knows(i, communication)) return;
    waits_[i].push_back(communication);
    Index& waiter = progress_[communication].waiter[stream_of(i)];
    waiter = std::min(waiter, i);
  }
  // It starts after what is computed here.
  void learn(Progress& at, Index computed) {
    const Progress& other = progress_[computed];
    for (std::size_t s = 0; s < kStreams; ++s) at.ended[s] = std::max(at.ended[s], other.ended[s]);
    note_end(at, computed);
  }
  void note_end(Progress& at, Index earlier) {
    std::int64_t& ended = at.ended[stream_of(earlier)];
    ended = std::max<std::int64_t>(ended, earlier);
  }

  void start(Index i, std::span<const Need> needs) {
    Progress& at = progress_[i];
    std::vector<Index>& stream = streams_[stream_of(i)];
    if (!stream.empty()) {
      at.ended = progress_[stream.back()].ended;
      if (computes(i)) note_end(at, stream.back());
    }
    stream.push_back(i);
    std::int64_t last = kNone;  // of the compute stream
    for (const Need& need : needs)
      if (computes(need.earlier)) last = need.earlier;
    if (last > at.ended[kCompute]) {
      waits_[i].push_back(static_cast<Index>(last));
      learn(at, static_cast<Index>(last));
    }
    for (const Need& need : needs) {
      if (computes(need.earlier)) continue;
      wait_for(i, need.earlier);
      note_end(at, need.earlier);
    }
  }

  void release_values() {
    IdVector<ValueId, Uses> uses(program_.values.size());
    for (Index i = 0; i < size(); ++i)
      for (const auto* rows : {&program_.reads, &program_.writes})
        for (const ValueId id : (*rows)[i])
          if (id.valid()) note_use(uses, id, i);
    for (std::size_t v = 0; v < program_.values.size(); ++v)
      if (const ValueId id(v); !program_.values[id].resident) uses[root(id)].values.push_back(id);
    for (const Uses& of : uses) release(of);
  }

  void note_use(IdVector<ValueId, Uses>& uses, ValueId id, Index i) const {
    Uses& of = uses[root(id)];
    if (computes(i))
      of.last_compute = i;
    else if (of.communication.empty() || of.communication.back() != i)
      of.communication.push_back(i);
  }

  void release(const Uses& uses) {
    if (uses.values.empty() || (uses.communication.empty() && uses.last_compute == kNone)) return;
    const Index at =
        uses.communication.empty() ? static_cast<Index>(uses.last_compute) : first_after(uses);
    for (const Index use : uses.communication)
      if (use != at) wait_for(at, use);
    std::int64_t& computed = progress_[at].ended[kCompute];
    if (uses.last_compute > computed && uses.last_compute != at) {  // the last one
      waits_[at].push_back(static_cast<Index>(uses.last_compute));
      computed = uses.last_compute;
    }
    releases_[at].insert(releases_[at].end(), uses.values.begin(), uses.values.end());
  }

  // The first instruction that starts after all uses but itself. It is made to wait for earlier
  // communication where a later one of that stream has ended then: that costs no time as a rule.
  // Else the last one.
  Index first_after(const Uses& uses) const {
    const Index last = uses.communication.back();
    const auto knows_computed = [&](Index i) {
      return progress_[i].ended[kCompute] >= uses.last_compute;
    };
    const auto ended_later = [&](Index i, Index use) {
      return progress_[i].ended[stream_of(use)] >= static_cast<std::int64_t>(use);
    };
    const auto knows_others = [&](Index i) {
      return std::ranges::all_of(uses.communication, [&](Index use) {
        return use == i || knows(i, use) || ended_later(i, use);
      });
    };
    if (knows_computed(last) && knows_others(last)) return last;
    Index found = size() - 1;
    const auto take_first = [&](const std::vector<Index>& stream, auto&& is_after) {
      const auto at =
          std::partition_point(stream.begin(), stream.end(), [&](Index i) { return !is_after(i); });
      if (at != stream.end()) found = std::min(found, *at);
    };
    for (const std::vector<Index>& stream : streams_)
      take_first(stream, [&](Index i) {
        return (computes(i) ? i >= uses.last_compute : knows_computed(i)) &&
               std::ranges::all_of(uses.communication,
                                   [&](Index use) { return ended_later(i, use); });
      });
    return found;
  }

  RankProgram& program_;
  const IdVector<ValueId, ValueId>& base_of_;
  std::vector<Progress> progress_;
  std::vector<std::vector<Index>> waits_;
  std::vector<std::vector<ValueId>> releases_;
  std::array<std::vector<Index>, kStreams> streams_;
};

}  // namespace

void order_streams(RankProgram& program, std::vector<Need> needs,
                   const IdVector<ValueId, ValueId>& base_of) {
  StreamOrder(program, base_of).run(std::move(needs));
}

}  // namespace strato
