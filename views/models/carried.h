// Op groups and single ops on their way to some devices: what a drag carries from one view to
// another, and what it does where it ends.
#pragma once

#include <QMimeData>
#include <span>
#include <vector>

#include "views/models/regroup.h"
#include "views/models/selection.h"

namespace strato {

// Of one problem.
struct Carried {
  std::vector<GroupId> groups;  // as wholes, ascending
  std::vector<OpId> ops;        // of other groups, ascending
  bool is_empty() const { return groups.empty() && ops.empty(); }
  friend bool operator==(const Carried&, const Carried&) = default;
};

// A layer is carried as a whole, as far as it is in one group: an op brings its gradients and the
// updates of its parameters, as it would where groups are made, so that neither activations nor
// parameters begin to travel. Lowering does not demand it: ops of a layer that somebody has parted
// are carried apart. A group of which all ops are carried is carried as a group.
Carried carried_ops(std::span<const OpId> ops, const Problem& problem);
Carried carried_selection(const Selection& selection, const Problem& problem);

// "conv4", "2 groups", "layer conv4/Conv (5 ops)", "2 groups and 3 layers (12 ops)".
QString names_of(const Carried& carried, const Problem& problem);

// On these devices alone; without devices nothing changes. Single ops that are not there already
// leave their groups for new ones; what was split over devices otherwise is whole again. Pure;
// takes a while where ops leave their groups of a large graph.
Strategy with_carried_on(const Regrouping& from, const Carried& carried,
                         std::span<const DeviceId> devices);
StrategyChange onto(const Carried& carried,
                    const std::vector<DeviceId>& devices);  // the same, later

// Names all by number, and the grouping that they are of.
QMimeData* drag_of(const Carried& carried, const Problem& problem);
// Nothing when it carries none, or ops of something that is no longer shown.
Carried dragged(const QMimeData& data, const Problem& problem);
QString drag_type();

}  // namespace strato
