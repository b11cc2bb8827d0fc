#include "core/graph/value/op_reader.h"

#include <algorithm>
#include <cstring>

namespace strato {
namespace {

const Tensor no_tensor;

template <class T>
std::vector<std::int64_t> decoded(const std::string& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return {values.begin(), values.end()};
}

}  // namespace

double product(const Shape& shape, std::size_t first, std::size_t last) {
  double result = 1;
  last = std::min(last, shape.size());
  for (std::size_t i = first; i < last; ++i) result *= static_cast<double>(shape[i]);
  return result;
}

Shape broadcast_shape(const Shape& a, const Shape& b) {
  const Shape& longer = a.size() >= b.size() ? a : b;
  const Shape& shorter = a.size() >= b.size() ? b : a;
  Shape result = longer;
  const std::size_t shift = longer.size() - shorter.size();
  for (std::size_t i = 0; i < shorter.size(); ++i)
    if (result[i + shift] == 1) result[i + shift] = shorter[i];
  return result;
}

void hash_attribute(Hasher& hasher, const Attribute& attribute) {
  hasher.number(attribute.index());
  std::visit(
      [&hasher]<class T>(const T& value) {
        if constexpr (std::is_arithmetic_v<T>)
          hasher.number(value);
        else if constexpr (std::is_same_v<T, std::string>)
          hasher.text(value);
        else
          hasher.numbers(std::span(value));
      },
      attribute);
}

const Tensor& OpReader::input(std::size_t i) const {
  return has_input(i) ? (*tensors_)[op_->inputs[i]] : no_tensor;
}
const Tensor& OpReader::output(std::size_t i) const {
  return has_output(i) ? (*tensors_)[op_->outputs[i]] : no_tensor;
}

double OpReader::elements() const {
  return product(has_output(0) ? output(0).shape : input(0).shape);
}

std::optional<std::vector<std::int64_t>> OpReader::constant(std::size_t i) const {
  const Tensor& tensor = input(i);
  if (!has_input(i) || !tensor.data) return std::nullopt;
  if (tensor.type == DataType::I64) return decoded<std::int64_t>(*tensor.data);
  if (tensor.type == DataType::I32) return decoded<std::int32_t>(*tensor.data);
  return std::nullopt;
}

std::optional<std::vector<std::int64_t>> OpReader::list(std::string_view attribute,
                                                        std::size_t input) const {
  if (op_->attribute(attribute)) return op_->integers(attribute);
  return constant(input);
}

OpReader OpReader::forward() const {
  if (!op_->forward.valid() || op_->forward.index() >= ops_->size()) return *this;
  return OpReader((*ops_)[op_->forward], *ops_, *tensors_);
}

}  // namespace strato
