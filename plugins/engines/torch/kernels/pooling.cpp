#include "plugins/engines/torch/kernels/pooling.h"

#include <limits>

#include "plugins/engines/torch/kernels/kernel.h"
#include "plugins/engines/torch/kernels/window.h"

namespace strato::torch_engine {
namespace {

struct Pool {
  explicit Pool(const Site& site)
      : window(window_of(site, site->integers("kernel_shape"))),
        with_pads(site->integer("count_include_pad", 0) != 0),
        rounds_up(site->integer("ceil_mode", 0) != 0),
        input(site.local(site.input(0))) {
    if (window.kernel.size() != 2) site.refuse("pools over other than two axes");
    for (std::size_t i = 0; i < 2; ++i) {  // the library's limit on its own padding
      even = even && window.begin[i] == window.end[i] && 2 * window.begin[i] <= window.kernel[i];
    }
    even = even && !rounds_up;
  }

  at::Tensor padded(const at::Tensor& x, double value) const {
    return even ? x : at::constant_pad_nd(x, pads(1), value);
  }
  at::Tensor cropped(const at::Tensor& x) const {
    return even ? x : at::constant_pad_nd(x, pads(-1), 0);
  }
  Shape padded_shape(Shape shape) const {
    for (std::size_t i = 0; !even && i < 2; ++i) shape[i + 2] += window.begin[i] + window.end[i];
    return shape;
  }
  std::vector<std::int64_t> padding() const {
    return even ? window.begin : std::vector<std::int64_t>{0, 0};
  }

  auto maxima(const at::Tensor& padded_input) const {
    return at::max_pool2d_with_indices(padded_input, window.kernel, window.stride, padding(),
                                       window.dilation, false);
  }
  // Elements of each window that count, where the library cannot count them itself.
  at::Tensor counts(const Shape& input_shape, const at::TensorOptions& options) const {
    const at::Tensor ones = at::ones({1, 1, input_shape[2], input_shape[3]}, options);
    return at::avg_pool2d(at::constant_pad_nd(ones, pads(1), with_pads ? 1 : 0), window.kernel,
                          window.stride, {0, 0}, false, true, 1);
  }

  Window window;
  bool with_pads, rounds_up;
  LocalShape input;
  bool even = true;

 private:
  std::vector<std::int64_t> pads(std::int64_t sign) const {
    return {sign * window.begin[1], sign * window.end[1], sign * window.begin[0],
            sign * window.end[0]};
  }
};

Kernel max_pool(const Site& site) {
  if (site.output_count() > 1) site.refuse("returns the places of its maxima");
  return of_inputs([p = Pool(site)](const Tensors& in) {
    return std::get<0>(p.maxima(p.padded(in[0], -std::numeric_limits<double>::infinity())));
  });
}

Kernel max_pool_grad(const Site& site) {
  return of_inputs([p = Pool(site.of_forward())](const Tensors& in) {
    const at::Tensor x = p.padded(in[1], -std::numeric_limits<double>::infinity());
    const at::Tensor places = std::get<1>(p.maxima(x));
    return p.cropped(at::max_pool2d_with_indices_backward(
        in[0], x, p.window.kernel, p.window.stride, p.padding(), p.window.dilation, false, places));
  });
}

void refuse_gaps(const Site& site, const Pool& pool) {
  for (const std::int64_t d : pool.window.dilation) {
    if (d != 1) site.refuse("averages with gaps");
  }
}

Kernel average_pool(const Site& site) {
  const Pool pool(site);
  refuse_gaps(site, pool);
  return of_inputs([p = pool](const Tensors& in) {
    if (p.even) {
      return at::avg_pool2d(in[0], p.window.kernel, p.window.stride, p.padding(), false,
                            p.with_pads);
    }
    const at::Tensor sums = at::avg_pool2d(p.padded(in[0], 0), p.window.kernel, p.window.stride,
                                           {0, 0}, false, true, 1);
    return sums.div(p.counts(in[0].sizes().vec(), in[0].options()));
  });
}

Kernel average_pool_grad(const Site& site) {
  const Pool pool(site.of_forward());
  refuse_gaps(site, pool);
  return [p = pool](const Tensors& in, const Shard& shard) {
    const Shape shape = p.input.on(shard);
    const at::Tensor x = at::empty(p.padded_shape(shape), in[0].options());  // its shape is read
    if (p.even) {
      return Tensors{at::avg_pool2d_backward(in[0], x, p.window.kernel, p.window.stride,
                                             p.padding(), false, p.with_pads, c10::nullopt)};
    }
    const at::Tensor shares = in[0].div(p.counts(shape, in[0].options()));
    return Tensors{p.cropped(at::avg_pool2d_backward(shares, x, p.window.kernel, p.window.stride,
                                                     {0, 0}, false, true, 1))};
  };
}

std::vector<std::int64_t> spatial_axes(const at::Tensor& x) {
  std::vector<std::int64_t> axes;
  for (std::int64_t i = 2; i < x.dim(); ++i) axes.push_back(i);
  return axes;
}

Kernel global_average(const Site&) {
  return of_inputs([](const Tensors& in) { return in[0].mean(spatial_axes(in[0]), true); });
}

Kernel global_average_grad(const Site& site) {
  return [shape = site.local_out()](const Tensors& in, const Shard& shard) {
    const Shape to = shape.on(shard);
    const double count = product(to, 2);
    return Tensors{in[0].div(count).expand(to)};
  };
}

Kernel global_maximum(const Site&) {
  return of_inputs([](const Tensors& in) { return in[0].amax(spatial_axes(in[0]), true); });
}

Kernel global_maximum_grad(const Site&) {
  return of_inputs([](const Tensors& in) { return in[1].eq(in[2]).mul(in[0]); });
}

}  // namespace

KernelTable pooling_kernels() {
  return {
      {"AveragePool", average_pool},
      {"AveragePoolGrad", average_pool_grad},
      {"GlobalAveragePool", global_average},
      {"GlobalAveragePoolGrad", global_average_grad},
      {"GlobalMaxPool", global_maximum},
      {"GlobalMaxPoolGrad", global_maximum_grad},
      {"MaxPool", max_pool},
      {"MaxPoolGrad", max_pool_grad},
  };
}

}  // namespace strato::torch_engine
