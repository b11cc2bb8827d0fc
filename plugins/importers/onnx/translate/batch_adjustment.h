// Another batch than the one that is built into the file: constants that hold it, as shapes that
// were written as numbers do, are adjusted by comparing with the same model at its own batch.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstddef>
#include <string>

#include "plugins/importers/onnx/scope/scope.h"

namespace strato::onnx_import {

class BatchAdjustment {
 public:
  // `original`: the translation at the file's own batch.
  BatchAdjustment(Scope& scope, const Translation& original)
      : scope_(scope), change_(scope.binding), original_(original) {}

  // Puts adjusted constants into the place of inputs that hold the file's batch.
  void adjust(const onnx::NodeProto& node, Entries& inputs);
  // Throws InputError when the size of an output did not follow the batch.
  void check(const onnx::NodeProto& node, const Entry& output) const;
  [[noreturn]] void refuse_node(const onnx::NodeProto& node, const std::string& reason) const;

 private:
  void adjust_target(const onnx::NodeProto& node, Entries& inputs, std::size_t slot);
  void adjust_state(Entries& inputs, std::size_t slot);
  void adjust_operands(Entries& inputs);

  Scope& scope_;
  const Binding& change_;  // from the file's batch to another
  const Translation& original_;
};

}  // namespace strato::onnx_import
