// Graphs as the first version of their form had them, which workspaces out there hold: "STRATOGR",
// the version 1, a digest of the rest; then name, batch, tensors and ops. All numbers little
// endian, texts and lists with their length first. Thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "core/graph/value/graph.h"

namespace strato {

bool is_first_graph_file(std::string_view bytes);
Graph parse_first_graph_file(std::string_view bytes, const std::string& file);  // as parse_graph()

}  // namespace strato
