#include "plugins/importers/onnx/content/matrix.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

namespace strato::onnx_import {
namespace {

bool has_numbers(const Matrix& matrix) {
  return matrix.type == DataType::F32 || matrix.type == DataType::F64;
}

// A sine of equal steps: x[i - 1] + x[i + 1] = 2 cos(step) x[i].
bool is_wave(const Matrix& matrix, std::size_t column, std::size_t begin, std::size_t end,
             bool& moves) {
  double products = 0, squares = 0, low = 2, high = -2;
  for (std::size_t row = begin + 1; row + 1 < end; ++row) {
    const double x = matrix.number(row, column);
    products += x * (matrix.number(row - 1, column) + matrix.number(row + 1, column));
    squares += x * x;
    low = std::min(low, x);
    high = std::max(high, x);
  }
  constexpr double kRounding = 2e-3;
  if (!(low >= -1 - kRounding && high <= 1 + kRounding)) return false;
  const double factor = squares > 0 ? products / squares : 0;
  for (std::size_t row = begin + 1; row + 1 < end; ++row) {
    const double sum = matrix.number(row - 1, column) + matrix.number(row + 1, column);
    if (!(std::fabs(sum - factor * matrix.number(row, column)) < kRounding)) return false;
  }
  moves = high - low > 0.1 && factor < 2 - 1e-5;  // a straight line has 2
  return true;
}

}  // namespace

double Matrix::number(std::size_t row, std::size_t column) const {
  const std::string_view stored = element(row, column);
  double wide = 0;
  float narrow = 0;
  if (type == DataType::F64)
    std::memcpy(&wide, stored.data(), sizeof wide);
  else
    std::memcpy(&narrow, stored.data(), sizeof narrow);
  return type == DataType::F64 ? wide : static_cast<double>(narrow);
}

std::string fingerprint(const Matrix& matrix) {
  constexpr std::size_t kElements = 16;
  const std::size_t diagonal = std::min(matrix.rows, matrix.columns);
  if (diagonal < kElements) return {};
  std::string elements;
  std::set<std::string_view> distinct;
  for (std::size_t i = 0; i < kElements; ++i) {
    const std::size_t at = i * (diagonal - 1) / (kElements - 1);
    elements += matrix.element(at, at);
    distinct.insert(matrix.element(at, at));
  }
  return distinct.size() > kElements / 2 ? elements : std::string();
}

bool equal(const Matrix& a, const Matrix& b) {
  return a.rows == b.rows && a.columns == b.columns && a.bytes == b.bytes;
}

// Block by block, which caches hold.
bool equal_turned(const Matrix& a, const Matrix& b) {
  constexpr std::size_t kBlock = 64;
  if (a.rows != b.columns || a.columns != b.rows) return false;
  for (std::size_t top = 0; top < a.rows; top += kBlock)
    for (std::size_t left = 0; left < a.columns; left += kBlock)
      for (std::size_t row = top; row < std::min(top + kBlock, a.rows); ++row)
        for (std::size_t column = left; column < std::min(left + kBlock, a.columns); ++column)
          if (a.element(row, column) != b.element(column, row)) return false;
  return true;
}

bool is_triangle(const Matrix& matrix) {
  if (matrix.rows < 8 || matrix.rows != matrix.columns) return false;
  const std::string_view low = matrix.element(matrix.rows - 1, 0),
                         high = matrix.element(0, matrix.columns - 1);
  const std::string_view diagonal = matrix.element(0, 0);
  if (low == high || (diagonal != low && diagonal != high)) return false;
  for (std::size_t row = 0; row < matrix.rows; ++row)
    for (std::size_t column = 0; column < matrix.columns; ++column)
      if (matrix.element(row, column) != (column < row ? low : column > row ? high : diagonal))
        return false;
  return true;
}

// Rows in the middle: the first ones may stand for padding.
bool has_waves(const Matrix& matrix) {
  constexpr std::size_t kRows = 12, kFirst = 16;
  if (!has_numbers(matrix) || matrix.rows < kRows || matrix.columns < 4) return false;
  const std::size_t begin = std::min(kFirst, matrix.rows - kRows);
  std::size_t moving = 0;
  for (std::size_t column = 0; column < matrix.columns; ++column) {
    bool moves = false;
    if (!is_wave(matrix, column, begin, begin + kRows, moves)) return false;
    moving += moves ? 1 : 0;
  }
  return moving * 8 >= matrix.columns;
}

bool has_powers(const Matrix& matrix) {
  if (!has_numbers(matrix) || matrix.rows != 1 || matrix.columns < 4) return false;
  const double factor = matrix.number(0, 1) / matrix.number(0, 0);
  if (!(factor > 0 && factor < 1 && matrix.number(0, 0) > 0)) return false;
  for (std::size_t i = 1; i < matrix.columns; ++i) {
    const double expected = matrix.number(0, i - 1) * factor;
    if (!(std::fabs(matrix.number(0, i) - expected) <= 1e-4 * expected)) return false;
  }
  return true;
}

}  // namespace strato::onnx_import
