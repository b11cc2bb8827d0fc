// A kernel computes one op: a function from input tensors to output tensors, made once per op from
// its attributes and types. A kernel has no state: it may run on any shard of the batch, any number
// of times. Include in .cpp files only.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/graph/value/op_reader.h"
#include "plugins/engines/torch/values/aten.h"
#include "plugins/engines/torch/values/made_elements.h"

namespace strato::torch_engine {

// Inputs are contiguous, in the op's order, undefined where omitted; so are the outputs. Only an
// update writes to its inputs: the parameter and its state, in place; it has no outputs. Others may
// give more outputs than their op has: nobody reads those.
using Tensors = std::vector<at::Tensor>;
using Kernel = std::function<Tensors(const Tensors&, const Shard&)>;

// The shape of a tensor on a shard of the graph's batch.
struct LocalShape {
  Tensor tensor;
  std::int64_t batch = 1;

  Shape on(const Shard& shard) const { return shape_of(tensor, shard.part(), batch); }
};

// The slice that a part of a split op makes of the op's first output; where that is a partial sum,
// the indices of the letter that are summed up (kSummedAxis and on).
struct AxisPart : AxisRange {
  std::int64_t extent = 0;  // of all parts together
};

// An op as its kernel's maker reads it. Kernels copy what they need: graph and site end before.
class Site : public OpReader {
 public:
  Site(const Graph& graph, const Op& op)
      : OpReader(op, graph.ops(), graph.tensors()), graph_(graph) {}
  // A part of a split op, with tensors of the part's shapes.
  Site(const Graph& graph, const OpReader& reader, std::vector<AxisPart> parts)
      : OpReader(reader), graph_(graph), parts_(std::move(parts)) {}

  const Graph& graph() const { return graph_; }
  std::span<const AxisPart> parts() const { return parts_; }
  // Null: it has all of the axis.
  const AxisPart* part_along(int axis) const {
    const auto found = std::ranges::find(parts_, axis, &AxisPart::axis);
    return found == parts_.end() ? nullptr : &*found;
  }
  // Of the letter that it sums over; null: it sums over all, or over none.
  const AxisPart* part_summed() const {
    const bool sums = !parts_.empty() && parts_.back().axis >= kSummedAxis;
    return sums ? &parts_.back() : nullptr;
  }
  Site of_forward() const { return Site(graph_, forward(), parts_); }
  std::vector<std::int64_t> wrt() const { return op().integers("wrt"); }  // of a gradient op
  LocalShape local(const Tensor& tensor) const { return {tensor, graph_.batch()}; }
  LocalShape local_out(std::size_t i = 0) const { return local(output(i)); }
  // An attribute that newer op sets give as a constant input.
  double setting(std::string_view attribute, std::size_t input, double fallback) const;
  // Throws InputError: the op is of a known type, but not served in this form.
  [[noreturn]] void refuse(const std::string& problem) const;

 private:
  const Graph& graph_;
  std::vector<AxisPart> parts_;  // the sum is the last one
};

using KernelMaker = Kernel (*)(const Site&);
struct NamedKernel {
  std::string_view type;
  KernelMaker make;
  KernelMaker gradient = nullptr;  // of the type with "Grad" behind its name; null: there is none
};
using KernelTable = std::vector<NamedKernel>;  // of a family of op types

// Throws InputError naming the type when it is unknown.
Kernel make_kernel(const Site& site);
Kernel make_kernel(const Graph& graph, OpId op);

// Of an op that is split along another axis than the batch (core/graph/axes/split_axes.h): the same
// makers, on a copy of the op whose tensors have the part's shapes. `part`: the slice that it makes
// of the first output (of an update: of its parameter). Throws InputError naming the op when it
// cannot be computed in such parts.
Kernel make_part_kernel(const Graph& graph, OpId op, const Part& part);
// Returns the part of each input that this part needs; invalid inputs get the whole.
std::vector<Part> part_inputs(const Graph& graph, OpId op, const Part& part);

// ---- for kernels

inline Tensors listed(at::Tensor tensor) { return {std::move(tensor)}; }
inline Tensors listed(Tensors tensors) { return tensors; }

// A kernel that computes f(inputs, settings..., shape): its output, or all of them. The shape is
// that of the (first) output; where f does without it, it is not asked for it.
template <auto f, class... Settings>
Kernel kernel_of(const Site& site, Settings... settings) {
  if constexpr (std::is_invocable_v<decltype(f), const Tensors&, const Settings&..., const Shape&>)
    return [settings..., shape = site.local_out()](const Tensors& in, const Shard& shard) {
      return listed(f(in, settings..., shape.on(shard)));
    };
  else
    return [settings...](const Tensors& in, const Shard&) { return listed(f(in, settings...)); };
}
template <auto f>
Kernel plain(const Site& site) {
  return kernel_of<f>(site);
}
// With settings that `read` makes of the op; of a gradient: of its forward op.
template <auto read, auto f>
Kernel with(const Site& site) {
  return kernel_of<f>(site, read(site));
}
template <auto read, auto f>
Kernel gradient_with(const Site& site) {
  return kernel_of<f>(site, read(site.of_forward()));
}
template <class Settings>
Settings read(const Site& site) {
  return Settings(site);
}

// Sums what was broadcast, to the shape of the gradient op's (first) output.
template <at::Tensor (*f)(const Tensors&)>
Kernel summed(const Site& site) {
  return kernel_of<[](const Tensors& in, const Shape& to) { return f(in).sum_to_size(to); }>(site);
}
// The gradients that a kernel computes together, of which `wrt` names the wanted.
using Wanted = std::array<bool, 3>;
inline Wanted wanted_of(const Site& site) {
  Wanted wanted = {};
  for (const std::int64_t i : site.wrt()) wanted[static_cast<std::size_t>(i)] = true;
  return wanted;
}

// What has 16 bits in 32; anything else as it is.
inline at::Tensor widened(const at::Tensor& x) {
  const bool is_short = x.scalar_type() == at::kHalf || x.scalar_type() == at::kBFloat16;
  return is_short ? x.to(at::kFloat) : x;
}

inline at::Tensor first_of(const Tensors& in) { return in[0]; }

}  // namespace strato::torch_engine
