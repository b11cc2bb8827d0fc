#include "plugins/engines/torch/kernels/linear.h"

namespace strato::torch_engine {
namespace {

at::Tensor turned_if(bool turn, const at::Tensor& t) {
  return turn && t.dim() >= 2 ? t.transpose(-1, -2) : t;
}

// What products have in common: alpha * A' * B', where a matrix may be turned.
struct Factors {
  explicit Factors(const Site& site)
      : turn_a(site->integer("transA", 0) != 0),
        turn_b(site->integer("transB", 0) != 0),
        alpha(site->real("alpha", 1)) {}
  at::Tensor scaled(const at::Tensor& t) const { return alpha == 1 ? t : t.mul(alpha); }

  bool turn_a, turn_b;
  double alpha;
};

// ---- MatMul, FusedMatMul

// A product with vectors made matrices: a is [.., m, k], b is [.., k, n].
struct Product : Factors {
  explicit Product(const Site& site)
      : Factors(site), row(site.in(0).size() == 1), column(site.in(1).size() == 1) {}

  at::Tensor a(const at::Tensor& t) const { return row ? t.unsqueeze(0) : turned_if(turn_a, t); }
  at::Tensor b(const at::Tensor& t) const {
    return column ? t.unsqueeze(-1) : turned_if(turn_b, t);
  }
  // The output's gradient with the axes that vectors lack.
  at::Tensor y(at::Tensor t) const {
    if (column) t = t.unsqueeze(-1);
    if (row) t = t.unsqueeze(-2);
    return t;
  }

  bool row, column;
};

at::Tensor matmul(const Tensors& in, const Product& p, const Shape& to) {
  return p.scaled(at::matmul(p.a(in[0]), p.b(in[1]))).reshape(to);
}

// The shape that `operand`, made a matrix, has before it was turned.
Shape matrix_shape(const Shape& shape, bool vector_is_row) {
  if (shape.size() != 1) return shape;
  return vector_is_row ? Shape{1, shape[0]} : Shape{shape[0], 1};
}

at::Tensor matmul_slope_a(const Tensors& in, const Product& p, const Shape& to) {
  const at::Tensor gradient = at::matmul(p.y(in[0]), p.b(in[1]).transpose(-1, -2));
  const at::Tensor turned = p.scaled(turned_if(p.turn_a && !p.row, gradient));
  return turned.sum_to_size(matrix_shape(to, true)).reshape(to);
}

at::Tensor matmul_slope_b(const Tensors& in, const Product& p, const Shape& to) {
  at::Tensor y = p.y(in[0]), a = p.a(in[1]);
  if (to.size() <= 2) {  // one matrix for all: one product over all rows, not a sum of products
    y = y.reshape({-1, y.size(-1)});
    a = a.reshape({-1, a.size(-1)});
  }
  const at::Tensor gradient = at::matmul(a.transpose(-1, -2), y);
  const at::Tensor turned = p.scaled(turned_if(p.turn_b && !p.column, gradient));
  return turned.sum_to_size(matrix_shape(to, false)).reshape(to);
}

// ---- Gemm: alpha * A' * B' + beta * C

struct Gemm : Factors {
  explicit Gemm(const Site& site) : Factors(site), beta(site->real("beta", 1)) {}
  at::Tensor product(const at::Tensor& a, const at::Tensor& b) const {
    return scaled(at::mm(a, b));
  }

  double beta;
};

at::Tensor gemm(const Tensors& in, const Gemm& g) {
  const at::Tensor a = turned_if(g.turn_a, in[0]), b = turned_if(g.turn_b, in[1]);
  if (in.size() < 3 || !in[2].defined()) return g.product(a, b);
  return at::addmm(in[2], a, b, g.beta, g.alpha);
}

at::Tensor gemm_slope_input(const Tensors& in, const Gemm& g) {
  const at::Tensor b = turned_if(!g.turn_b, in[1]);
  return g.turn_a ? g.product(b.t(), in[0].t()) : g.product(in[0], b);
}

at::Tensor gemm_slope_weight(const Tensors& in, const Gemm& g) {
  const at::Tensor a = turned_if(!g.turn_a, in[1]);
  return g.turn_b ? g.product(in[0].t(), a.t()) : g.product(a, in[0]);
}

at::Tensor gemm_slope_bias(const Tensors& in, const Gemm& g, const Shape& to) {
  return (g.beta == 1 ? in[0] : in[0].mul(g.beta)).sum_to_size(to);
}

}  // namespace

KernelTable linear_kernels() {
  constexpr KernelMaker matmul_maker = with<read<Product>, matmul>;
  constexpr KernelMaker grad_a = gradient_with<read<Product>, matmul_slope_a>;
  constexpr KernelMaker grad_b = gradient_with<read<Product>, matmul_slope_b>;
  return {
      {"FusedMatMul", matmul_maker},
      {"FusedMatMulGradA", grad_a},
      {"FusedMatMulGradB", grad_b},
      {"Gemm", with<read<Gemm>, gemm>},
      {"GemmGradBias", gradient_with<read<Gemm>, gemm_slope_bias>},
      {"GemmGradInput", gradient_with<read<Gemm>, gemm_slope_input>},
      {"GemmGradWeight", gradient_with<read<Gemm>, gemm_slope_weight>},
      {"MatMul", matmul_maker},
      {"MatMulGradA", grad_a},
      {"MatMulGradB", grad_b},
  };
}

}  // namespace strato::torch_engine
