// Tensors of a test, in memory.
#pragma once

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "core/data/tensor_source.h"

namespace strato {

template <class T>
std::string bytes_of(const std::vector<T>& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

template <class T>
std::vector<T> numbers_of_bytes(std::string_view bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

class MemorySource final : public TensorSource {
 public:
  void add(StoredTensor tensor, std::string elements) {
    tensors_.push_back(std::move(tensor));
    elements_.push_back(std::move(elements));
  }
  const std::string& file() const override { return name_; }
  const std::vector<StoredTensor>& tensors() const override { return tensors_; }
  // In pieces that cut elements.
  void read(std::size_t index, const PutPart& put) const override {
    const std::string_view all = elements_[index];
    for (std::size_t at = 0; at < all.size(); at += 7) put(all.substr(at, 7));
  }

 private:
  std::string name_ = "memory";
  std::vector<StoredTensor> tensors_;
  std::vector<std::string> elements_;
};

}  // namespace strato
