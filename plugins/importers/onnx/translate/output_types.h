// The types of an op's outputs: from libonnx's inference, else the catalogue, else what the file
// declares, else (for op types that nobody knows) the first input's. Include in .cpp files only.
#pragma once

#include <string>
#include <vector>

#include "plugins/importers/onnx/bind/bind.h"
#include "plugins/importers/onnx/infer/infer.h"
#include "plugins/importers/onnx/read/read_model.h"
#include "plugins/importers/onnx/scope/translation.h"

namespace strato::onnx_import {

class OutputTypes {
 public:
  OutputTypes(const Model& model, const Binding& binding, const onnx::NodeProto& node,
              const TranslatedOp& op)
      : model_(model), binding_(binding), node_(node), op_(op) {}

  // One per output of the node. Throws InputError when a known op's cannot be told.
  std::vector<Facts> resolve(const Inference& inference) const;

 private:
  std::vector<Facts> from_catalogue() const;
  [[noreturn]] void cannot_be_told(const std::string& why) const;
  std::optional<Facts> declared(const std::string& name) const;
  Facts like_first_input() const;
  Facts guessed(const InferredOutput& inferred) const;

  const Model& model_;
  const Binding& binding_;
  const onnx::NodeProto& node_;
  const TranslatedOp& op_;
};

}  // namespace strato::onnx_import
