// Ops with a sliding window.
#include <algorithm>
#include <limits>

#include "plugins/engines/torch/kernels/linear.h"

namespace strato::torch_engine {
namespace {

using Numbers = std::vector<std::int64_t>;

// ONNX's padding (uneven, "SAME", rounded up) in terms of what the library does, which is even
// padding on both sides: other padding is done before, and cropped from gradients.
struct Window {
  // `site` is the forward op. A window that is rounded up (ceil_mode) has its last part as padding
  // at the end.
  Window(const Site& site, Numbers kernel_shape);

  at::Tensor padded(const at::Tensor& x, double value) const {
    return even ? x : at::constant_pad_nd(x, pads(1), value);
  }
  at::Tensor cropped(const at::Tensor& x) const {
    return even ? x : at::constant_pad_nd(x, pads(-1), 0);
  }
  Shape padded_shape(Shape x) const {
    for (std::size_t i = 0; !even && i < begin.size(); ++i) x[i + 2] += begin[i] + end[i];
    return x;
  }
  // The padding that the library does itself.
  Numbers padding() const { return even ? begin : Numbers(begin.size(), 0); }
  // As constant_pad_nd wants it: (begin, end) of the last axis first.
  Numbers pads(std::int64_t sign) const {
    Numbers result;
    for (std::size_t i = begin.size(); i-- > 0;)
      result.insert(result.end(), {sign * begin[i], sign * end[i]});
    return result;
  }

  Numbers kernel, stride, dilation, begin, end;  // one per spatial axis
  bool even = true;
};

Window::Window(const Site& site, Numbers kernel_shape)
    : kernel(std::move(kernel_shape)),
      stride(site->integers("strides")),
      dilation(site->integers("dilations")) {
  const std::size_t rank = kernel.size();
  const std::string automatic = site->text("auto_pad", "NOTSET");
  Numbers pads = site->integers("pads");
  stride.resize(rank, 1);
  dilation.resize(rank, 1);
  pads.resize(2 * rank, 0);
  const bool backward = site->type == "ConvTranspose";
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t in = site.in(0)[i + 2], out = site.out()[i + 2];
    const std::int64_t from = backward ? out : in, to = backward ? in : out;
    const std::int64_t reach = dilation[i] * (kernel[i] - 1) + 1;
    std::int64_t first = 0, last = 0;
    if (automatic.starts_with("SAME")) {
      const std::int64_t total = std::max<std::int64_t>((to - 1) * stride[i] + reach - from, 0);
      first = automatic == "SAME_LOWER" ? total - total / 2 : total / 2;
      last = total - first;
    } else if (automatic == "NOTSET") {
      first = pads[i];
      last = pads[i + rank];
    }
    if (site->integer("ceil_mode", 0) != 0)
      last = std::max(last, (out - 1) * stride[i] + reach - in - first);
    begin.push_back(first);
    end.push_back(last);
  }
  even = begin == end;
}

Numbers spatial_axes(const at::Tensor& x) {
  Numbers axes;
  for (std::int64_t i = 2; i < x.dim(); ++i) axes.push_back(i);
  return axes;
}

// ---- Conv, ConvTranspose

struct Convolution {
  explicit Convolution(const Site& site)
      : transposed(site->type == "ConvTranspose"),
        window(site, {site.in(1).begin() + 2, site.in(1).end()}),
        groups(site->integer("group", 1)),
        extra(site->integers("output_padding")) {
    extra.resize(window.kernel.size(), 0);
    if (transposed && !window.even) site.refuse("transposed with uneven padding");
  }

  at::Tensor backward(const at::Tensor& y, const at::Tensor& x, const at::Tensor& w,
                      std::array<bool, 3> wanted) const {
    auto gradients =
        at::convolution_backward(y, x, w, c10::nullopt, window.stride, window.padding(),
                                 window.dilation, transposed, extra, groups, wanted);
    return wanted[0] ? std::get<0>(gradients) : std::get<1>(gradients);
  }

  bool transposed;
  Window window;
  std::int64_t groups;
  Numbers extra;
};

at::Tensor convolution(const Tensors& in, const Convolution& c) {
  const Window& w = c.window;
  return at::convolution(w.padded(in[0], 0), in[1], in.size() > 2 ? in[2] : at::Tensor(), w.stride,
                         w.padding(), w.dilation, c.transposed, c.extra, c.groups);
}

// The library asks for the tensor whose gradient is wanted, of which it reads the shape alone: an
// empty one costs nothing.
at::Tensor convolution_slope_input(const Tensors& in, const Convolution& c, const Shape& to) {
  const at::Tensor x = at::empty(c.window.padded_shape(to), in[0].options());
  return c.window.cropped(c.backward(in[0], x, in[1], {true, false, false}));
}

at::Tensor convolution_slope_weight(const Tensors& in, const Convolution& c, const Shape& to) {
  const at::Tensor w = at::empty(to, in[0].options());
  return c.backward(in[0], c.window.padded(in[1], 0), w, {false, true, false});
}

at::Tensor convolution_slope_bias(const Tensors& in) {
  Numbers axes = spatial_axes(in[0]);
  axes.insert(axes.begin(), 0);
  return in[0].sum(axes);
}

// ---- pooling

constexpr double kLeast = -std::numeric_limits<double>::infinity();

struct Pool {
  explicit Pool(const Site& site)
      : window(site, site->integers("kernel_shape")),
        with_pads(site->integer("count_include_pad", 0) != 0) {
    if (window.kernel.size() != 2) site.refuse("pools over other than two axes");
    window.even = window.even && site->integer("ceil_mode", 0) == 0;
    for (std::size_t i = 0; i < 2; ++i)  // the library's limit on its own padding
      window.even = window.even && 2 * window.begin[i] <= window.kernel[i];
  }

