// An ONNX file as a protobuf message without its weights. Include in .cpp files only.
#pragma once

#include <onnx/onnx_pb.h>

#include <filesystem>
#include <map>
#include <string>

namespace strato::onnx_import {

struct Model {
  onnx::ModelProto proto;
  std::map<std::string, int> opsets;  // domain ("" is ONNX's own) -> version; "" is always there
  std::string file;                   // for messages
  std::filesystem::path folder;       // where external data would be
  bool with_weights = false;          // asked for: entries then know where their elements are
};

// Throws InputError when the file cannot be read, is no ONNX model, is damaged, or has no ops.
Model read_model(const std::filesystem::path& file);

// "ai.onnx" is another name of "".
std::string normal_domain(const std::string& domain);

}  // namespace strato::onnx_import
