// Private to core/trace/read: a reader for each format.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "core/trace/value/trace.h"

namespace strato::trace {

Trace read_chrome(const std::filesystem::path& file);           // and Kineto's
Trace read_execution_trace(const std::filesystem::path& file);  // PyTorch's, and Chakra's JSON
Trace read_chakra(const std::filesystem::path& file);           // protobuf
std::vector<Trace> read_nsight(const std::filesystem::path& file);

// By the first bytes of a file.
bool begins_as_chakra(std::string_view beginning);

}  // namespace strato::trace
