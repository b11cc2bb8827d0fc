// What the elements of a model's initializers say about them that names do not: which are one
// parameter, stored twice, and which are tables that no training changes. Exporters fold
// transposes of tied weights into copies, and write buffers beside parameters.
#pragma once

#include <onnx/onnx_pb.h>

#include <string>
#include <unordered_map>
#include <unordered_set>

#include "plugins/importers/onnx/read/read_model.h"

namespace strato::onnx_import {

class Contents {
 public:
  // Reads a few elements of each initializer, and all of those that may be equal.
  explicit Contents(const Model& model);

  struct Copy {
    std::string of;       // the first initializer of these elements
    bool turned = false;  // transposed
  };
  // Null: it is no copy. Matrices only, and only of elements that differ among themselves: two
  // that are all ones when exported are still two parameters.
  const Copy* copy(const std::string& initializer) const;
  // A matrix whose elements differ among themselves: others that are equal to it are tied to it.
  bool is_telling(const std::string& initializer) const { return telling_.contains(initializer); }
  // A triangle of one number in a matrix of another (causal masks), sines or cosines of positions,
  // or powers of one number (their frequencies, and slopes of attention's biases).
  bool is_table(const std::string& initializer) const { return tables_.contains(initializer); }

 private:
  std::unordered_map<std::string, Copy> copies_;
  std::unordered_set<std::string> telling_, tables_;
};

}  // namespace strato::onnx_import