  auto maxima(const at::Tensor& padded_input) const {
    return at::max_pool2d_with_indices(padded_input, window.kernel, window.stride, window.padding(),
                                       window.dilation, false);
  }
  // Sums of each window.
  at::Tensor sums(const at::Tensor& padded_input) const {
    return at::avg_pool2d(padded_input, window.kernel, window.stride, {0, 0}, false, true, 1);
  }
  // Elements of each window that count, where the library cannot count them itself.
  at::Tensor counts(const Shape& input_shape, const at::TensorOptions& options) const {
    const at::Tensor ones = at::ones({1, 1, input_shape[2], input_shape[3]}, options);
    return sums(at::constant_pad_nd(ones, window.pads(1), with_pads ? 1 : 0));
  }

  Window window;
  bool with_pads;
};

at::Tensor max_pool(const Tensors& in, const Pool& p) {
  return std::get<0>(p.maxima(p.window.padded(in[0], kLeast)));
}

Pool maximum_of(const Site& site) {
  if (site.output_count() > 1) site.refuse("returns the places of its maxima");
  return Pool(site);
}

at::Tensor max_pool_slope(const Tensors& in, const Pool& p) {
  const Window& w = p.window;
  const at::Tensor x = w.padded(in[1], kLeast);
  const at::Tensor places = std::get<1>(p.maxima(x));
  return w.cropped(at::max_pool2d_with_indices_backward(in[0], x, w.kernel, w.stride, w.padding(),
                                                        w.dilation, false, places));
}

// `site`: the op or its gradient, which refuses what the library cannot do.
Pool average_of(const Site& site, const Site& forward) {
  Pool pool(forward);
  const bool gaps =
      std::ranges::any_of(pool.window.dilation, [](std::int64_t d) { return d != 1; });
  if (gaps) site.refuse("averages with gaps");
  return pool;
}

at::Tensor average_pool(const Tensors& in, const Pool& p) {
  const Window& w = p.window;
  if (w.even) return at::avg_pool2d(in[0], w.kernel, w.stride, w.padding(), false, p.with_pads);
  return p.sums(w.padded(in[0], 0)).div(p.counts(in[0].sizes().vec(), in[0].options()));
}

at::Tensor average_pool_slope(const Tensors& in, const Pool& p, const Shape& to) {
  const Window& w = p.window;
  const at::Tensor x = at::empty(w.padded_shape(to), in[0].options());  // its shape is read
  if (w.even)
    return at::avg_pool2d_backward(in[0], x, w.kernel, w.stride, w.padding(), false, p.with_pads,
                                   c10::nullopt);
  const at::Tensor shares = in[0].div(p.counts(to, in[0].options()));
  return w.cropped(at::avg_pool2d_backward(shares, x, w.kernel, w.stride, {0, 0}, false, true, 1));
}

Kernel average_pool_kernel(const Site& site) {
  return kernel_of<average_pool>(site, average_of(site, site));
}
Kernel average_pool_grad(const Site& site) {
  return kernel_of<average_pool_slope>(site, average_of(site, site.of_forward()));
}

at::Tensor global_average(const Tensors& in) { return in[0].mean(spatial_axes(in[0]), true); }
at::Tensor global_average_slope(const Tensors& in, const Shape& to) {
  return in[0].div(product(to, 2)).expand(to);
}

at::Tensor global_maximum(const Tensors& in) { return in[0].amax(spatial_axes(in[0]), true); }
at::Tensor global_maximum_slope(const Tensors& in) { return in[1].eq(in[2]).mul(in[0]); }

}  // namespace

KernelTable window_kernels() {
  constexpr KernelMaker forward = with<read<Convolution>, convolution>;
  constexpr KernelMaker grad_input = gradient_with<read<Convolution>, convolution_slope_input>;
  constexpr KernelMaker grad_weight = gradient_with<read<Convolution>, convolution_slope_weight>;
  return {
      {"AveragePool", average_pool_kernel, average_pool_grad},
      {"Conv", forward},
      {"ConvGradBias", plain<convolution_slope_bias>},
      {"ConvGradInput", grad_input},
      {"ConvGradWeight", grad_weight},
      {"ConvTranspose", forward},
      {"ConvTransposeGradBias", plain<convolution_slope_bias>},
      {"ConvTransposeGradInput", grad_input},
      {"ConvTransposeGradWeight", grad_weight},
      {"GlobalAveragePool", plain<global_average>, plain<global_average_slope>},
      {"GlobalMaxPool", plain<global_maximum>, plain<global_maximum_slope>},
      {"MaxPool", with<maximum_of, max_pool>, gradient_with<read<Pool>, max_pool_slope>},
  };
}

}  // namespace strato::torch_engine
