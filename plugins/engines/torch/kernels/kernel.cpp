#include "plugins/engines/torch/kernels/kernel.h"

#include <fmt/format.h>

#include <cstring>
#include <map>

#include "core/base/error.h"
#include "plugins/engines/torch/kernels/attention.h"
#include "plugins/engines/torch/kernels/elementwise.h"
#include "plugins/engines/torch/kernels/experts.h"
#include "plugins/engines/torch/kernels/linear.h"
#include "plugins/engines/torch/kernels/losses.h"
#include "plugins/engines/torch/kernels/movement.h"
#include "plugins/engines/torch/kernels/normalization.h"

namespace strato::torch_engine {

double Site::setting(std::string_view attribute, std::size_t slot, double fallback) const {
  if (op().attribute(attribute) != nullptr) return op().real(attribute, fallback);
  if (!has_input(slot)) return fallback;
  const Tensor& tensor = input(slot);
  const auto number = [&tensor](auto value) {
    std::memcpy(&value, tensor.data->data(), sizeof value);
    return static_cast<double>(value);
  };
  const bool lone =
      tensor.data && tensor.data->size() >= static_cast<std::size_t>(size_of(tensor.type));
  if (lone && tensor.type == DataType::F32) return number(float());
  if (lone && tensor.type == DataType::F64) return number(double());
  if (const auto whole = constant(slot); whole && !whole->empty())
    return static_cast<double>(whole->front());
  refuse(fmt::format("its input {} is not a constant number", slot + 1));
}

void Site::refuse(const std::string& problem) const {
  throw InputError("", fmt::format("op \"{}\" ({})", op().name, op().type),
                   problem + ", which the engine \"torch\" does not run",
                   "export the model without it");
}

Kernel make_kernel(const Site& site) {
  static const std::map<std::string, KernelMaker> all = [] {
    std::map<std::string, KernelMaker> map;
    for (const auto family :
         {linear_kernels, window_kernels, elementwise_kernels, movement_kernels,
          normalization_kernels, loss_kernels, attention_kernels, expert_kernels}) {
      for (const NamedKernel& kernel : family()) {
        map.emplace(kernel.type, kernel.make);
        if (kernel.gradient != nullptr)
          map.emplace(fmt::format("{}Grad", kernel.type), kernel.gradient);
      }
    }
    return map;
  }();
  const auto found = all.find(site->type);
  if (found == all.end()) {
    throw InputError("", fmt::format("op \"{}\"", site->name),
                     fmt::format("the engine \"torch\" has no kernel for {}", site->type),
                     "export the model without it");
  }
  return found->second(site);
}

Kernel make_kernel(const Graph& graph, OpId id) { return make_kernel(Site(graph, graph.op(id))); }

}  // namespace strato::torch_engine
