// The list of planners to choose from: by kind, the quick ones first, each with what it does.
#pragma once

#include <vector>

#include "core/plugin/load/plugin_registry.h"

class QComboBox;

namespace strato {

// Headings between the planners cannot be chosen. The box shows the name of the one that is.
void list_planners(QComboBox& box, const std::vector<PluginInfo>& planners);

}  // namespace strato
