// What the colours of the graph mean: one thing at a time, with its legend. Pure.
#pragma once

#include <QColor>
#include <QString>
#include <array>
#include <vector>

#include "views/graph/graph_content.h"
#include "views/graph/op_figures.h"

namespace strato {

enum class Overlay {
  Device,
  Phase,
  Time,
  Memory,
  Communication,
  Blame,
  SinceEdit,
  AgainstBaseline,
  AgainstPlan,
  Attention  // of gdp's policy, when it places what is selected
};
inline constexpr std::array kOverlays = {
    Overlay::Device,        Overlay::Phase,    Overlay::Time,      Overlay::Memory,
    Overlay::Communication, Overlay::Blame,    Overlay::SinceEdit, Overlay::AgainstBaseline,
    Overlay::AgainstPlan,   Overlay::Attention};
QString label_of(Overlay overlay);    // "Waiting caused"
QString meaning_of(Overlay overlay);  // a sentence
bool is_quantity(Overlay overlay);    // coloured by a ramp
bool is_change(Overlay overlay);      // compared with another outcome

// Whether figures of the outcome say how much each node has: of all quantities but the attention.
bool is_of_outcome(Overlay overlay);

// By node: the sum over its ops. Of a boundary: nothing.
std::vector<double> sums_over_ops(const GraphContent& content, const Grouping& grouping,
                                  const std::vector<double>& by_op);

// How much each node has; `before` is asked for by changes only. Of a boundary: nothing.
std::vector<double> overlay_values(const GraphContent& content, const Grouping& grouping,
                                   Overlay overlay, const OpFigures& now, const OpFigures* before);
QString overlay_value_text(Overlay overlay, double value);

// Changes go from blue (less) through the ground to orange (more); other quantities over a ramp of
// one hue.
QColor overlay_colour(Overlay overlay, double value, double most, bool dark);

struct Legend {
  struct Entry {
    QColor colour;
    QString text;
  };
  QString title;
  std::vector<Entry> entries;  // of categories
  std::vector<QColor> ramp;    // of quantities, least to most
  QString least, most;
};
// Of what is in the level: device groups that are used, phases that occur. `most`: the largest
// value.
Legend legend_for(Overlay overlay, const GraphContent& content,
                  const std::vector<std::vector<PlacementStripe>>& stripes, const Cluster* cluster,
                  double most, bool dark);

}  // namespace strato
