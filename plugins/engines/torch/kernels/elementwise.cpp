#include "plugins/engines/torch/kernels/elementwise.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "core/base/error.h"
#include "plugins/engines/torch/values/made_elements.h"
#include "plugins/engines/torch/values/stored.h"

namespace strato::torch_engine {
namespace {

template <at::Tensor (*f)(const at::Tensor&)>
Kernel unary(const Site&) {
  return of_inputs([](const Tensors& in) { return f(in[0]); });
}
template <at::Tensor (*f)(const at::Tensor&, const at::Tensor&)>
Kernel binary(const Site&) {
  return of_inputs([](const Tensors& in) { return f(in[0], in[1]); });
}
// ---- one tensor; a slope makes the gradient from the output's gradient and one saved tensor

at::Tensor exp_slope(const at::Tensor& dy, const at::Tensor& y) { return dy.mul(y); }
at::Tensor sqrt_slope(const at::Tensor& dy, const at::Tensor& y) { return dy.div(y.mul(2)); }
at::Tensor reciprocal_slope(const at::Tensor& dy, const at::Tensor& y) {
  return dy.mul(y).mul_(y).neg_();
}
at::Tensor relu_slope(const at::Tensor& dy, const at::Tensor& y) {
  return at::threshold_backward(dy, y, 0);
}
at::Tensor erf_slope(const at::Tensor& dy, const at::Tensor& x) {
  return x.square().neg_().exp_().mul_(2 * std::numbers::inv_sqrtpi).mul_(dy);
}
at::Tensor abs_slope(const at::Tensor& dy, const at::Tensor& x) { return dy.mul(x.sign()); }
at::Tensor sin_slope(const at::Tensor& dy, const at::Tensor& x) { return dy.mul(x.cos()); }
at::Tensor cos_slope(const at::Tensor& dy, const at::Tensor& x) { return dy.mul(x.sin()).neg_(); }
at::Tensor log_slope(const at::Tensor& dy, const at::Tensor& x) { return dy.div(x); }
at::Tensor softplus_slope(const at::Tensor& dy, const at::Tensor& x) { return dy.mul(x.sigmoid()); }
at::Tensor softplus(const at::Tensor& x) { return at::softplus(x); }

std::string gelu_form(const Site& site) {
  return site->type.starts_with("FastGelu") ? "tanh" : site->text("approximate", "none");
}
Kernel gelu(const Site& site) {
  return of_inputs([form = gelu_form(site)](const Tensors& in) { return at::gelu(in[0], form); });
}
Kernel gelu_grad(const Site& site) {
  return of_inputs([form = gelu_form(site)](const Tensors& in) {
    return at::gelu_backward(in[0], in[1], form);
  });
}

Kernel leaky_relu(const Site& site) {
  return of_inputs([alpha = site->real("alpha", 0.01)](const Tensors& in) {
    return at::leaky_relu(in[0], alpha);
  });
}
Kernel leaky_relu_grad(const Site& site) {
  return of_inputs([alpha = site->real("alpha", 0.01)](const Tensors& in) {
    return at::leaky_relu_backward(in[0], in[1], alpha, true);
  });
}

Kernel elu(const Site& site) {
  return of_inputs(
      [alpha = site->real("alpha", 1)](const Tensors& in) { return at::elu(in[0], alpha); });
}
Kernel elu_grad(const Site& site) {
  return of_inputs([alpha = site->real("alpha", 1)](const Tensors& in) {
    return at::elu_backward(in[0], alpha, 1, 1, true, in[1]);
  });
}

// max(0, min(1, alpha * x + beta))
Kernel hard_sigmoid(const Site& site) {
  return of_inputs([alpha = site->real("alpha", 0.2), beta = site->real("beta", 0.5)](
                       const Tensors& in) { return in[0].mul(alpha).add_(beta).clamp_(0, 1); });
}
Kernel hard_sigmoid_grad(const Site& site) {
  return of_inputs(
      [alpha = site->real("alpha", 0.2), beta = site->real("beta", 0.5)](const Tensors& in) {
        const at::Tensor line = in[1].mul(alpha).add_(beta);
        return in[0].mul(line.gt(0).logical_and_(line.lt(1))).mul_(alpha);
      });
}

struct Limits {
  explicit Limits(const Site& site)
      : low(site.setting("min", 1, -std::numeric_limits<double>::infinity())),
        high(site.setting("max", 2, std::numeric_limits<double>::infinity())) {}
  double low, high;
};
Kernel clip(const Site& site) {
  return of_inputs([l = Limits(site)](const Tensors& in) { return in[0].clamp(l.low, l.high); });
}
Kernel clip_grad(const Site& site) {
  return of_inputs([l = Limits(site.of_forward())](const Tensors& in) {
    return in[1].ge(l.low).logical_and_(in[1].le(l.high)).mul(in[0]);
  });
}

Kernel cast(const Site& site) {  // and its gradient: to the type of the output
  return of_inputs(
      [type = scalar_type(site.output(0).type)](const Tensors& in) { return in[0].to(type); });
}

// ---- dropout

double drop_ratio(const Site& site) {
  const double ratio = site.setting("ratio", 1, 0.5);
  if (!(ratio >= 0 && ratio < 1)) site.refuse("drops a share that is not from 0 to below 1");
  return ratio;
}

Tensor whole_input(const Site& site) {
  Tensor tensor = site.input(0);
  if (const AxisPart* part = site.part(); part != nullptr)
    tensor.shape[static_cast<std::size_t>(part->axis)] = part->extent;
  return tensor;
}

// A part of a split op has its slice of the mask that all of the op has.
struct KeepMask {
  explicit KeepMask(const Site& site)
      : noise(whole_input(site), site.graph().batch(), site->name),
        shape(site.local(whole_input(site))),
        part(site.part() != nullptr ? *site.part() : AxisPart{}) {}

