#include "plugins/importers/transformers/build/layers.h"

#include <fmt/format.h>

#include "plugins/importers/transformers/build/feed_forward.h"

namespace strato::transformers_import {
namespace {

class LayerWriter {
 public:
  LayerWriter(Writer& writer, const Description& model, const Stack& stack, const Shared& shared,
              std::int64_t number)
      : to_(writer),
        model_(model),
        stack_(stack),
        shared_(shared),
        prefix_(fmt::format("{}{}.", stack.layer_prefix, number)),
        has_experts_(stack.experts && (stack.has_experts.empty() ||
                                       stack.has_experts[static_cast<std::size_t>(number)])) {}

  TensorId layer(TensorId x, TensorId memory) {
    if (stack_.order == Order::Parallel) return parallel(x);
    x = added(stack_.attention.scope, stack_.attention_norm, stack_.attention_end_norm, x,
              [&](TensorId h) { return attend(h); });
    if (stack_.cross)
      x = added(stack_.cross->scope, stack_.cross_norm, "", x,
                [&](TensorId h) { return attend_to(h, memory); });
    return added(feed_scope(), stack_.feed_norm, stack_.feed_end_norm, x,
                 [&](TensorId h) { return feed(h); });
  }

 private:
  const std::string& feed_scope() const {
    return has_experts_ ? stack_.experts->each.scope : stack_.feed.scope;
  }

  TensorId attend(TensorId x) {
    return write_attention(to_, stack_.attention, shared_, prefix_, x, x, stack_.causal);
  }
  // To all that the other stack made, wherever it stands.
  TensorId attend_to(TensorId x, TensorId memory) {
    Shared plain;
    plain.flash = shared_.flash;
    return write_attention(to_, *stack_.cross, plain, prefix_, x, memory, false);
  }
  TensorId feed(TensorId x) {
    return has_experts_ ? write_experts(to_, *stack_.experts, prefix_, x)
                        : write_feed_forward(to_, stack_.feed, prefix_, x);
  }
  TensorId normalized(const std::string& name, TensorId x) {
    return name.empty() ? x : to_.normalized(prefix_ + name, x);
  }

  // A part of the layer with the way round it.
  template <class Part>
  TensorId added(const std::string& scope, const std::string& norm, const std::string& end_norm,
                 TensorId x, const Part& part) {
    const bool norm_first = stack_.order == Order::NormFirst;
    TensorId made = part(norm_first ? normalized(norm, x) : x);
    made = normalized(end_norm, made);
    made = to_.dropped(prefix_ + scope + "/dropout", made, model_.dropout);
    const TensorId sum = to_.add(prefix_ + scope + "/residual", x, made);
    return norm_first ? sum : normalized(norm, sum);
  }

  // Without a norm of its own the feed-forward part reads that of attention.
  TensorId parallel(TensorId x) {
    const TensorId first = normalized(stack_.attention_norm, x);
    const TensorId second = stack_.feed_norm.empty() ? first : normalized(stack_.feed_norm, x);
    const std::string a = prefix_ + stack_.attention.scope, f = prefix_ + feed_scope();
    const TensorId attended = to_.dropped(a + "/dropout", attend(first), model_.dropout);
    const TensorId fed = to_.dropped(f + "/dropout", feed(second), model_.dropout);
    return to_.add(f + "/residual", x, to_.add(f + "/sum", attended, fed));
  }

  Writer& to_;
  const Description& model_;
  const Stack& stack_;
  const Shared& shared_;
  std::string prefix_;
  bool has_experts_;
};

}  // namespace

TensorId write_stack(Writer& writer, const Description& model, const Stack& stack,
                     const Shared& shared, TensorId x, TensorId memory) {
  for (std::int64_t i = 0; i < stack.layers; ++i)
    x = LayerWriter(writer, model, stack, shared, i).layer(x, memory);
  return stack.final_norm.empty() ? x : writer.normalized(stack.final_norm, x);
}

}  // namespace strato::transformers_import
