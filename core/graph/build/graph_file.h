// A graph as bytes: a container (core/io/container.h) of columns. A workspace keeps its models
// this way, so that it stands alone without the files that they were imported from. What the
// builder computes (work, batch behaviour) is not written: it is computed again on reading.
// Thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "core/graph/value/graph.h"

namespace strato {

std::string serialise(const Graph& graph);

// The graph that was serialised, with the same ids and digest. Damaged bytes, or bytes of a newer
// version, are an InputError that names `file`; memory stays in proportion to the number of bytes.
Graph parse_graph(std::string_view bytes, const std::string& file);

// Graphs as the first version of their form had them, which workspaces out there hold, for
// parse_graph(): "STRATOGR", the version 1, a digest of the rest; then name, batch, tensors and
// ops. All numbers little endian, texts and lists with their length first.
bool is_first_graph_file(std::string_view bytes);
Graph parse_first_graph_file(std::string_view bytes, const std::string& file);

}  // namespace strato
