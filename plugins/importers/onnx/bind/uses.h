// Finds the readers of a tensor and their slots, which tell weights from data. Include in .cpp
// files only.
#pragma once

#include <onnx/onnx_pb.h>

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace strato::onnx_import {

class Uses {
 public:
  explicit Uses(const onnx::GraphProto& graph);

  // Read as a weight (a convolution's filter, a norm's scale, an embedding table) by some op,
  // directly or through ops that only rename, reshape or convert.
  bool as_weight(const std::string& tensor) const;
  // Never read but as a setting (bounds, scales, padding), or as a lone number in arithmetic.
  bool only_as_setting(const std::string& tensor, bool lone_number) const;

 private:
  void note_readers(const onnx::GraphProto& graph);

  struct Reader {
    const onnx::NodeProto* node;
    int slot;
  };
  std::unordered_map<std::string, std::vector<Reader>> readers_;
};

}  // namespace strato::onnx_import
