#include "views/search/icicle.h"

#include <algorithm>

#include "views/search/search_tree_model.h"

namespace strato {
namespace {

class Layout {
 public:
  Layout(const SearchTree& tree, const IcicleOptions& options) : tree_(tree), options_(options) {}

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
    const std::vector<std::int32_t> children = children_by_visits(tree_, cell.vertex);
    std::size_t placed =
        std::min(children.size(), static_cast<std::size_t>(options_.most_children));
    double room = 0, sum = 0;
    for (; placed > 0; --placed) {
      room = cell.box.width() - (placed < children.size() ? rest_width(cell) : 0);
      sum = 0;
      for (std::size_t i = 0; i < placed; ++i) sum += weight(children[i]);
      if (room * weight(children[placed - 1]) / sum >= options_.least_width) break;
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

  double weight(std::int32_t id) const {
    return std::max(1, tree_.vertices[static_cast<std::size_t>(id)].visits);
  }

  const SearchTree& tree_;
  const IcicleOptions& options_;
  std::vector<IcicleCell> cells_;
};

}  // namespace

std::vector<IcicleCell> icicle(const SearchTree& tree, std::int32_t top, double width,
                               const IcicleOptions& options) {
  if (tree.vertices.empty() || top < 0 || static_cast<std::size_t>(top) >= tree.vertices.size())
    return {};
  return Layout(tree, options).run(top, width);
}

double icicle_height(const std::vector<IcicleCell>& cells) {
  double height = 0;
  for (const IcicleCell& cell : cells) height = std::max(height, cell.box.bottom());
  return height;
}

}  // namespace strato
