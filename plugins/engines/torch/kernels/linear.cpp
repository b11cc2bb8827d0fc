#include "plugins/engines/torch/kernels/linear.h"

namespace strato::torch_engine {
namespace {

at::Tensor turned_if(bool turn, const at::Tensor& t) {
  return turn && t.dim() >= 2 ? t.transpose(-1, -2) : t;
}

// ---- MatMul, FusedMatMul

// A product with vectors made matrices: a is [.., m, k], b is [.., k, n].
struct Product {
  explicit Product(const Site& site)
      : turn_a(site->integer("transA", 0) != 0),
        turn_b(site->integer("transB", 0) != 0),
        alpha(site->real("alpha", 1)),
        row(site.in(0).size() == 1),
        column(site.in(1).size() == 1) {}

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
  at::Tensor scaled(const at::Tensor& t) const { return alpha == 1 ? t : t.mul(alpha); }

  bool turn_a, turn_b;
  double alpha;
  bool row, column;
};

Kernel matmul(const Site& site) {
  return to_output(site, [p = Product(site)](const Tensors& in, const Shape& to) {
    return p.scaled(at::matmul(p.a(in[0]), p.b(in[1]))).reshape(to);
  });
}

// The shape that `operand`, made a matrix, has before it was turned.
Shape matrix_shape(const Shape& shape, bool vector_is_row) {
  if (shape.size() != 1) return shape;
  return vector_is_row ? Shape{1, shape[0]} : Shape{shape[0], 1};
}

Kernel matmul_grad_a(const Site& site) {
  return to_output(site, [p = Product(site.of_forward())](const Tensors& in, const Shape& to) {
    const at::Tensor gradient = at::matmul(p.y(in[0]), p.b(in[1]).transpose(-1, -2));
    const at::Tensor turned = p.scaled(turned_if(p.turn_a && !p.row, gradient));
    return turned.sum_to_size(matrix_shape(to, true)).reshape(to);
  });
}

Kernel matmul_grad_b(const Site& site) {
  return to_output(site, [p = Product(site.of_forward())](const Tensors& in, const Shape& to) {
    at::Tensor y = p.y(in[0]), a = p.a(in[1]);
    if (to.size() <= 2) {  // one matrix for all: one product over all rows, not a sum of products
      y = y.reshape({-1, y.size(-1)});
      a = a.reshape({-1, a.size(-1)});
    }
    const at::Tensor gradient = at::matmul(a.transpose(-1, -2), y);
    const at::Tensor turned = p.scaled(turned_if(p.turn_b && !p.column, gradient));
    return turned.sum_to_size(matrix_shape(to, false)).reshape(to);
  });
}

// ---- Gemm: alpha * A' * B' + beta * C

struct Gemm {
  explicit Gemm(const Site& site)
      : turn_a(site->integer("transA", 0) != 0),
        turn_b(site->integer("transB", 0) != 0),
        alpha(site->real("alpha", 1)),
        beta(site->real("beta", 1)) {}
  bool turn_a, turn_b;
  double alpha, beta;
};

at::Tensor matrix_product(const at::Tensor& a, const at::Tensor& b, double alpha) {
  const at::Tensor y = at::mm(a, b);
  return alpha == 1 ? y : y.mul(alpha);
}

Kernel gemm(const Site& site) {
  return of_inputs([g = Gemm(site)](const Tensors& in) {
    const at::Tensor a = turned_if(g.turn_a, in[0]), b = turned_if(g.turn_b, in[1]);
    if (in.size() < 3 || !in[2].defined()) return matrix_product(a, b, g.alpha);
    return at::addmm(in[2], a, b, g.beta, g.alpha);
  });
}

Kernel gemm_grad_input(const Site& site) {
  return of_inputs([g = Gemm(site.of_forward())](const Tensors& in) {
    const at::Tensor b = turned_if(!g.turn_b, in[1]);
    return g.turn_a ? matrix_product(b.t(), in[0].t(), g.alpha) : matrix_product(in[0], b, g.alpha);
  });
}

Kernel gemm_grad_weight(const Site& site) {
  return of_inputs([g = Gemm(site.of_forward())](const Tensors& in) {
    const at::Tensor a = turned_if(!g.turn_a, in[1]);
    return g.turn_b ? matrix_product(in[0].t(), a.t(), g.alpha) : matrix_product(a, in[0], g.alpha);
  });
}

Kernel gemm_grad_bias(const Site& site) {
  const double beta = Gemm(site.of_forward()).beta;
  return to_output(site, [beta](const Tensors& in, const Shape& to) {
    return (beta == 1 ? in[0] : in[0].mul(beta)).sum_to_size(to);
  });
}

}  // namespace

KernelTable linear_kernels() {
  return {
      {"FusedMatMul", matmul},
      {"FusedMatMulGradA", matmul_grad_a},
      {"FusedMatMulGradB", matmul_grad_b},
      {"Gemm", gemm},
      {"GemmGradBias", gemm_grad_bias},
      {"GemmGradInput", gemm_grad_input},
      {"GemmGradWeight", gemm_grad_weight},
      {"MatMul", matmul},
      {"MatMulGradA", matmul_grad_a},
      {"MatMulGradB", matmul_grad_b},
  };
}

}  // namespace strato::torch_engine
