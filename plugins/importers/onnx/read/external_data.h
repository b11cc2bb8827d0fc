// Finds a tensor's elements when they are in a file beside the model. Include in .cpp files only.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace strato::onnx_import {

struct ExternalPlace {
  std::filesystem::path file;
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> length;  // as the model says; nothing: it does not
  std::string problem;                  // in words; empty: the file is there
  bool absent = false;                  // the problem: there is no such file
};

// The file is in `folder` or below, also where links lead.
ExternalPlace external_place(const onnx::TensorProto& tensor, const std::filesystem::path& folder);

}  // namespace strato::onnx_import
