// What a model's inputs are: weights or data; which of their dimensions is the batch, and what the
// symbolic ones are bound to.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/plugin/api/plugin.h"
#include "plugins/importers/onnx/read/read_model.h"

namespace strato::onnx_import {

// Finds the readers of a tensor and their slots, which tell weights from data.
class Uses {
 public:
  explicit Uses(const onnx::GraphProto& graph);

  // Read as a weight (a convolution's filter, a norm's scale, an embedding table) by some op,
  // directly or through ops that only rename, reshape or convert.
  bool as_weight(const std::string& tensor) const;
  // Never read but as a setting (bounds, scales, padding, tables of rotations), or as a lone number
  // in arithmetic.
  bool only_as_setting(const std::string& tensor, bool lone_number) const;

 private:
  struct Reader {
    const onnx::NodeProto* node;
    int slot;
  };
  std::unordered_map<std::string, std::vector<Reader>> readers_;
};

struct BoundInput {
  std::string name;
  DataType type = DataType::F32;
  Shape shape;
  bool weight = false;                     // a parameter that the file lists as an input
  int batch_axis = -1;                     // of data: the axis that carries the samples
  std::optional<std::int64_t> value = {};  // of a lone number that an option gives
};

struct Binding {
  std::vector<BoundInput> inputs;  // in file order, initializers left out
  std::int64_t batch = 1;
  std::int64_t file_batch = 0;                     // the batch built into the file; 0: symbolic
  std::map<std::string, std::int64_t> dimensions;  // every symbol, by name
  std::set<std::string> control_flow;              // every If and Loop of the file, by given_name()
  std::map<std::string, std::int64_t> decisions;   // those that options decide
};

// An option may also name an input of one integer or boolean: it is then no input but that number,
// as branches and loops may need it; a floating-point input of fixed extents (0: data, 1: a
// parameter); "NAME.rank", the number of dimensions of an input whose shape is not in the file; or
// an If (1: then, 0: else) or a Loop (its rounds). Throws InputError for symbols that are not bound
// (all of them at once), an option that binds nothing, a negative extent, an empty batch, or a
// model without data inputs.
Binding bind_inputs(const Model& model, const Uses& uses, const ImportOptions& options);

}  // namespace strato::onnx_import
