// From ONNX nodes to ops with known shapes: one pass in topological order that folds what is
// constant, inlines functions and decided branches, and infers the shapes of all that remains.
// Include in .cpp files only.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/graph/value/graph.h"
#include "plugins/importers/onnx/bind.h"
#include "plugins/importers/onnx/infer.h"
#include "plugins/importers/onnx/read_model.h"
#include "plugins/importers/onnx/uses.h"

namespace strato::onnx_import {

struct Entry {  // one tensor
  std::string name;
  TensorRole role = TensorRole::Activation;
  Facts facts;          // a value is known of constants only
  int batch_axis = -1;  // of inputs
  bool stored = false;  // an initializer of the file
  // Where the elements are of what the file holds and `facts` has not, as far as they were asked
  // for; of one element: all are like it.
  std::shared_ptr<const onnx::TensorProto> origin = nullptr;
};

struct TranslatedOp {
  std::string name, type;
  std::vector<Entry*> inputs;  // null: left out
  std::vector<Entry*> outputs;
  std::vector<std::pair<std::string, Attribute>> attributes;
};

struct Translation {
  std::deque<Entry> entries;  // addresses stay
  std::unordered_map<std::string, Entry*> by_name;
  std::vector<TranslatedOp> ops;
  std::vector<Entry*> results;  // of the graph
};

// With `original` (the same model at the batch that is built into the file), constants that hold
// that batch are adjusted to binding.batch. Throws InputError.
Translation translate(const Model& model, const Uses& uses, const Binding& binding,
                      const Translation* original);

// With the original where the binding's batch is another one than the file's.
Translation translate_at(const Model& model, const Uses& uses, const Binding& binding,
                         const ImportOptions& options);

}  // namespace strato::onnx_import
