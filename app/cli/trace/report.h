// What recorded traces say, as tables and as JSON.
#pragma once

#include <string>

#include "core/io/json.h"
#include "core/trace/analyse/analysis.h"
#include "core/trace/read/read_trace.h"

namespace strato::cli {

Json traces_json(const trace::TraceSet& set, const trace::Analysis& analysis);
std::string traces_text(const trace::TraceSet& set, const trace::Analysis& analysis);

// "all ranks", or the name and size of a communicator; "-": not said.
std::string group_text(const trace::Trace& trace, trace::GroupId id);

}  // namespace strato::cli
