#include "plugins/engines/torch/kernels/movement.h"

#include <algorithm>

#include "core/graph/rules/op_rule.h"
#include "plugins/engines/torch/kernels/kernel.h"

namespace strato::torch_engine {
namespace {

// ---- views

Kernel view(const Site& site) {
  return to_output(site, [](const Tensors& in, const Shape& to) { return in[0].view(to); });
}

// ---- transposes, broadcasts

std::vector<std::int64_t> permutation_of(const Site& forward) {
  auto permutation = forward->integers("perm");
  const auto rank = static_cast<std::int64_t>(forward.in(0).size());
  for (std::int64_t i = rank; permutation.size() < forward.in(0).size();)
    permutation.push_back(--i);
  return permutation;
}

Kernel permuted(std::vector<std::int64_t> permutation) {
  return of_inputs([permutation = std::move(permutation)](const Tensors& in) {
    return in[0].permute(permutation).contiguous();
  });
}

Kernel transpose(const Site& site) { return permuted(permutation_of(site)); }

Kernel transpose_grad(const Site& site) {
  const auto permutation = permutation_of(site.of_forward());
  std::vector<std::int64_t> inverse(permutation.size());
  for (std::size_t i = 0; i < permutation.size(); ++i) {
    inverse[static_cast<std::size_t>(permutation[i])] = static_cast<std::int64_t>(i);
  }
  return permuted(std::move(inverse));
}

Kernel expand(const Site& site) {
  return to_output(
      site, [](const Tensors& in, const Shape& to) { return in[0].expand(to).contiguous(); });
}

Kernel tile(const Site& site) {
  const auto repeats = site.list("repeats", 1);
  if (!repeats) site.refuse("its repeats are not constant");
  return of_inputs([times = *repeats](const Tensors& in) { return in[0].repeat(times); });
}

// ---- joining and cutting

Kernel concat(const Site& site) {
  const int axis = site.axis("axis", 0, site.out().size());
  return of_inputs([axis](const Tensors& in) { return at::cat(in, axis); });
}

// Cuts the gradient into the wanted inputs' parts, each from where it begins along the axis.
Kernel concat_grad(const Site& site) {
  const Site forward = site.of_forward();
  const int axis = forward.axis("axis", 0, forward.out().size());
  std::vector<std::pair<std::int64_t, std::int64_t>> parts;
  for (const std::int64_t wanted : site.wrt()) {
    std::int64_t begin = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(wanted); ++i) {
      begin += extent(forward.in(i), axis);
    }
    parts.emplace_back(begin, extent(forward.in(static_cast<std::size_t>(wanted)), axis));
  }
  return [axis, parts](const Tensors& in, const Shard&) {
    Tensors out;
    for (const auto& [begin, length] : parts)
      out.push_back(in[0].narrow(axis, begin, length).contiguous());
    return out;
  };
}

Kernel split(const Site& site) {
  const int axis = site.axis("axis", 0, site.in(0).size());
  std::vector<std::int64_t> sizes;
  for (std::size_t i = 0; i < site.output_count(); ++i) sizes.push_back(extent(site.out(i), axis));
  return [axis, sizes](const Tensors& in, const Shard&) {
    Tensors out;
    for (const at::Tensor& part : in[0].split_with_sizes(sizes, axis))
      out.push_back(part.contiguous());
    return out;
  };
}

Kernel split_grad(const Site& site) {
  const Site forward = site.of_forward();
  if (site.input_count() != forward.output_count()) {
    site.refuse("some parts of the split have no gradient");
  }
  const int axis = forward.axis("axis", 0, forward.in(0).size());
  return of_inputs([axis](const Tensors& in) { return at::cat(in, axis); });
}

struct Slices {
  explicit Slices(const Site& forward) {
    const auto starts = forward.list("starts", 1), ends = forward.list("ends", 2);
    const auto given = forward.list("axes", 3), given_steps = forward.list("steps", 4);
    if (!starts || !ends) forward.refuse("its limits are not constant");
    for (std::size_t i = 0; i < starts->size(); ++i) {
      const std::int64_t axis = given ? given->at(i) : static_cast<std::int64_t>(i);
      axes.push_back(wrap_axis(axis, forward.in(0).size()));
      steps.push_back(given_steps ? given_steps->at(i) : 1);
      if (steps.back() < 1) forward.refuse("steps backwards");
    }
    begin = *starts;
    end = *ends;
  }
  at::Tensor of(at::Tensor t) const {
    for (std::size_t i = 0; i < axes.size(); ++i) t = t.slice(axes[i], begin[i], end[i], steps[i]);
    return t;
  }
  std::vector<std::int64_t> axes, begin, end, steps;
};

Kernel slice(const Site& site) {
  return of_inputs([s = Slices(site)](const Tensors& in) { return s.of(in[0]).contiguous(); });
}

Kernel slice_grad(const Site& site) {
  return to_output(site, [s = Slices(site.of_forward())](const Tensors& in, const Shape& to) {
    at::Tensor gradient = at::zeros(to, in[0].options());
    s.of(gradient).copy_(in[0]);
    return gradient;
  });
}

// (begin, end) of the last axis first, as the library wants them.
std::vector<std::int64_t> pads_of(const Site& forward, std::int64_t sign) {
  if (forward->text("mode", "constant") != "constant") forward.refuse("pads with other elements");
  const auto pads = forward.list("pads", 1);
  const std::size_t rank = forward.in(0).size();
  if (!pads || pads->size() != 2 * rank) forward.refuse("its padding is not constant");
  std::vector<std::int64_t> result;
  for (std::size_t i = rank; i-- > 0;) {
    result.push_back(sign * pads->at(i));
    result.push_back(sign * pads->at(i + rank));
  }
  return result;
}

Kernel pad(const Site& site) {
  return of_inputs([pads = pads_of(site, 1), value = site.setting("value", 2, 0)](
                       const Tensors& in) { return at::constant_pad_nd(in[0], pads, value); });
}

Kernel pad_grad(const Site& site) {
  return of_inputs([pads = pads_of(site.of_forward(), -1)](const Tensors& in) {
    return at::constant_pad_nd(in[0], pads, 0);
  });
}

// ---- by index

// Indices count from the back where negative; those of the data set are within range.
struct Lookup {
  explicit Lookup(const Site& forward)
      : axis(forward.axis("axis", 0, forward.in(0).size())),
        extent(strato::extent(forward.in(0), axis)),
        wraps(forward.input(1).role != TensorRole::Input) {}

