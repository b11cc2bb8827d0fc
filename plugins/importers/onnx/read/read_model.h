// An ONNX file as a protobuf message without its weights. Tensor payloads are left out of the
// serialised model before protobuf sees it: a plan needs names, types and shapes only, protobuf
// refuses messages of 2 GB, and skipping bytes is far faster than copying them.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace strato::onnx_import {

struct Model {
  onnx::ModelProto proto;
  std::map<std::string, int> opsets;  // domain ("" is ONNX's own) -> version; "" is always there
  std::string file;                   // for messages
  std::filesystem::path folder;       // where external data would be
  bool with_weights = false;          // asked for: entries then know where their elements are
  // Of the file of a whole training step: the tensors whose gradients it computes.
  std::optional<std::set<std::string>> trained = {};

  bool freezes(const std::string& name) const { return trained && !trained->contains(name); }
};

// Throws InputError when the file cannot be read, is no ONNX model, is damaged, or has no ops.
Model read_model(const std::filesystem::path& file);

// "ai.onnx" is another name of "".
std::string normal_domain(const std::string& domain);

// A copy of a serialised ModelProto without the tensor data fields longer than `limit` bytes.
// Returns nothing when the bytes are no well-formed message. Linear time; memory in proportion to
// the result. A tensor that lost its data says in its external_data where they are: key
// kPayloadKey, value "<field> <offset> <size>", of the field's content in `model`. One whose data
// are in several fields does not.
std::optional<std::string> without_payloads(std::string_view model, std::size_t limit);

inline constexpr const char* kPayloadKey = "stratoscope-payload";

// The next of packed numbers of varying length; false at their end, or where they are damaged.
bool read_varint(std::string_view bytes, std::size_t& at, std::uint64_t& value);

}  // namespace strato::onnx_import
