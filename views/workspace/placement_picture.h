// A strategy at a glance: which devices (rows) each op group (columns) runs on.
#pragma once

#include <QImage>
#include <QSize>

#include "core/cluster/value/cluster.h"
#include "core/strategy/file/named_strategy.h"

namespace strato {

// Colours are those of the devices, paler for smaller shares; gradients that go over parameter
// servers are checkered. Groups that are not decided are data parallel, pale. Where there are more
// groups or devices than pixels, a pixel shows what any of them uses. Null for an empty size. For
// any thread.
QImage placement_picture(const NamedStrategy& strategy, const Cluster& cluster, const QSize& size,
                         bool dark);

}  // namespace strato
