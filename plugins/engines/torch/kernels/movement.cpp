#include "plugins/engines/torch/kernels/movement.h"

#include "core/graph/rules/op_rule.h"

namespace strato::torch_engine {
namespace {

// ---- views

at::Tensor view(const Tensors& in, const Shape& to) { return in[0].view(to); }

// ---- transposes, broadcasts

std::vector<std::int64_t> permutation_of(const Site& forward) {
  auto permutation = forward->integers("perm");
  const auto rank = static_cast<std::int64_t>(forward.in(0).size());
  for (std::int64_t i = rank; permutation.size() < forward.in(0).size();)
    permutation.push_back(--i);
  return permutation;
}

at::Tensor permuted(const Tensors& in, const std::vector<std::int64_t>& permutation) {
  return in[0].permute(permutation).contiguous();
}

Kernel transpose_grad(const Site& site) {
  const auto permutation = permutation_of(site.of_forward());
  std::vector<std::int64_t> inverse(permutation.size());
  for (std::size_t i = 0; i < permutation.size(); ++i)
    inverse[static_cast<std::size_t>(permutation[i])] = static_cast<std::int64_t>(i);
  return kernel_of<permuted>(site, std::move(inverse));
}

at::Tensor expand(const Tensors& in, const Shape& to) { return in[0].expand(to).contiguous(); }

std::vector<std::int64_t> repeats_of(const Site& site) {
  const auto repeats = site.list("repeats", 1);
  if (!repeats) site.refuse("its repeats are not constant");
  return *repeats;
}
at::Tensor tile(const Tensors& in, const std::vector<std::int64_t>& times) {
  return in[0].repeat(times);
}

// ---- joining and cutting

int joined_axis(const Site& site) { return site.axis("axis", 0, site.out().size()); }
int read_axis(const Site& site) { return site.axis("axis", 0, site.in(0).size()); }

at::Tensor concat(const Tensors& in, int axis) { return at::cat(in, axis); }

using Extents = std::vector<std::pair<std::int64_t, std::int64_t>>;  // begin and length
Tensors cut(const Tensors& in, int axis, const Extents& parts) {
  Tensors out;
  for (const auto& [begin, length] : parts)
    out.push_back(in[0].narrow(axis, begin, length).contiguous());
  return out;
}

// Cuts the gradient into the wanted inputs' parts, each from where it begins along the axis.
Kernel concat_grad(const Site& site) {
  const Site forward = site.of_forward();
  const int axis = joined_axis(forward);
  Extents parts;
  for (const std::int64_t wanted : site.wrt()) {
    std::int64_t begin = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(wanted); ++i)
      begin += extent(forward.in(i), axis);
    parts.emplace_back(begin, extent(forward.in(static_cast<std::size_t>(wanted)), axis));
  }
  return kernel_of<cut>(site, axis, std::move(parts));
}

Kernel split(const Site& site) {
  const int axis = read_axis(site);
  Extents parts;
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < site.output_count(); ++i) {
    parts.emplace_back(begin, extent(site.out(i), axis));
    begin += parts.back().second;
  }
  return kernel_of<cut>(site, axis, std::move(parts));
}

