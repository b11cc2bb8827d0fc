#include "core/strategy/value/expert_check.h"

#include <fmt/format.h>

#include "core/base/error.h"

namespace strato {

void check_experts(const Decision& decision, std::span<const OpId> ops, const Graph& graph,
                   const std::string& place) {
  const std::int32_t rows = decision.roles.expert;
  if (rows <= 1) return;
  for (const OpId id : ops) {
    const Op& op = graph.op(id);
    if (op.type != "DispatchTokens" || op.attribute("wrt") != nullptr) continue;
    if (const std::int64_t experts = op.integer("experts", 1); experts % rows != 0)
      throw InputError("", place,
                       fmt::format("is expert {}, which does not divide the {} experts of \"{}\"",
                                   rows, experts, op.name),
                       "give a number that divides them");
  }
}

}  // namespace strato
