// The state of a search as a value of a container. Include in .cpp files only.
#pragma once

#include "core/io/json.h"
#include "core/search/tree/search_state.h"

namespace strato {

Json search_state_json(const SearchState& state);
// Throws InputError for what has another shape; whether the numbers fit the problem is up to the
// search that goes on from it.
SearchState parse_search_state(const JsonView& json);

Json record_json(const EvaluationRecord& record);
EvaluationRecord parse_record(const JsonView& json);  // throws InputError

}  // namespace strato