  at::Tensor operator()(const Shard& shard, double ratio) const {
    const at::Tensor mask = at::empty(shape.on(shard), at::TensorOptions().dtype(at::kBool));
    noise.keep_mask(shard, ratio, mask.data_ptr<bool>());
    if (part.extent == 0) return mask;
    return mask.narrow(part.axis, part.begin, part.end - part.begin).contiguous();
  }

  Noise noise;
  LocalShape shape;
  AxisPart part;  // extent 0: none
};

Kernel dropout(const Site& site) {
  const bool two = site.output_count() > 1;
  if (!site.graph().is_training()) {
    return [two](const Tensors& in, const Shard&) {
      Tensors out = {in[0]};
      if (two) out.push_back(at::ones_like(in[0], in[0].options().dtype(at::kBool)));
      return out;
    };
  }
  return [ratio = drop_ratio(site), mask_of = KeepMask(site), two](const Tensors& in,
                                                                   const Shard& shard) {
    const at::Tensor on_device = mask_of(shard, ratio).to(in[0].device());
    Tensors out = {in[0].mul(on_device).mul_(1 / (1 - ratio))};
    if (two) out.push_back(on_device);
    return out;
  };
}

Kernel dropout_grad(const Site& site) {
  return of_inputs([ratio = drop_ratio(site.of_forward())](const Tensors& in) {
    return in[0].mul(in[1]).mul_(1 / (1 - ratio));
  });
}

// ---- two tensors

at::Tensor add(const at::Tensor& a, const at::Tensor& b) { return at::add(a, b); }
at::Tensor subtract(const at::Tensor& a, const at::Tensor& b) { return at::sub(a, b); }

Kernel divide(const Site& site) {
  if (is_floating(site.output(0).type)) return binary<at::div>(site);
  return of_inputs([](const Tensors& in) { return at::div(in[0], in[1], "trunc"); });
}

Kernel modulo(const Site& site) {
  if (site->integer("fmod", 0) != 0) return binary<at::fmod>(site);
  return binary<at::remainder>(site);
}

// Gradients with what was broadcast still to be summed: from the output's gradient, then what is
// read of the operands and the output.
at::Tensor negated(const Tensors& in) { return in[0].neg(); }
at::Tensor times(const Tensors& in) { return in[0].mul(in[1]); }
at::Tensor divide_slope_a(const Tensors& in) { return in[0].div(in[1]); }
at::Tensor divide_slope_b(const Tensors& in) {
  return in[0].mul(in[1]).div_(in[2].square()).neg_();
}
at::Tensor power_slope_a(const Tensors& in) {
  return in[0].mul(in[2]).mul(in[1].pow(in[2].sub(1)));
}
at::Tensor power_slope_b(const Tensors& in) { return in[0].mul(in[3]).mul(in[1].log()); }
at::Tensor extreme_slope(const Tensors& in) { return in[1].eq(in[2]).mul(in[0]); }
at::Tensor where_slope_a(const Tensors& in) { return in[1].mul(in[0]); }
at::Tensor where_slope_b(const Tensors& in) { return in[1].logical_not().mul(in[0]); }

Kernel where(const Site&) {
  return of_inputs([](const Tensors& in) { return at::where(in[0], in[1], in[2]); });
}

// ---- any number

at::Tensor sum_of(const Tensors& in) {
  if (in.size() == 1) return in[0].clone();
  at::Tensor sum = at::add(in[0], in[1]);
  for (std::size_t i = 2; i < in.size(); ++i) {
    sum = sum.sizes() == at::infer_size(sum.sizes(), in[i].sizes()) ? sum.add_(in[i])
                                                                    : sum.add(in[i]);
  }
  return sum;
}

Kernel sum(const Site&) { return of_inputs(sum_of); }

Kernel mean(const Site&) {
  return of_inputs(
      [](const Tensors& in) { return sum_of(in).div_(static_cast<double>(in.size())); });
}

Kernel mean_grad(const Site& site) {
  std::vector<LocalShape> shapes;
  for (std::size_t i = 0; i < site.output_count(); ++i) shapes.push_back(site.local_out(i));
  const auto count = static_cast<double>(site.forward().input_count());
  return [shapes, count](const Tensors& in, const Shard& shard) {
    const at::Tensor share = in[0].div(count);
    Tensors out;
    for (const LocalShape& shape : shapes) out.push_back(share.sum_to_size(shape.on(shard)));
    return out;
  };
}

template <at::Tensor (*f)(const at::Tensor&, const at::Tensor&)>
Kernel folded(const Site&) {
  return of_inputs([](const Tensors& in) {
    at::Tensor result = in[0];
    for (std::size_t i = 1; i < in.size(); ++i) result = f(result, in[i]);
    return result;
  });
}

}  // namespace

KernelTable elementwise_kernels() {
  return {
      {"Abs", unary<at::abs>, binary<abs_slope>},
      {"Add", binary<add>, summed<first_of>},
      {"AddN", sum, summed<first_of>},
      {"And", binary<at::logical_and>},
      {"Cast", cast, cast},
      {"Ceil", unary<at::ceil>},
      {"Clip", clip, clip_grad},
      {"Cos", unary<at::cos>, binary<cos_slope>},
      {"Div", divide},
      {"DivGradA", summed<divide_slope_a>},
      {"DivGradB", summed<divide_slope_b>},
      {"Dropout", dropout, dropout_grad},
      {"Elu", elu, elu_grad},
      {"Equal", binary<at::eq>},
      {"Erf", unary<at::erf>, binary<erf_slope>},
      {"Exp", unary<at::exp>, binary<exp_slope>},
      {"FastGelu", gelu, gelu_grad},
      {"Floor", unary<at::floor>},
      {"Gelu", gelu, gelu_grad},
      {"Greater", binary<at::gt>},
      {"GreaterOrEqual", binary<at::ge>},
      {"HardSigmoid", hard_sigmoid, hard_sigmoid_grad},
      {"HardSwish", unary<at::hardswish>, binary<at::hardswish_backward>},
      {"LeakyRelu", leaky_relu, leaky_relu_grad},
      {"Less", binary<at::lt>},
      {"LessOrEqual", binary<at::le>},
      {"Log", unary<at::log>, binary<log_slope>},
      {"Max", folded<at::maximum>, summed<extreme_slope>},
      {"Mean", mean, mean_grad},
      {"Min", folded<at::minimum>, summed<extreme_slope>},
      {"Mod", modulo},
      {"ModGradA", summed<first_of>},
      {"Mul", binary<at::mul>},
      {"MulGradA", summed<times>},
      {"MulGradB", summed<times>},
      {"Neg", unary<at::neg>, unary<at::neg>},
      {"Not", unary<at::logical_not>},
      {"Or", binary<at::logical_or>},
      {"Pow", binary<at::pow>},
      {"PowGradA", summed<power_slope_a>},
      {"PowGradB", summed<power_slope_b>},
      {"Reciprocal", unary<at::reciprocal>, binary<reciprocal_slope>},
      {"Relu", unary<at::relu>, binary<relu_slope>},
      {"Round", unary<at::round>},
      {"Sigmoid", unary<at::sigmoid>, binary<at::sigmoid_backward>},
      {"Sign", unary<at::sign>},
      {"Silu", unary<at::silu>, binary<at::silu_backward>},
      {"Sin", unary<at::sin>, binary<sin_slope>},
      {"Softplus", unary<softplus>, binary<softplus_slope>},
      {"Sqrt", unary<at::sqrt>, binary<sqrt_slope>},
      {"Sub", binary<subtract>},
      {"SubGradA", summed<first_of>},
      {"SubGradB", summed<negated>},
      {"Sum", sum, summed<first_of>},
      {"Swish", unary<at::silu>, binary<at::silu_backward>},
      {"Tanh", unary<at::tanh>, binary<at::tanh_backward>},
      {"Where", where},
      {"WhereGradA", summed<where_slope_a>},
      {"WhereGradB", summed<where_slope_b>},
  };
}

}  // namespace strato::torch_engine
