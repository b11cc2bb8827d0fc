#include "core/graph/rules/gradient_rules.h"

#include <fmt/format.h>

#include "core/graph/rules/op_rule.h"

namespace strato {

GradientRule gradient(std::vector<Saved> reads) {
  return [reads = std::move(reads)](GradientWriter& writer) {
    std::vector<std::size_t> wanted;
    for (std::size_t i = 0; i < writer.forward().input_count(); ++i) {
      if (writer.wants(i)) wanted.push_back(i);
    }
    writer.add("Grad", "grad", reads, wanted);
  };
}

GradientRule gradients(std::vector<GradientPart> parts) {
  return [parts = std::move(parts)](GradientWriter& writer) {
    for (const GradientPart& part : parts) {
      if (!writer.wants(part.input)) continue;
      const OpReader& forward = writer.forward();
      if (part.passes && forward.in(part.input) == forward.out()) {
        writer.pass(part.input);
      } else {
        writer.add(part.type, part.name, part.reads, {part.input});
      }
    }
  };
}

GradientRule operand_gradients(std::vector<Saved> a, std::vector<Saved> b) {
  return gradients({{"GradA", "grad_a", 0, std::move(a)}, {"GradB", "grad_b", 1, std::move(b)}});
}

void passed_gradient(GradientWriter& writer) {
  for (std::size_t i = 0; i < writer.forward().input_count(); ++i) {
    if (!writer.wants(i)) continue;
    if (writer.forward().in(i) == writer.forward().out()) {
      writer.pass(i);
    } else {
      writer.add("Grad", fmt::format("grad_{}", static_cast<char>('a' + i % 26)), {}, {i});
    }
  }
}

}  // namespace strato
