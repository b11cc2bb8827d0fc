// Private to core/trace/read: communicators as PyTorch writes them.
#pragma once

#include <string_view>
#include <vector>

#include "core/trace/text/record.h"
#include "core/trace/value/trace.h"

namespace strato::trace {

// Of "[0, 1, 2]". Empty where the list is shortened ("[0, 1, ..., 7]") or is none.
std::vector<std::int64_t> ranks_of(std::string_view text);
// `start`, `start` + `stride`, ...: `size` of them; empty where that makes no sense.
std::vector<std::int64_t> strided_ranks(std::int64_t start, std::int64_t stride, std::int64_t size);

// Of distributedInfo's "pg_config": a list in JSON, or in Python's notation inside a text.
std::vector<Group> groups_of_configuration(std::string_view text);

}  // namespace strato::trace
