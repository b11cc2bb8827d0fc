// The sliding window of a convolution or pooling: ONNX's padding (uneven, "SAME", rounded up) in
// terms of what the library does, which is even padding on both sides.
#pragma once

#include "plugins/engines/torch/kernels/kernel.h"

namespace strato::torch_engine {

struct Window {
  std::vector<std::int64_t> kernel, stride, dilation, begin, end;  // one per spatial axis

  bool symmetric() const { return begin == end; }
  // Returns the padding that the library does itself; uneven padding is done before.
  std::vector<std::int64_t> native_padding() const {
    return symmetric() ? begin : std::vector<std::int64_t>(begin.size(), 0);
  }
  at::Tensor padded(const at::Tensor& x, double value) const;  // when uneven; else x
  Shape padded_shape(Shape x) const;
  at::Tensor cropped(const at::Tensor& x) const;  // undoes padded()
};

// `site` is the forward op. A window that is rounded up (ceil_mode) has its last part as padding at
// the end.
Window window_of(const Site& site, std::vector<std::int64_t> kernel);

}  // namespace strato::torch_engine
