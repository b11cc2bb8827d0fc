// A translated model: tensors and ops with known shapes. Include in .cpp files only.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/graph/value/graph.h"
#include "plugins/importers/onnx/infer/facts.h"

namespace onnx {
class TensorProto;
}

namespace strato::onnx_import {

struct Entry {  // one tensor
  std::string name;
  TensorRole role = TensorRole::Activation;
  Facts facts;          // a value is known of constants only
  int batch_axis = -1;  // of inputs
  bool stored = false;  // an initializer of the file
  // Says where the elements are that the file holds and `facts` has not, as far as they were asked
  // for; if it has one element, all are like it.
  std::shared_ptr<const onnx::TensorProto> origin = nullptr;
};

using Entries = std::vector<Entry*>;  // null: left out

struct TranslatedOp {
  std::string name, type;
  Entries inputs;
  Entries outputs;
  std::vector<std::pair<std::string, Attribute>> attributes;
};

struct Translation {
  std::deque<Entry> entries;  // addresses stay
  std::unordered_map<std::string, Entry*> by_name;
  std::vector<TranslatedOp> ops;
  Entries results;  // of the graph
};

}  // namespace strato::onnx_import
