#include "views/search/icicle.h"

#include <algorithm>

#include "views/search/search_tree_model.h"

namespace strato {
namespace {

class Layout {
 public:
  Layout(const TreeMoment& moment, const IcicleOptions& options)
      : moment_(moment), options_(options) {}

  std::vector<IcicleCell> run(std::int32_t top, double width) {
    cells_.push_back({top, QRectF(0, 0, width, options_.row_height), 0});
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      const IcicleCell cell = cells_[i];
      const int depth = static_cast<int>(cell.box.top() / options_.row_height + 0.5);
      if (cell.rest == 0 && depth < options_.most_depth) add_children(cell);
    }
    return std::move(cells_);
  }

 private:
  // The most visited share the width by visits; what has no place of its own gets a narrow strip at
  // the end.
  void add_children(const IcicleCell& cell) {
    std::vector<std::int32_t> children = children_by_visits(moment_.tree(), cell.vertex);
    std::erase_if(children, [&](std::int32_t child) { return !moment_.exists(child); });
    std::size_t placed =
        std::min(children.size(), static_cast<std::size_t>(options_.most_children));
    double room = 0, sum = 0;
    for (; placed > 0; --placed) {
      room = cell.box.width() - (placed < children.size() ? rest_width(cell) : 0);
      sum = 0;
      double least = weight(children.front());
      for (std::size_t i = 0; i < placed; ++i) {
        sum += weight(children[i]);
        least = std::min(least, weight(children[i]));
      }
      if (room * least / sum >= options_.least_width) break;
    }
    double x = cell.box.left();
    for (std::size_t i = 0; i < placed; ++i) {
      const double width = room * weight(children[i]) / sum;
      add(children[i], x, cell, width, 0);
      x += width;
    }
    const auto rest = static_cast<std::int32_t>(children.size() - placed);
    if (rest > 0) add(cell.vertex, x, cell, cell.box.right() - x, rest);
  }

  double rest_width(const IcicleCell& cell) const {
    return std::min(64.0, cell.box.width() * 0.15);
  }

  void add(std::int32_t vertex, double x, const IcicleCell& above, double width,
           std::int32_t rest) {
    cells_.push_back({vertex, QRectF(x, above.box.bottom(), width, options_.row_height), rest});
  }

  double weight(std::int32_t id) const { return std::max(1, moment_.visits(id)); }

  const TreeMoment& moment_;
  const IcicleOptions& options_;
  std::vector<IcicleCell> cells_;
};

}  // namespace

std::vector<IcicleCell> icicle(const TreeMoment& moment, std::int32_t top, double width,
                               const IcicleOptions& options) {
  if (top < 0 || static_cast<std::size_t>(top) >= moment.tree().vertices.size()) return {};
  return Layout(moment, options).run(top, width);
}

double icicle_height(const std::vector<IcicleCell>& cells) {
  double height = 0;
  for (const IcicleCell& cell : cells) height = std::max(height, cell.box.bottom());
  return height;
}

}  // namespace strato
