// Another batch than the one that is built into the file: constants that hold it are adjusted, by
// comparing with the same model at its own batch. Include in .cpp files only.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstddef>
#include <string>

#include "plugins/importers/onnx/scope/tensors.h"
#include "plugins/importers/onnx/translate/rebatch.h"

namespace strato::onnx_import {

class BatchAdjustment {
 public:
  // `original`: the translation at the file's own batch.
  BatchAdjustment(const std::string& file, const Binding& binding, const Translation& original,
                  Tensors& tensors)
      : file_(file),
        change_{binding.file_batch, binding.batch},
        original_(original),
        tensors_(tensors) {}

  // Puts adjusted constants into the place of inputs that hold the file's batch.
  void adjust(const onnx::NodeProto& node, Entries& inputs);
  // Throws InputError when the size of an output did not follow the batch.
  void check(const onnx::NodeProto& node, const Entry& output) const;
  [[noreturn]] void refuse_node(const onnx::NodeProto& node, const std::string& reason) const;

 private:
  const Entry* before(const std::string& name) const;
  void adjust_target(const onnx::NodeProto& node, Entries& inputs, std::size_t slot);
  void adjust_state(Entries& inputs, std::size_t slot);

  const std::string& file_;
  const BatchChange change_;
  const Translation& original_;
  Tensors& tensors_;
};

}  // namespace strato::onnx_import
