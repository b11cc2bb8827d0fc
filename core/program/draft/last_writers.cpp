#include "core/program/draft/last_writers.h"

namespace strato {

void LastWriters::set(ValueId value, const Piece* slice, Index writer) {
  if (!slice) {
    whole_[value] = writer;
    slices_.erase(value);
    return;
  }
  std::vector<SliceWriter>& slices = slices_[value];
  std::erase_if(slices, [&](const SliceWriter& other) { return other.piece == *slice; });
  slices.push_back({*slice, writer});
}

}  // namespace strato
