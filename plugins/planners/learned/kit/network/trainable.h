// A small network on LibTorch and what moves it: its parameters are one tensor of values, one of
// gradients, and views of parts of them, so that copying, averaging and stepping are single
// operations; LibTorch's AdamW (Loshchilov and Hutter 2019) makes the steps.
//
// For .cpp files of planners that learn, and headers that no other folder sees. Not thread safe.
#pragma once

// LibTorch's logging defines a CHECK of its own, which would take the place of ours: include this,
// not <ATen/ATen.h>.
#pragma push_macro("CHECK")
#undef CHECK
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#undef CHECK
#pragma pop_macro("CHECK")

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "plugins/planners/learned/kit/network/trained_network.h"

namespace strato::learned {

// Layers as the numbers of their parameters.
struct Dense {
  std::size_t weight, bias;
};
struct Norm {
  std::size_t scale, shift;
};

class Parameters {
 public:
  // Declares a parameter; `spread` is the range of its first values around `fill`.
  std::size_t declare(std::vector<std::int64_t> shape, double spread, double fill = 0);
  // A matrix [in, out] with the spread of Glorot and Bengio (2010), times `gain`.
  std::size_t matrix(std::int64_t in, std::int64_t out, double gain = 1);
  Dense dense(std::int64_t in, std::int64_t out, double gain = 1);  // a matrix, and zeros
  Norm norm(std::int64_t width);
  // After the last declaration: first values, drawn in the order of declaration.
  void allocate(std::uint64_t seed, const at::Device& device);
  void move_to(const at::Device& device);

  // A leaf whose gradient is a part of `gradients`.
  const at::Tensor& operator[](std::size_t index) const { return views_[index]; }
  std::size_t size() const { return size_; }

  void assign(std::span<const float> flat) { copy(flat, values); }
  void assign_gradients(std::span<const float> flat) { copy(flat, gradients); }

  at::Tensor values, gradients;  // flat, in the order of declaration

 private:
  struct Part {
    std::vector<std::int64_t> shape;
    std::int64_t length;
    double spread, fill;
  };
  void make_views();
  static void copy(std::span<const float> flat, at::Tensor& to);

  std::vector<Part> parts_;
  std::size_t size_ = 0;
  std::vector<at::Tensor> views_;
};

struct LstmState {
  at::Tensor h, c;  // [batch, width]
};

// An LSTM (Hochreiter and Schmidhuber 1997) as LibTorch computes it.
class Lstm {
 public:
  // Declares its parameters, which must outlive it. `forget`: what is added to the forget gate.
  Lstm(Parameters& parameters, std::int64_t in, std::int64_t width, double forget = 0);

  LstmState start(std::int64_t batch) const;  // zeros
  LstmState step(const at::Tensor& row, const LstmState& before) const;
  // From the start over rows [steps, batch, in]: all hidden states, [steps, batch, width].
  at::Tensor run(const at::Tensor& rows) const;

 private:
  at::Tensor forget_bias() const;

  const Parameters& parameters_;
  std::int64_t width_;
  double forget_;
  std::size_t input_, recurrent_, bias_;
};

// One-dimensional tensors on the CPU, and back.
at::Tensor view_of(std::span<const float> values);  // as long as they live
at::Tensor view_of(std::span<const std::int64_t> values);
at::Tensor tensor_of(std::span<const float> values);
at::Tensor indices_of(std::span<const std::int32_t> values);
std::vector<float> floats_of(const at::Tensor& tensor);

// LibTorch's own threads cost more than they bring on small tensors, and callers run side by side
// on threads of their own. Concerns the calling thread.
void on_one_thread();

class Optimizer {
 public:
  Optimizer();
  ~Optimizer();

  // One step along parameters.gradients, which stay as they are.
  void step(Parameters& parameters, const OptimizerOptions& options);
  OptimizerState state() const;
  // Throws InputError when the state is of other parameters. Also called when they have moved to
  // another device.
  void restore(const OptimizerState& state, const Parameters& parameters);

 private:
  struct Adam;
  std::unique_ptr<Adam> adam_;  // null before the first step
};

struct Trainable {
  virtual ~Trainable() = default;

  at::Tensor product(const at::Tensor& rows, std::size_t weight) const;
  at::Tensor apply(const Dense& layer, const at::Tensor& rows) const;
  at::Tensor apply(const Norm& layer, const at::Tensor& rows) const;

  // One step along parameters.gradients, or along what `share` makes of them.
  void step(OptimizerOptions options);
  // One step down the gradient of `loss`; returns its value before.
  double minimise(const at::Tensor& loss, const OptimizerOptions& options);
  // "cpu", "cuda", "cuda:1". Throws InputError when LibTorch cannot compute there.
  void move_to(const std::string& name);

  Parameters parameters;
  Optimizer optimizer;
  ShareStep share;  // null: alone
  at::Device device = at::kCPU;
  std::string note;  // JSON: how its weights were made
};

}  // namespace strato::learned
