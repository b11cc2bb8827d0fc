#include "plugins/engines/torch/kernels/window.h"

#include <algorithm>

namespace strato::torch_engine {
namespace {

// Returns the padding as constant_pad_nd wants it: (begin, end) of the last axis first.
std::vector<std::int64_t> from_last(const Window& window, std::int64_t sign) {
  std::vector<std::int64_t> pads;
  for (std::size_t i = window.begin.size(); i-- > 0;) {
    pads.push_back(sign * window.begin[i]);
    pads.push_back(sign * window.end[i]);
  }
  return pads;
}

std::vector<std::int64_t> or_ones(std::vector<std::int64_t> values, std::size_t count) {
  values.resize(count, 1);
  return values;
}

}  // namespace

at::Tensor Window::padded(const at::Tensor& x, double value) const {
  return symmetric() ? x : at::constant_pad_nd(x, from_last(*this, 1), value);
}

Shape Window::padded_shape(Shape x) const {
  for (std::size_t i = 0; !symmetric() && i < begin.size(); ++i) x[i + 2] += begin[i] + end[i];
  return x;
}

at::Tensor Window::cropped(const at::Tensor& x) const {
  return symmetric() ? x : at::constant_pad_nd(x, from_last(*this, -1), 0);
}

Window window_of(const Site& site, std::vector<std::int64_t> kernel) {
  const std::size_t rank = kernel.size();
  Window w{std::move(kernel),
           or_ones(site->integers("strides"), rank),
           or_ones(site->integers("dilations"), rank),
           {},
           {}};
  const std::string automatic = site->text("auto_pad", "NOTSET");
  auto pads = site->integers("pads");
  pads.resize(2 * rank, 0);
  const bool backward = site->type == "ConvTranspose";
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t in = site.in(0)[i + 2], out = site.out()[i + 2];
    const std::int64_t from = backward ? out : in, to = backward ? in : out;
    const std::int64_t reach = w.dilation[i] * (w.kernel[i] - 1) + 1;
    std::int64_t first = 0, last = 0;
    if (automatic.starts_with("SAME")) {
      const std::int64_t total = std::max<std::int64_t>((to - 1) * w.stride[i] + reach - from, 0);
      first = automatic == "SAME_LOWER" ? total - total / 2 : total / 2;
      last = total - first;
    } else if (automatic == "NOTSET") {
      first = pads[i];
      last = pads[i + rank];
    }
    if (site->integer("ceil_mode", 0) != 0) {
      last = std::max(last, (out - 1) * w.stride[i] + reach - in - first);
    }
    w.begin.push_back(first);
    w.end.push_back(last);
  }
  return w;
}

}  // namespace strato::torch_engine
