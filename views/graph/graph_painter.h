// Draws a laid out graph from plain values, at any scale: labels keep a readable size and give way
// when boxes get small.
#pragma once

#include <QFont>
#include <QPainter>
#include <QPalette>
#include <optional>

#include "views/graph/overlay.h"

namespace strato {

struct GraphScene {
  GraphContent content;
  GraphLayout layout;                                 // empty until it is known
  std::vector<std::vector<PlacementStripe>> stripes;  // per node; empty: undecided
  std::vector<QString> marks;         // per node: "AllReduce", or the overlay's value
  std::vector<char> selected, found;  // per node
  std::vector<char> traced;           // per node; empty: nothing is traced
  std::vector<char> moved;  // per node: another plan decides otherwise; empty: there is none
  std::vector<char> on_path, edge_on_path;  // critical path; empty: not shown
  Overlay overlay = Overlay::Device;
  std::vector<double> values;  // of a quantity, per node; empty: not known yet
  double most_value = 0;       // the largest of them, or the farthest from 0
  QString words;               // what they are: "Attention of conv1"
  int hovered = -1;
  int echoed = -1;  // hovered in another drawing of the same graph
  const Cluster* cluster = nullptr;
  double scale = 1;
  QPointF offset;  // of the layout's origin, in pixels of the view
  QPalette palette;
  QFont font;

  bool is_laid_out() const {
    return layout.nodes.size() == content.nodes.size() && !content.nodes.empty();
  }
  QPointF to_view(const QPointF& p) const { return p * scale + offset; }
  QRectF to_view(const QRectF& r) const { return {to_view(r.topLeft()), r.size() * scale}; }
  QPointF to_layout(const QPointF& p) const { return (p - offset) / scale; }
  int node_at(const QPointF& view) const;  // -1: none
  void mark_values();                      // where the overlay is a quantity: marks are its values
};

void paint_graph(QPainter& painter, const GraphScene& scene, const QSize& size);

// Where the overview map lies (bottom right) and how it scales; nothing when all is in view.
struct MiniMap {
  QRectF box;
  double scale;
  QPointF origin;
};
std::optional<MiniMap> mini_map(const GraphScene& scene, const QSize& size);
bool all_in_sight(const GraphScene& scene, const QSize& size);  // of what is laid out
void paint_mini_map(QPainter& painter, const GraphScene& scene, const QSize& size);

}  // namespace strato
