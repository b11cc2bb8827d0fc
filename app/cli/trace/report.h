// What recorded traces say, as tables and as JSON.
#pragma once

#include <string>

#include "core/io/json.h"
#include "core/trace/analyse/analysis.h"
#include "core/trace/read/read_trace.h"

namespace strato::cli {

Json traces_json(const trace::TraceSet& set, const trace::Analysis& analysis);
std::string traces_text(const trace::TraceSet& set, const trace::Analysis& analysis);

}  // namespace strato::cli
