// One initializer's elements (internal to this room).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/graph/value/graph.h"

namespace strato::onnx_import {

// A row-major matrix in a file; what has one axis of more than one element is one row.
struct Matrix {
  std::string_view bytes;
  DataType type = DataType::F32;
  std::size_t rows = 0, columns = 0;

  std::size_t width() const { return static_cast<std::size_t>(size_of(type)); }  // of an element
  std::string_view element(std::size_t row, std::size_t column) const {
    return bytes.substr((row * columns + column) * width(), width());
  }
  double number(std::size_t row, std::size_t column) const;  // of F32 and F64
};

// Elements of the diagonal, which a transposed copy has too; empty: too few of them differ.
std::string fingerprint(const Matrix& matrix);
bool equal(const Matrix& a, const Matrix& b);
bool equal_turned(const Matrix& a, const Matrix& b);

bool is_triangle(const Matrix& matrix);
bool has_waves(const Matrix& matrix);  // each column is a sine of the row's number
bool has_powers(const Matrix& matrix);

}  // namespace strato::onnx_import
