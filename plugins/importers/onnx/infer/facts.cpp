#include "plugins/importers/onnx/infer/facts.h"

#include <utility>

namespace strato::onnx_import {

Facts known(Value value) {
  auto shared = std::make_shared<const Value>(std::move(value));
  return {shared->type, shared->shape, shared};
}

}  // namespace strato::onnx_import
