// Facts that are known about a tensor.
#pragma once

#include <memory>

#include "plugins/importers/onnx/read/value.h"

namespace strato::onnx_import {

struct Facts {
  DataType type = DataType::F32;
  Shape shape;
  std::shared_ptr<const Value> value;  // null unless all elements are known
};

Facts known(Value value);

}  // namespace strato::onnx_import