Kernel split_grad(const Site& site) {
  const Site forward = site.of_forward();
  if (site.input_count() != forward.output_count())
    site.refuse("some parts of the split have no gradient");
  return kernel_of<concat>(site, read_axis(forward));
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

at::Tensor slice(const Tensors& in, const Slices& s) { return s.of(in[0]).contiguous(); }

at::Tensor slice_slope(const Tensors& in, const Slices& s, const Shape& to) {
  at::Tensor gradient = at::zeros(to, in[0].options());
  s.of(gradient).copy_(in[0]);
  return gradient;
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

at::Tensor padded(const Tensors& in, const std::vector<std::int64_t>& pads, double value) {
  return at::constant_pad_nd(in[0], pads, value);
}

Kernel pad(const Site& site) {
  return kernel_of<padded>(site, pads_of(site, 1), site.setting("value", 2, 0));
}

Kernel pad_grad(const Site& site) {
  return kernel_of<padded>(site, pads_of(site.of_forward(), -1), 0.0);
}

// ---- by index

// Indices count from the back where negative; those of the data set are within range. A part may
// have some of the rows: what it has not is zero.
struct Lookup {
  explicit Lookup(const Site& site) {
    const Site forward = site.of_forward();
    axis = forward.axis("axis", 0, forward.in(0).size());
    rows = extent = strato::extent(forward.in(0), axis);
    wraps = forward.input(1).role != TensorRole::Input;
    const bool of_table = site->attribute("wrt") != nullptr;
    const AxisPart* part = of_table ? site.part_along(axis) : site.part_summed();
    is_part = part != nullptr;
    if (!is_part) return;
    first = part->begin;
    rows = part->size();
    extent = part->extent;
  }

  // Of each index its row; those that are not here have `otherwise`.
  at::Tensor flat(const at::Tensor& indices, std::int64_t otherwise = 0) const {
    at::Tensor all = indices.flatten().to(at::kLong);
    if (wraps) all = at::where(all.lt(0), all.add(extent), all);
    return is_part ? at::where(is_here(all), all.sub(first), at::full_like(all, otherwise)) : all;
  }
  at::Tensor is_here(const at::Tensor& flat) const {
    return flat.ge(first).logical_and_(flat.lt(first + rows));
  }

  int axis = 0;
  bool wraps = false, is_part = false;
  std::int64_t extent = 0;           // of the table that all parts have together
  std::int64_t first = 0, rows = 0;  // that are here
};

at::Tensor gather(const Tensors& in, const Lookup& l, const Shape& to) {
  if (!l.is_part) return in[0].index_select(l.axis, l.flat(in[1])).view(to);
  const at::Tensor table = at::cat({in[0], at::zeros_like(in[0].narrow(0, 0, 1))});
  return table.index_select(0, l.flat(in[1], l.rows)).view(to);
}

at::Tensor gather_slope(const Tensors& in, const Lookup& l, const Shape& to) {
  const at::Tensor indices = l.flat(in[1], l.rows);
  if (l.axis == 0) {
    const at::Tensor rows = in[0].reshape({indices.numel(), -1});
    const std::int64_t count = l.is_part ? l.rows + 1 : l.rows;  // the last takes all others'
    return at::embedding_dense_backward(rows, indices, count, -1, false)
        .narrow(0, 0, l.rows)
        .reshape(to);
  }
  Shape flat = to;
  flat[static_cast<std::size_t>(l.axis)] = indices.numel();
  const at::Tensor zeros = at::zeros(to, in[0].options());
  return zeros.index_add(l.axis, indices, in[0].reshape(flat));
}

at::Tensor gather_elements(const Tensors& in, int axis) {
  return in[0].gather(axis, in[1].to(at::kLong));
}

at::Tensor gather_elements_slope(const Tensors& in, int axis, const Shape& to) {
  return at::zeros(to, in[0].options()).scatter_add_(axis, in[1].to(at::kLong), in[0]);
}

// ---- reductions

std::vector<std::int64_t> axes_of(const Site& forward) {
  if (forward.has_input(1) && !forward.constant(1)) forward.refuse("its axes are not constant");
  const auto axes = reduced_axes(forward);
  return {axes.begin(), axes.end()};
}

enum class Reduce { Sum, Mean, Max, Min };

template <Reduce kind>
at::Tensor reduced(const Tensors& in, const std::vector<std::int64_t>& axes, bool keep) {
  if (axes.empty()) return in[0];
  if (kind == Reduce::Sum) return in[0].sum(axes, keep);
  if (kind == Reduce::Mean) return in[0].mean(axes, keep);
  return kind == Reduce::Max ? in[0].amax(axes, keep) : in[0].amin(axes, keep);
}

bool keeps_axes(const Site& site) { return site->integer("keepdims", 1) != 0; }

template <Reduce kind>
Kernel reduction(const Site& site) {
  return kernel_of<reduced<kind>>(site, axes_of(site), keeps_axes(site));
}

// A reduced tensor with its axes back, each of extent one.
at::Tensor with_axes(const at::Tensor& t, const std::vector<std::int64_t>& axes, Shape full) {
  for (const std::int64_t axis : axes) full[static_cast<std::size_t>(axis)] = 1;
  return t.reshape(full);
}

at::Tensor spread(const Tensors& in, const std::vector<std::int64_t>& axes, double count,
                  const Shape& to) {
  at::Tensor dy = with_axes(in[0], axes, to);
  if (count != 1) dy = dy.div(count);
  return dy.expand(to).contiguous();
}

Kernel sum_grad(const Site& site) {
  const Site forward = site.of_forward();
  const std::vector<std::int64_t> axes = axes_of(forward);
  // Of the whole tensor, also on a part of it: a mean over the batch is not split.
  double count = 1;
  if (forward->type == "ReduceMean")
    for (const std::int64_t axis : axes) count *= static_cast<double>(extent(forward.in(0), axis));
  return kernel_of<spread>(site, axes, count);
}

at::Tensor reduced_extreme_slope(const Tensors& in, const std::vector<std::int64_t>& axes) {
  const Shape to = in[1].sizes().vec();  // dy, input, output
  return in[1].eq(with_axes(in[2], axes, to)).mul(with_axes(in[0], axes, to));
}

template <bool largest>
at::Tensor place_of_extreme(const Tensors& in, int axis, bool keep) {
  return largest ? in[0].argmax(axis, keep) : in[0].argmin(axis, keep);
}
template <bool largest>
Kernel places(const Site& site) {
  return kernel_of<place_of_extreme<largest>>(site, read_axis(site), keeps_axes(site));
}

}  // namespace

KernelTable movement_kernels() {
  return {
      {"ArgMax", places<true>},
      {"ArgMin", places<false>},
      {"Concat", with<joined_axis, concat>, concat_grad},
      {"Expand", plain<expand>, summed<first_of>},
      {"Flatten", plain<view>, plain<view>},
      {"Gather", with<read<Lookup>, gather>, with<read<Lookup>, gather_slope>},
      {"GatherElements", with<read_axis, gather_elements>,
       gradient_with<read_axis, gather_elements_slope>},
      {"Identity", plain<view>},
      {"NoOp", plain<view>},
      {"Pad", pad, pad_grad},
      {"ReduceMax", reduction<Reduce::Max>, gradient_with<axes_of, reduced_extreme_slope>},
      {"ReduceMean", reduction<Reduce::Mean>, sum_grad},
      {"ReduceMin", reduction<Reduce::Min>, gradient_with<axes_of, reduced_extreme_slope>},
      {"ReduceSum", reduction<Reduce::Sum>, sum_grad},
      {"Reshape", plain<view>, plain<view>},
      {"Slice", with<read<Slices>, slice>, gradient_with<read<Slices>, slice_slope>},
      {"Split", split, split_grad},
      {"Squeeze", plain<view>, plain<view>},
      {"Tile", with<repeats_of, tile>},
      {"Transpose", with<permutation_of, permuted>, transpose_grad},
      {"Unsqueeze", plain<view>, plain<view>},
  };
}

}  // namespace strato::torch_engine
