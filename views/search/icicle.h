// The best part of a search tree as an icicle: depth goes down, the most visited children of a
// vertex share its width by visits, and the others stand together in a strip. Pure layout.
#pragma once

#include <QRectF>
#include <vector>

#include "core/search/tree/search_tree.h"
#include "views/search/tree_moment.h"

namespace strato {

struct IcicleCell {
  std::int32_t vertex;
  QRectF box;
  std::int32_t rest = 0;  // > 0: stands for that many children that have no place of their own
};

struct IcicleOptions {
  double row_height = 28;
  int most_children = 12;
  double least_width = 6;  // px: narrower children go into the rest
  int most_depth = 64;
};

// From `top` down, in [0, width]; parents come before children. In a replay what does not exist yet
// is left out, and places keep their order.
std::vector<IcicleCell> icicle(const TreeMoment& moment, std::int32_t top, double width,
                               const IcicleOptions& options);
double icicle_height(const std::vector<IcicleCell>& cells);

}  // namespace strato