  at::Tensor flat(const at::Tensor& indices) const {
    const at::Tensor all = indices.flatten().to(at::kLong);
    return wraps ? at::where(all.lt(0), all.add(extent), all) : all;
  }

  int axis;
  std::int64_t extent;
  bool wraps;
};

Kernel gather(const Site& site) {
  return to_output(site, [l = Lookup(site)](const Tensors& in, const Shape& to) {
    return in[0].index_select(l.axis, l.flat(in[1])).view(to);
  });
}

Kernel gather_grad(const Site& site) {
  return to_output(site, [l = Lookup(site.of_forward())](const Tensors& in, const Shape& to) {
    const at::Tensor indices = l.flat(in[1]);
    if (l.axis == 0) {
      const at::Tensor rows = in[0].reshape({indices.numel(), -1});
      return at::embedding_dense_backward(rows, indices, l.extent, -1, false).view(to);
    }
    Shape flat = to;
    flat[static_cast<std::size_t>(l.axis)] = indices.numel();
    const at::Tensor zeros = at::zeros(to, in[0].options());
    return zeros.index_add(l.axis, indices, in[0].reshape(flat));
  });
}

Kernel gather_elements(const Site& site) {
  return of_inputs([axis = site.axis("axis", 0, site.in(0).size())](const Tensors& in) {
    return in[0].gather(axis, in[1].to(at::kLong));
  });
}

Kernel gather_elements_grad(const Site& site) {
  const Site forward = site.of_forward();
  const int axis = forward.axis("axis", 0, forward.in(0).size());
  return to_output(site, [axis](const Tensors& in, const Shape& to) {
    return at::zeros(to, in[0].options()).scatter_add_(axis, in[1].to(at::kLong), in[0]);
  });
}

// ---- reductions

std::vector<std::int64_t> axes_of(const Site& forward) {
  if (forward.has_input(1) && !forward.constant(1)) forward.refuse("its axes are not constant");
  const auto axes = reduced_axes(forward);
  return {axes.begin(), axes.end()};
}

enum class Reduce { Sum, Mean, Max, Min };

template <Reduce kind>
Kernel reduction(const Site& site) {
  const bool keep = site->integer("keepdims", 1) != 0;
  return of_inputs([axes = axes_of(site), keep](const Tensors& in) {
    if (axes.empty()) return in[0];
    if (kind == Reduce::Sum) return in[0].sum(axes, keep);
    if (kind == Reduce::Mean) return in[0].mean(axes, keep);
    return kind == Reduce::Max ? in[0].amax(axes, keep) : in[0].amin(axes, keep);
  });
}

// A reduced tensor with its axes back, each of extent one.
at::Tensor with_axes(const at::Tensor& t, const std::vector<std::int64_t>& axes, Shape full) {
  for (const std::int64_t axis : axes) full[static_cast<std::size_t>(axis)] = 1;
  return t.reshape(full);
}

Kernel sum_grad(const Site& site) {
  const Site forward = site.of_forward();
  const bool mean = forward->type == "ReduceMean";
  const std::vector<std::int64_t> axes = axes_of(forward);
  // Of the whole tensor, also on a part of it: a mean over the batch is not split.
  double count = 1;
  for (const std::int64_t axis : axes) count *= static_cast<double>(extent(forward.in(0), axis));
  return to_output(site, [axes, mean, count](const Tensors& in, const Shape& to) {
    at::Tensor dy = with_axes(in[0], axes, to);
    if (mean) dy = dy.div(count);
    return dy.expand(to).contiguous();
  });
}

Kernel reduced_extreme_grad(const Site& site) {  // dy, input, output
  return of_inputs([axes = axes_of(site.of_forward())](const Tensors& in) {
    const Shape to = in[1].sizes().vec();
    return in[1].eq(with_axes(in[2], axes, to)).mul(with_axes(in[0], axes, to));
  });
}

template <bool largest>
Kernel place_of_extreme(const Site& site) {
  const int axis = site.axis("axis", 0, site.in(0).size());
  const bool keep = site->integer("keepdims", 1) != 0;
  return of_inputs([axis, keep](const Tensors& in) {
    return largest ? in[0].argmax(axis, keep) : in[0].argmin(axis, keep);
  });
}

}  // namespace

KernelTable movement_kernels() {
  return {
      {"ArgMax", place_of_extreme<true>},
      {"ArgMin", place_of_extreme<false>},
      {"Concat", concat, concat_grad},
      {"Expand", expand, summed<first_of>},
      {"Flatten", view, view},
      {"Gather", gather, gather_grad},
      {"GatherElements", gather_elements, gather_elements_grad},
      {"Identity", view},
      {"NoOp", view},
      {"Pad", pad, pad_grad},
      {"ReduceMax", reduction<Reduce::Max>, reduced_extreme_grad},
      {"ReduceMean", reduction<Reduce::Mean>, sum_grad},
      {"ReduceMin", reduction<Reduce::Min>, reduced_extreme_grad},
      {"ReduceSum", reduction<Reduce::Sum>, sum_grad},
      {"Reshape", view, view},
      {"Slice", slice, slice_grad},
      {"Split", split, split_grad},
      {"Squeeze", view, view},
      {"Tile", tile},
      {"Transpose", transpose, transpose_grad},
      {"Unsqueeze", view, view},
  };
}

}  // namespace strato::torch_engine
