// Which instruction of a rank wrote a value last. Slices of a parameter that is whole on the
// device are told apart, so that what happens to one slice does not wait for another.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "core/program/rank/rank_program.h"

namespace strato {

class LastWriters {
 public:
  using Index = std::uint32_t;               // of an instruction of a draft
  static constexpr Index kNone = ~Index{0};  // it was there from the start

  void add_value() { whole_.push_back(kNone); }
  // The last one of all of the value; slices may have been written since.
  Index of(ValueId value) const { return whole_[value]; }
  bool has_slices(ValueId value) const { return slices_.contains(value); }
  // Visits those that have to end before the value is used; of `slice`: before just that slice is.
  template <class Visit>
  void visit_before(ValueId value, const Piece* slice, const Visit& visit) const {
    if (whole_[value] != kNone) visit(whole_[value]);
    if (slices_.empty()) return;
    const auto slices = slices_.find(value);
    if (slices == slices_.end()) return;
    for (const SliceWriter& of : slices->second)
      if (!slice || overlap(of.piece, *slice)) visit(of.writer);
  }
  void set(ValueId value, const Piece* slice, Index writer);

 private:
  struct SliceWriter {
    Piece piece;
    Index writer;
  };
  IdVector<ValueId, Index> whole_;
  std::unordered_map<ValueId, std::vector<SliceWriter>> slices_;  // since then
};

}  // namespace strato
