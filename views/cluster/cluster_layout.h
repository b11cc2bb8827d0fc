// Where machines, devices and links of a cluster are drawn. Machines flow in rows like words; under
// each row runs a bus to the network, and the buses meet in a trunk at the left, so no wire crosses
// a box however many there are. Pure; pixels at scale 1, y down.
#pragma once

#include <QLineF>
#include <QPolygonF>
#include <QRectF>
#include <vector>

#include "core/cluster/value/cluster.h"

namespace strato {

struct DrawnLink {
  LinkId link;     // invalid: a part of the drawing that is no resource (buses, trunk)
  QPolygonF line;  // from the sending end to the receiving end
  QPointF label;   // where its bandwidth is written; null: nowhere
};

struct ClusterLayout {
  std::vector<QRectF> machines;  // by machine id
  std::vector<QRectF> fabrics;   // the bar in a machine where its devices meet; empty: none
  std::vector<QRectF> devices;   // by device id
  std::vector<DrawnLink> links;
  std::vector<QLineF> buses;  // of the network between machines
  QRectF bounds;
};

// As good as it gets in a view of `width`: rows as wide as that, or one machine where even that is
// too wide.
ClusterLayout layout_cluster(const Cluster& cluster, double width);

// log-scaled line width for a bandwidth, 1 to 7 px.
double link_width(double bytes_per_second);

}  // namespace strato
