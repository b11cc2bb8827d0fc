#include "plugins/engines/torch/kernel.h"

#include <fmt/format.h>

#include <cstring>
#include <map>

#include "core/base/error.h"

namespace strato::torch_engine {

LocalShape::LocalShape(const Tensor& tensor, std::int64_t batch)
    : shape_(tensor.shape),
      batch_(batch),
      axis_(tensor.batch.kind == BatchKind::Batched ? tensor.batch.axis : -1) {}

Shape LocalShape::on(const Shard& shard) const {
  Shape shape = shape_;
  if (axis_ >= 0) {
    std::int64_t& extent = shape[static_cast<std::size_t>(axis_)];
    extent = extent / batch_ * shard.samples;
  }
  return shape;
}

double Site::setting(std::string_view attribute, std::size_t slot, double fallback) const {
  if (op().attribute(attribute) != nullptr) return op().real(attribute, fallback);
  if (!has_input(slot)) return fallback;
  const Tensor& tensor = input(slot);
  if (tensor.data && tensor.type == DataType::F32 && tensor.data->size() >= sizeof(float)) {
    float value = 0;
    std::memcpy(&value, tensor.data->data(), sizeof value);
    return value;
  }
  if (tensor.data && tensor.type == DataType::F64 && tensor.data->size() >= sizeof(double)) {
    double value = 0;
    std::memcpy(&value, tensor.data->data(), sizeof value);
    return value;
  }
  if (const auto whole = constant(slot); whole && !whole->empty()) {
    return static_cast<double>(whole->front());
  }
  refuse(fmt::format("its input {} is not a constant number", slot + 1));
}

void Site::refuse(const std::string& problem) const {
  throw InputError("", fmt::format("op \"{}\" ({})", op().name, op().type),
                   problem + ", which the engine \"torch\" does not run",
                   "export the model without it");
}

KernelMaker find_kernel(std::string_view type) {
  static const std::map<std::string_view, KernelMaker> all = [] {
    std::map<std::string_view, KernelMaker> map;
    for (const auto family : {linear_kernels, pooling_kernels, elementwise_kernels,
                              movement_kernels, normalization_kernels, update_kernels}) {
      for (const KernelRow& row : family()) map.emplace(row.type, row.make);
    }
    return map;
  }();
  const auto found = all.find(type);
  return found == all.end() ? nullptr : found->second;
}

Kernel make_kernel(const Site& site) {
  const KernelMaker make = find_kernel(site->type);
  if (make == nullptr) {
    throw InputError("", fmt::format("op \"{}\"", site->name),
                     fmt::format("the engine \"torch\" has no kernel for {}", site->type),
                     "export the model without it");
  }
  return make(site);
}

Kernel make_kernel(const Graph& graph, OpId id) { return make_kernel(Site(graph, graph.op(id))); }

at::ScalarType scalar_type(DataType type) {
  switch (type) {
    case DataType::F64:
      return at::kDouble;
    case DataType::F32:
      return at::kFloat;
    case DataType::F16:
      return at::kHalf;
    case DataType::BF16:
      return at::kBFloat16;
    case DataType::I64:
      return at::kLong;
    case DataType::I32:
      return at::kInt;
    case DataType::I16:
      return at::kShort;
    case DataType::I8:
      return at::kChar;
    case DataType::U8:
      return at::kByte;
    case DataType::Bool:
      return at::kBool;
  }
  return at::kFloat;
}

}  // namespace strato::torch_engine
