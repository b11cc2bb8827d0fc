#include "plugins/planners/learned/kit/network/parameters.h"

#include <cmath>

#include "core/base/error.h"
#include "core/base/random.h"

namespace strato::learned {

at::Tensor tensor_of(std::span<const float> values) {
  return at::from_blob(const_cast<float*>(values.data()),
                       {static_cast<std::int64_t>(values.size())}, at::kFloat)
      .clone();
}

std::vector<float> floats_of(const at::Tensor& tensor) {
  const at::Tensor here = tensor.detach().to(at::kCPU).contiguous();
  const float* begin = here.data_ptr<float>();
  return {begin, begin + here.numel()};
}

std::size_t Parameters::declare(std::vector<std::int64_t> shape, double spread, double fill) {
  std::size_t length = 1;
  for (const std::int64_t extent : shape) length *= static_cast<std::size_t>(extent);
  parts_.push_back({std::move(shape), size_, length, spread, fill});
  size_ += length;
  return parts_.size() - 1;
}

std::size_t Parameters::matrix(std::int64_t in, std::int64_t out, double gain) {
  return declare({in, out}, gain * std::sqrt(6.0 / static_cast<double>(in + out)));
}

void Parameters::allocate(std::uint64_t seed, const at::Device& device) {
  Random random(seed);
  std::vector<float> start;
  start.reserve(size_);
  for (const Part& part : parts_)
    for (std::size_t i = 0; i < part.length; ++i)
      start.push_back(static_cast<float>(part.fill + random.uniform(-part.spread, part.spread)));
  values = tensor_of(start).to(device);
  gradients = at::zeros_like(values);
  make_views();
}

void Parameters::move_to(const at::Device& device) {
  values = values.to(device);
  gradients = gradients.to(device);
  make_views();
}

void Parameters::make_views() {
  views_.clear();
  for (const Part& part : parts_) {
    const auto begin = static_cast<std::int64_t>(part.begin);
    const auto length = static_cast<std::int64_t>(part.length);
    at::Tensor leaf = values.narrow(0, begin, length).view(part.shape).detach();
    leaf.set_requires_grad(true);
    leaf.mutable_grad() = gradients.narrow(0, begin, length).view(part.shape);
    views_.push_back(std::move(leaf));
  }
}

void Parameters::assign(std::span<const float> flat) {
  CHECK(flat.size() == size_, "one value a parameter");
  const at::NoGradGuard no_gradient;
  values.copy_(tensor_of(flat));
}

void Parameters::assign_gradients(std::span<const float> flat) {
  CHECK(flat.size() == size_, "one value a parameter");
  const at::NoGradGuard no_gradient;
  gradients.copy_(tensor_of(flat));
}

at::Device device_named(const std::string& name) {
  try {
    const at::Device device(name);
    at::zeros({1}, at::TensorOptions().device(device));
    return device;
  } catch (const std::exception&) {
    throw InputError("", "device " + name, "LibTorch cannot compute there",
                     "give cpu, or cuda:0 with a GPU");
  }
}

void on_one_thread() {
  if (at::get_num_threads() != 1) at::set_num_threads(1);
}

}  // namespace strato::learned
