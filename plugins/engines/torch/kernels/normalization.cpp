#include "plugins/engines/torch/kernels/normalization.h"

#include <numeric>

namespace strato::torch_engine {
namespace {

// The gradients that a kernel computes together, of which `wrt` names the wanted.
using Wanted = std::array<bool, 3>;
Wanted wanted_of(const Site& site) {
  Wanted wanted = {};
  for (const std::int64_t i : site.wrt()) wanted[static_cast<std::size_t>(i)] = true;
  return wanted;
}

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

at::Tensor inverse_root(const at::Tensor& x, const LayerNorm& n) {
  return x.square().mean(n.axes, true).add_(n.epsilon).rsqrt_();
}

Tensors rms_norm(const Tensors& in, const LayerNorm& n) {
  const at::Tensor inverse = inverse_root(in[0], n);
  return {in[0].mul(inverse).mul_(in[1]), inverse};
}

Tensors rms_norm_slopes(const Tensors& in, const LayerNorm& n, const Wanted& wanted) {
  const at::Tensor &dy = in[0], &scale = in[2];
  const at::Tensor inverse = inverse_root(in[1], n), unit = in[1].mul(inverse);
  Tensors out;
  if (wanted[0]) {
    const at::Tensor slope = dy.mul(scale);
    out.push_back(slope.sub(unit.mul(slope.mul(unit).mean(n.axes, true))).mul_(inverse));
  }
  if (wanted[1]) out.push_back(dy.mul(unit).sum_to_size(scale.sizes()));
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

// ---- losses

// A loss is divided by the count of the whole batch, also on a shard.
struct ClassLoss {
  explicit ClassLoss(const Site& forward)
      : axis(forward.axis("axis", 1, forward.in(0).size())),
        ignored(forward->integer("ignore_index", -100)),
        count(forward->text("reduction", "mean") == "mean" ? product(forward.in(1)) : 1),
        keeps(forward->text("reduction", "mean") == "none") {
    if (forward.has_input(2)) forward.refuse("weighs its classes");
  }

  // Classes to the last axis, all else to one row each.
  at::Tensor rows(const at::Tensor& scores) const {
    return scores.movedim(axis, -1).reshape({-1, scores.size(axis)});
  }
  at::Tensor value(const at::Tensor& log_probability, const at::Tensor& labels) const {
    const auto reduction = keeps ? at::Reduction::None : at::Reduction::Sum;
    const at::Tensor sum =
        at::nll_loss(rows(log_probability), labels.flatten().to(at::kLong), {}, reduction, ignored);
    return keeps ? sum.view(labels.sizes()) : sum.div(count);
  }
  // 1 at each label, of the shape of `scores`, zero rows for labels that are ignored.
  at::Tensor hits(const at::Tensor& labels) const {
    return labels.to(at::kLong).clamp_min(0).unsqueeze(axis);
  }

  std::int64_t axis;
  std::int64_t ignored;
  double count;
  bool keeps;
};

Tensors cross_entropy(const Tensors& in, const ClassLoss& c) {
  const at::Tensor log_probability = at::log_softmax(in[0], c.axis);
  return {c.value(log_probability, in[1]), log_probability};
}

at::Tensor negative_log_likelihood(const Tensors& in, const ClassLoss& c) {
  return c.value(in[0], in[1]);
}

// Rows of samples that do not count become zero; `dy` is undefined where it is one.
at::Tensor finished(const ClassLoss& c, at::Tensor gradient, const at::Tensor& labels,
                    const at::Tensor& dy) {
  const at::Tensor counts = labels.ne(c.ignored).unsqueeze(c.axis);
  at::Tensor scale = counts.to(gradient.scalar_type()).div_(c.count);
  if (dy.defined()) scale.mul_(c.keeps ? dy.unsqueeze(c.axis) : dy.reshape({}));
  return gradient.mul_(scale);
}

// Inputs: scores or log-probabilities (then they are `kept` outputs of the forward op), labels;
// before them the loss's gradient where it is not one (`weighted`).
at::Tensor cross_entropy_slope(const Tensors& in, const ClassLoss& c, bool kept, bool weighted) {
  const at::Tensor& scores = in[weighted ? 1 : 0];
  const at::Tensor& labels = in[weighted ? 2 : 1];
  at::Tensor gradient = kept ? scores.exp() : at::softmax(scores, c.axis);
  const at::Tensor hits = c.hits(labels);
  gradient.scatter_add_(c.axis, hits, at::full(hits.sizes(), -1, gradient.options()));
  return finished(c, gradient, labels, weighted ? in[0] : at::Tensor());
}

Kernel cross_entropy_grad(const Site& site) {
  const Site forward = site.of_forward();
  return kernel_of<cross_entropy_slope>(site, ClassLoss(forward), forward.output_count() > 1,
                                        site.input_count() > 2);
}

at::Tensor negative_log_likelihood_slope(const Tensors& in, const ClassLoss& c, const Shape& to) {
  at::Tensor gradient = at::zeros(to, in[0].options());
  gradient.scatter_(c.axis, c.hits(in[1]), -1);
  return finished(c, gradient, in[1], in[0]);
}

double element_count(const Site& site) { return product(site.in(0)); }
at::Tensor squared_loss(const Tensors& in, double count) {
  return in[0].sub(in[1]).square_().sum().div_(count);
}
at::Tensor squared_loss_slope(const Tensors& in, double count) {
  const bool weighted = in.size() > 2;
  const at::Tensor gradient = in[weighted ? 1 : 0].sub(in[weighted ? 2 : 1]).mul_(2 / count);
  return weighted ? gradient.mul(in[0].reshape({})) : gradient;
}

}  // namespace

KernelTable normalization_kernels() {
  return {
      {"BatchNormalization", batch_norm, batch_norm_grad},
      {"LayerNormalization", with<read<LayerNorm>, layer_norm>, layer_norm_grad},
      {"LogSoftmax", with<class_axis, log_softmax>, with<class_axis, log_softmax_slope>},
      {"MeanSquaredLoss", with<element_count, squared_loss>,
       gradient_with<element_count, squared_loss_slope>},
      {"NegativeLogLikelihoodLoss", with<read<ClassLoss>, negative_log_likelihood>,
       gradient_with<read<ClassLoss>, negative_log_likelihood_slope>},
      {"RMSNormalization", with<read<LayerNorm>, rms_norm>, rms_norm_grad},
      {"SimplifiedLayerNormalization", with<read<LayerNorm>, rms_norm>, rms_norm_grad},
      {"Softmax", with<class_axis, softmax>, with<class_axis, softmax_slope>},
      {"SoftmaxCrossEntropy", with<read<ClassLoss>, cross_entropy>, cross_entropy_grad},
      {"SoftmaxCrossEntropyLoss", with<read<ClassLoss>, cross_entropy>, cross_entropy_grad},
  };
}

}  // namespace strato::torch_engine
