// The parameters of a small network on LibTorch: one tensor of values, one of gradients, and views
// of parts of them, so that copying, averaging and stepping are single operations.
//
// For .cpp files of planners that learn. Not thread safe.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/planners/learned/kit/network/aten.h"

namespace strato::learned {

class Parameters {
 public:
  // Declares a parameter; `spread` is the range of its first values around `fill`.
  std::size_t declare(std::vector<std::int64_t> shape, double spread, double fill = 0);
  // A matrix [in, out] with the spread of Glorot and Bengio (2010), times `gain`.
  std::size_t matrix(std::int64_t in, std::int64_t out, double gain = 1);
  // After the last declaration: first values, drawn in the order of declaration.
  void allocate(std::uint64_t seed, const at::Device& device);
  void move_to(const at::Device& device);

  // A leaf whose gradient is a part of `gradients`.
  const at::Tensor& operator[](std::size_t index) const { return views_[index]; }
  std::size_t size() const { return size_; }

  void assign(std::span<const float> flat);
  void assign_gradients(std::span<const float> flat);

  at::Tensor values, gradients;  // flat, in the order of declaration

 private:
  struct Part {
    std::vector<std::int64_t> shape;
    std::size_t begin, length;
    double spread, fill;
  };
  void make_views();

  std::vector<Part> parts_;
  std::size_t size_ = 0;
  std::vector<at::Tensor> views_;
};

// One-dimensional tensors on the CPU, and back.
at::Tensor tensor_of(std::span<const float> values);
std::vector<float> floats_of(const at::Tensor& tensor);

// "cpu", "cuda", "cuda:1". Throws InputError when LibTorch cannot compute there.
at::Device device_named(const std::string& name);

// LibTorch's own threads cost more than they bring on small tensors, and callers run side by side
// on threads of their own. Concerns the calling thread.
void on_one_thread();

}  // namespace strato::learned
