#include "plugins/engines/torch/kernels/normalization.h"

#include <numeric>

namespace strato::torch_engine {
namespace {

Tensors chosen(const std::tuple<at::Tensor, at::Tensor, at::Tensor>& gradients,
               const Wanted& wanted) {
  Tensors out;
  if (wanted[0]) out.push_back(std::get<0>(gradients));
  if (wanted[1]) out.push_back(std::get<1>(gradients));
  if (wanted[2]) out.push_back(std::get<2>(gradients));
  return out;
}

// ---- BatchNormalization

// Running statistics are not updated: they are no part of the step that is planned.
at::Tensor normalized(const Tensors& in, bool training, double epsilon) {
  const at::Tensor mean = training ? at::Tensor() : in[3];
  const at::Tensor variance = training ? at::Tensor() : in[4];
  return std::get<0>(
      at::native_batch_norm(in[0], in[1], in[2], mean, variance, training, 0.1, epsilon));
}

Kernel batch_norm(const Site& site) {
  if (site.output_count() > 1) site.refuse("returns its statistics");
  return kernel_of<normalized>(site, site.graph().is_training(), site->real("epsilon", 1e-5));
}

Tensors batch_norm_slopes(const Tensors& in, const Wanted& wanted, double epsilon) {
  const auto [mean, variance] = at::batch_norm_update_stats(in[1], {}, {}, 0.1);
  const at::Tensor inverse = variance.add(epsilon).rsqrt_();
  return chosen(at::native_batch_norm_backward(in[0], in[1], in[2], {}, {}, mean, inverse, true,
                                               epsilon, wanted),
                wanted);
}

Kernel batch_norm_grad(const Site& site) {
  return kernel_of<batch_norm_slopes>(site, wanted_of(site), site->real("epsilon", 1e-5));
}

// ---- LayerNormalization

struct LayerNorm {
  explicit LayerNorm(const Site& forward)
      : first(forward.axis("axis", -1, forward.in(0).size())),
        epsilon(forward->real("epsilon", 1e-5)),
        shape(forward.in(0).begin() + first, forward.in(0).end()),
        axes(shape.size()) {
    std::iota(axes.begin(), axes.end(), first);
  }

  int first;
  double epsilon;
  Shape shape;                     // of the axes that are normalised
  std::vector<std::int64_t> axes;  // themselves
};

Tensors layer_norm(const Tensors& in, const LayerNorm& n) {
  const at::Tensor shift = in.size() > 2 ? in[2] : at::Tensor();
  const auto [y, mean, deviation] = at::native_layer_norm(in[0], n.shape, in[1], shift, n.epsilon);
  return {y, mean, deviation};
}

Tensors layer_norm_slopes(const Tensors& in, const LayerNorm& n, const Wanted& wanted) {
  const auto [variance, mean] = at::var_mean(in[1], n.axes, false, true);
  const at::Tensor inverse = variance.add(n.epsilon).rsqrt_();
  return chosen(at::native_layer_norm_backward(in[0], in[1], n.shape, mean, inverse, in[2],
                                               at::zeros_like(in[2]), wanted),
                wanted);
}

Kernel layer_norm_grad(const Site& site) {
  return kernel_of<layer_norm_slopes>(site, LayerNorm(site.of_forward()), wanted_of(site));
}

// ---- RMSNormalization (Zhang and Sennrich 2019): no mean is taken away, and nothing is added
// What has 16 bits is computed with in 32, as the models that have this norm are trained.

at::Tensor inverse_root(const at::Tensor& x, const LayerNorm& n) {
  return x.square().mean(n.axes, true).add_(n.epsilon).rsqrt_();
}

Tensors rms_norm(const Tensors& in, const LayerNorm& n) {
  const at::Tensor x = widened(in[0]), inverse = inverse_root(x, n);
  const at::ScalarType type = in[0].scalar_type();
  return {x.mul(inverse).mul_(in[1]).to(type), inverse.to(type)};
}

Tensors rms_norm_slopes(const Tensors& in, const LayerNorm& n, const Wanted& wanted) {
  const at::Tensor dy = widened(in[0]), x = widened(in[1]);
  const at::Tensor& scale = in[2];
  const at::Tensor inverse = inverse_root(x, n), unit = x.mul(inverse);
  Tensors out;
  if (wanted[0]) {
    const at::Tensor slope = dy.mul(scale);
    out.push_back(slope.sub(unit.mul(slope.mul(unit).mean(n.axes, true))).mul_(inverse));
  }
  if (wanted[1]) out.push_back(dy.mul(unit).sum_to_size(scale.sizes()));
  for (at::Tensor& gradient : out) gradient = gradient.to(in[0].scalar_type());
  return out;
}

Kernel rms_norm_grad(const Site& site) {
  return kernel_of<rms_norm_slopes>(site, LayerNorm(site.of_forward()), wanted_of(site));
}

// ---- softmax

int class_axis(const Site& site) { return site.axis("axis", -1, site.in(0).size()); }

at::Tensor softmax(const Tensors& in, int axis) { return at::softmax(in[0], axis); }
at::Tensor log_softmax(const Tensors& in, int axis) { return at::log_softmax(in[0], axis); }
at::Tensor softmax_slope(const Tensors& in, int axis) {
  return at::_softmax_backward_data(in[0], in[1], axis, in[1].scalar_type());
}
at::Tensor log_softmax_slope(const Tensors& in, int axis) {
  return at::_log_softmax_backward_data(in[0], in[1], axis, in[1].scalar_type());
}

}  // namespace

KernelTable normalization_kernels() {
  return {
      {"BatchNormalization", batch_norm, batch_norm_grad},
      {"LayerNormalization", with<read<LayerNorm>, layer_norm>, layer_norm_grad},
      {"LogSoftmax", with<class_axis, log_softmax>, with<class_axis, log_softmax_slope>},
      {"RMSNormalization", with<read<LayerNorm>, rms_norm>, rms_norm_grad},
      {"SimplifiedLayerNormalization", with<read<LayerNorm>, rms_norm>, rms_norm_grad},
      {"Softmax", with<class_axis, softmax>, with<class_axis, softmax_slope>},
  };
}

}  // namespace strato::torch_engine
