#include "plugins/planners/neural/parameters.h"

#include <cmath>
#include <cstring>

#include "core/base/error.h"
#include "core/base/random.h"

namespace strato::neural {
namespace {

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

}  // namespace

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

std::vector<float> Parameters::copy() const { return floats_of(values); }

std::vector<float> Parameters::gradient_copy() const { return floats_of(gradients); }

void Parameters::assign(std::span<const float> flat) {
  CHECK(flat.size() == size_, "one value a parameter");
  const at::NoGradGuard no_gradient;
  values.copy_(tensor_of(flat));
}

void Adam::step(Parameters& parameters, const AdamOptions& options) {
  constexpr double kMean = 0.9, kSquare = 0.999, kSmall = 1e-8;
  const at::NoGradGuard no_gradient;
  if (!mean_.defined()) {
    mean_ = at::zeros_like(parameters.values);
    square_ = at::zeros_like(mean_);
  }
  at::Tensor gradient = parameters.gradients;
  const double length = gradient.norm().item<double>();
  if (options.clip > 0 && length > options.clip) gradient = gradient * (options.clip / length);
  ++steps_;
  mean_.mul_(kMean).add_(gradient, 1 - kMean);
  square_.mul_(kSquare).addcmul_(gradient, gradient, 1 - kSquare);
  const double mean_scale = 1 - std::pow(kMean, static_cast<double>(steps_));
  const double square_scale = 1 - std::pow(kSquare, static_cast<double>(steps_));
  parameters.values.mul_(1 - options.rate * options.weight_decay);
  parameters.values.addcdiv_(mean_, (square_ / square_scale).sqrt_().add_(kSmall),
                             -options.rate / mean_scale);
}

void Adam::move_to(const at::Device& device) {
  if (!mean_.defined()) return;
  mean_ = mean_.to(device);
  square_ = square_.to(device);
}

std::string Adam::state() const {
  std::string bytes(reinterpret_cast<const char*>(&steps_), sizeof steps_);
  if (!mean_.defined()) return bytes;
  for (const at::Tensor& moment : {mean_, square_}) {
    const std::vector<float> values = floats_of(moment);
    bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  }
  return bytes;
}

void Adam::restore(std::string_view state, const Parameters& parameters) {
  const std::size_t count = parameters.size();
  const bool fresh = state.size() == sizeof steps_;
  if (!fresh && state.size() != sizeof steps_ + 2 * count * sizeof(float))
    throw InputError("", "optimizer state", "it is for a network of other sizes, or cut",
                     "start the training anew, or take another checkpoint");
  std::memcpy(&steps_, state.data(), sizeof steps_);
  mean_ = square_ = at::Tensor();
  if (fresh) return;
  std::vector<float> values(2 * count);
  std::memcpy(values.data(), state.data() + sizeof steps_, values.size() * sizeof(float));
  mean_ = tensor_of(std::span(values).first(count)).to(parameters.values.device());
  square_ = tensor_of(std::span(values).last(count)).to(parameters.values.device());
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

}  // namespace strato::neural
