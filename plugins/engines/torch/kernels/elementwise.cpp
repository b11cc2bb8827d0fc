#include "plugins/engines/torch/kernels/elementwise.h"

#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "plugins/engines/torch/values/made_elements.h"
#include "plugins/engines/torch/values/stored.h"

namespace strato::torch_engine {
namespace {

template <at::Tensor (*f)(const at::Tensor&)>
Kernel unary(const Site&) {
  return [](const Tensors& in, const Shard&) { return Tensors{f(in[0])}; };
}
template <at::Tensor (*f)(const at::Tensor&, const at::Tensor&)>
Kernel binary(const Site&) {
  return [](const Tensors& in, const Shard&) { return Tensors{f(in[0], in[1])}; };
}

// ---- one tensor; a slope makes the gradient from the output's gradient and one saved tensor

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
at::Tensor softplus_slope(const at::Tensor& dy, const at::Tensor& x) { return dy.mul(x.sigmoid()); }
at::Tensor softplus(const at::Tensor& x) { return at::softplus(x); }

std::string gelu_form(const Site& site) {
  return site->type.starts_with("FastGelu") ? "tanh" : site->text("approximate", "none");
}
at::Tensor gelu(const Tensors& in, const std::string& form) { return at::gelu(in[0], form); }
at::Tensor gelu_slope(const Tensors& in, const std::string& form) {
  return at::gelu_backward(in[0], in[1], form);
}

// x * sigmoid(alpha * x), of com.microsoft
double quick_gelu_alpha(const Site& site) { return site->real("alpha", 1.702); }
at::Tensor quick_gelu(const Tensors& in, double alpha) {
  return in[0].mul(alpha).sigmoid_().mul_(in[0]);
}
at::Tensor quick_gelu_slope(const Tensors& in, double alpha) {
  return at::silu_backward(in[0], in[1].mul(alpha));
}

double leaky_alpha(const Site& site) { return site->real("alpha", 0.01); }
at::Tensor leaky_relu(const Tensors& in, double alpha) { return at::leaky_relu(in[0], alpha); }
at::Tensor leaky_relu_slope(const Tensors& in, double alpha) {
  return at::leaky_relu_backward(in[0], in[1], alpha, true);
}

double elu_alpha(const Site& site) { return site->real("alpha", 1); }
at::Tensor elu(const Tensors& in, double alpha) { return at::elu(in[0], alpha); }
at::Tensor elu_slope(const Tensors& in, double alpha) {
  return at::elu_backward(in[0], alpha, 1, 1, true, in[1]);
}

struct HardSigmoid {  // max(0, min(1, alpha * x + beta))
  explicit HardSigmoid(const Site& site)
      : alpha(site->real("alpha", 0.2)), beta(site->real("beta", 0.5)) {}
  at::Tensor line(const at::Tensor& x) const { return x.mul(alpha).add_(beta); }
  double alpha, beta;
};
at::Tensor hard_sigmoid(const Tensors& in, const HardSigmoid& h) {
  return h.line(in[0]).clamp_(0, 1);
}
at::Tensor hard_sigmoid_slope(const Tensors& in, const HardSigmoid& h) {
  const at::Tensor line = h.line(in[1]);
  return in[0].mul(line.gt(0).logical_and_(line.lt(1))).mul_(h.alpha);
}

struct Limits {
  explicit Limits(const Site& site)
      : low(site.setting("min", 1, -std::numeric_limits<double>::infinity())),
        high(site.setting("max", 2, std::numeric_limits<double>::infinity())) {}
  double low, high;
};
at::Tensor clip(const Tensors& in, const Limits& l) { return in[0].clamp(l.low, l.high); }
at::Tensor clip_slope(const Tensors& in, const Limits& l) {
  return in[1].ge(l.low).logical_and_(in[1].le(l.high)).mul(in[0]);
}

at::ScalarType made_type(const Site& site) { return scalar_type(site.output(0).type); }
at::Tensor cast(const Tensors& in, at::ScalarType type) { return in[0].to(type); }

// ---- dropout

double drop_ratio(const Site& site) {
  const double ratio = site.setting("ratio", 1, 0.5);
  if (!(ratio >= 0 && ratio < 1)) site.refuse("drops a share that is not from 0 to below 1");
  return ratio;
}

Tensors kept_all(const Tensors& in) {
  return {in[0], at::ones_like(in[0], in[0].options().dtype(at::kBool))};
}

// A part of a split op has its slice of the mask that all of the op has.
Kernel dropout(const Site& site) {
  if (!site.graph().is_training())
    return site.output_count() > 1 ? plain<kept_all>(site) : plain<first_of>(site);
  Tensor whole = site.input(0);
  const std::vector<AxisPart> parts(site.parts().begin(), site.parts().end());
  for (const AxisPart& part : parts) whole.shape[static_cast<std::size_t>(part.axis)] = part.extent;
  return [ratio = drop_ratio(site), noise = Noise(whole, site.graph().batch(), site->name),
          shape = site.local(whole), parts](const Tensors& in, const Shard& shard) {
    at::Tensor mask = at::empty(shape.on(shard), at::TensorOptions().dtype(at::kBool));
    noise.keep_mask(shard, ratio, mask.data_ptr<bool>());
    for (const AxisPart& part : parts) mask = mask.narrow(part.axis, part.begin, part.size());
    mask = mask.contiguous();
    return Tensors{in[0].mul(mask).mul_(1 / (1 - ratio)), mask};
  };
}

at::Tensor dropout_slope(const Tensors& in, double ratio) {
  return in[0].mul(in[1]).mul_(1 / (1 - ratio));
}

// ---- two tensors

at::Tensor add(const at::Tensor& a, const at::Tensor& b) { return at::add(a, b); }
at::Tensor subtract(const at::Tensor& a, const at::Tensor& b) { return at::sub(a, b); }

at::Tensor whole_quotient(const Tensors& in) { return at::div(in[0], in[1], "trunc"); }
Kernel divide(const Site& site) {
  return is_floating(site.output(0).type) ? binary<at::div>(site) : plain<whole_quotient>(site);
}

Kernel modulo(const Site& site) {
  return site->integer("fmod", 0) != 0 ? binary<at::fmod>(site) : binary<at::remainder>(site);
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
at::Tensor where_slope_b(const Tensors& in) { return in[1].logical_not().mul(in[0]); }

at::Tensor where(const Tensors& in) { return at::where(in[0], in[1], in[2]); }

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

at::Tensor mean_of(const Tensors& in) { return sum_of(in).div_(static_cast<double>(in.size())); }

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
at::Tensor folded(const Tensors& in) {
  return std::accumulate(in.begin() + 1, in.end(), in[0], f);
}

// ---- optimizer updates, in place on the parameter and its state: parameter, gradient, state

constexpr double kMomentum = 0.9;
constexpr double kBeta1 = 0.9, kBeta2 = 0.999, kEpsilon = 1e-8;

template <void (*f)(const Tensors&, const Shard&)>
Kernel update(const Site&) {
  return [](const Tensors& in, const Shard& shard) {
    f(in, shard);
    return Tensors();
  };
}

void sgd(const Tensors& in, const Shard& shard) { in[0].sub_(in[1], shard.learning_rate); }

void momentum(const Tensors& in, const Shard& shard) {
  in[2].mul_(kMomentum).add_(in[1]);
  in[0].sub_(in[2], shard.learning_rate);
}

// Kingma and Ba: Adam, 2015, Algorithm 1.
void adam(const Tensors& in, const Shard& shard) {
  const at::Tensor &gradient = in[1], &mean = in[2], &square = in[3];
  const auto step = static_cast<double>(shard.step);
  mean.lerp_(gradient, 1 - kBeta1);
  square.mul_(kBeta2).addcmul_(gradient, gradient, 1 - kBeta2);
  const double correction = std::sqrt(1 - std::pow(kBeta2, step));
  const at::Tensor scale = square.sqrt().div_(correction).add_(kEpsilon);
  in[0].addcdiv_(mean, scale, -shard.learning_rate / (1 - std::pow(kBeta1, step)));
}

}  // namespace

KernelTable elementwise_kernels() {
  return {
      {"Abs", unary<at::abs>, binary<abs_slope>},
      {"Add", binary<add>, summed<first_of>},
      {"AddN", plain<sum_of>, summed<first_of>},
      {"ApplyAdam", update<adam>},
      {"ApplyMomentum", update<momentum>},
      {"ApplySgd", update<sgd>},
      {"And", binary<at::logical_and>},
      {"Cast", with<made_type, cast>, with<made_type, cast>},
      {"Ceil", unary<at::ceil>},
      {"Clip", with<read<Limits>, clip>, gradient_with<read<Limits>, clip_slope>},
      {"Cos", unary<at::cos>, binary<cos_slope>},
      {"Div", divide},
      {"DivGradA", summed<divide_slope_a>},
      {"DivGradB", summed<divide_slope_b>},
      {"Dropout", dropout, gradient_with<drop_ratio, dropout_slope>},
      {"Elu", with<elu_alpha, elu>, with<elu_alpha, elu_slope>},
      {"Equal", binary<at::eq>},
      {"Erf", unary<at::erf>, binary<erf_slope>},
      {"Exp", unary<at::exp>, binary<at::mul>},
      {"FastGelu", with<gelu_form, gelu>, with<gelu_form, gelu_slope>},
      {"Floor", unary<at::floor>},
      {"Gelu", with<gelu_form, gelu>, with<gelu_form, gelu_slope>},
      {"Greater", binary<at::gt>},
      {"GreaterOrEqual", binary<at::ge>},
      {"HardSigmoid", with<read<HardSigmoid>, hard_sigmoid>,
       with<read<HardSigmoid>, hard_sigmoid_slope>},
      {"HardSwish", unary<at::hardswish>, binary<at::hardswish_backward>},
      {"LeakyRelu", with<leaky_alpha, leaky_relu>, with<leaky_alpha, leaky_relu_slope>},
      {"Less", binary<at::lt>},
      {"LessOrEqual", binary<at::le>},
      {"Log", unary<at::log>, binary<at::div>},
      {"Max", plain<folded<at::maximum>>, summed<extreme_slope>},
      {"Mean", plain<mean_of>, mean_grad},
      {"Min", plain<folded<at::minimum>>, summed<extreme_slope>},
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
      {"QuickGelu", with<quick_gelu_alpha, quick_gelu>, with<quick_gelu_alpha, quick_gelu_slope>},
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
      {"Sum", plain<sum_of>, summed<first_of>},
      {"Swish", unary<at::silu>, binary<at::silu_backward>},
      {"Tanh", unary<at::tanh>, binary<at::tanh_backward>},
      {"Where", plain<where>},
      {"WhereGradA", summed<times>},
      {"WhereGradB", summed<where_slope_b>},
  };
}

}  // namespace strato::torch_engine
