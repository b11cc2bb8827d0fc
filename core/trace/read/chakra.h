// Private to core/trace/read: MLCommons' Chakra traces: protobuf messages, each after its size as a
// varint; first the metadata, then nodes (schema/protobuf/et_def.proto, 0.0.4).
#pragma once

#include <filesystem>
#include <stop_token>
#include <string_view>

#include "core/trace/value/trace.h"

namespace strato::trace {

bool begins_as_chakra(std::string_view beginning);  // the first bytes of a file

// Throws InputError, and ReadingStopped.
Trace read_chakra(const std::filesystem::path& file, const std::stop_token& stop);

}  // namespace strato::trace
