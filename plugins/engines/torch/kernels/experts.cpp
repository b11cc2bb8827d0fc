#include "plugins/engines/torch/kernels/experts.h"

namespace strato::torch_engine {
namespace {

constexpr int kExpertAxis = 1;

// The room that the experts have, and which of them are here: of a part, some.
struct Rooms {
  explicit Rooms(const Site& site) {
    const Site forward = site.of_forward();
    const bool combines = forward->type == "CombineTokens";
    const Shape& places = combines ? forward.in(0) : forward.out();
    experts = combines ? extent(places, kExpertAxis) : forward->integer("experts", 1);
    const AxisPart* summed = site->type == "CombineTokens" ? site.part_summed() : nullptr;
    if (summed) experts = summed->extent;  // its own places are of those that are here
    capacity = extent(places, 2);
    last = experts;
    if (extent(results(site), kExpertAxis) == experts) return;  // or a part of each token
    const AxisPart* here = summed ? summed : site.part_along(kExpertAxis);
    if (here == nullptr) here = site.part_summed();
    first = here->begin;
    last = here->end;
  }

  // What the experts are given, or give back, [batch, experts, capacity, size]: of the op itself.
  static const Shape& results(const Site& site) {
    const bool makes = site->type == "DispatchTokens" || site->type == "CombineTokensGradResults";
    if (makes) return site.out();
    return site.in(site->type == "CombineTokensGradWeights" ? 1 : 0);
  }

  // Of every choice its place among those of all experts, a row further where it has found none:
  // [batch, positions x choices].
  at::Tensor places(const at::Tensor& chosen) const {
    const at::Tensor expert = chosen.to(at::kLong).flatten(1);
    const at::Tensor before = at::one_hot(expert, experts).cumsum(1).gather(2, expert.unsqueeze(2));
    const at::Tensor place = before.squeeze(2).sub_(1);
    return at::where(place.lt(capacity), expert.mul(capacity).add_(place),
                     at::full_like(place, experts * capacity));
  }
  // A row for each choice, [batch, positions, choices, size], to its place.
  at::Tensor scattered(const at::Tensor& rows, const at::Tensor& chosen) const {
    const at::Tensor flat = rows.flatten(1, 2);
    const at::Tensor to = places(chosen).unsqueeze(2).expand_as(flat);
    return at::zeros({rows.size(0), experts * capacity + 1, rows.size(3)}, rows.options())
        .scatter_add_(1, to, flat)
        .narrow(1, first * capacity, (last - first) * capacity)
        .reshape({rows.size(0), last - first, capacity, rows.size(3)});
  }
  // And back: zero where a choice has found no place, or one that is elsewhere.
  at::Tensor gathered(const at::Tensor& results, const at::Tensor& chosen) const {
    const at::Tensor rows = at::constant_pad_nd(results.flatten(1, 2), {0, 0, 0, 1});
    const std::int64_t count = (last - first) * capacity;
    const at::Tensor at_all = places(chosen).sub_(first * capacity);
    const at::Tensor here = at::where(at_all.ge(0).logical_and_(at_all.lt(count)), at_all,
                                      at::full_like(at_all, count));
    const at::Tensor from = here.unsqueeze(2).expand({-1, -1, rows.size(2)});
    return rows.gather(1, from).view(
        {chosen.size(0), chosen.size(1), chosen.size(2), rows.size(2)});
  }

  std::int64_t experts = 0, capacity = 0;
  std::int64_t first = 0, last = 0;
};

at::Tensor for_each_choice(const at::Tensor& tokens, const at::Tensor& chosen) {
  return tokens.unsqueeze(2).expand({-1, -1, chosen.size(2), -1});
}

at::Tensor dispatch(const Tensors& in, const Rooms& rooms) {
  return rooms.scattered(for_each_choice(in[0], in[1]), in[1]);
}
at::Tensor dispatch_slope(const Tensors& in, const Rooms& rooms) {
  return rooms.gathered(in[0], in[1]).sum(2);
}
at::Tensor combine(const Tensors& in, const Rooms& rooms) {
  return rooms.gathered(in[0], in[1]).mul_(in[2].unsqueeze(3)).sum(2);
}
at::Tensor combine_results_slope(const Tensors& in, const Rooms& rooms) {
  return rooms.scattered(for_each_choice(in[0], in[1]).mul(in[2].unsqueeze(3)), in[1]);
}
at::Tensor combine_weights_slope(const Tensors& in, const Rooms& rooms) {
  return rooms.gathered(in[1], in[2]).mul_(in[0].unsqueeze(2)).sum(3);
}

// ---- TopK

struct Choice {
  explicit Choice(const Site& forward)
      : axis(forward.axis("axis", -1, forward.in(0).size())),
        largest(forward->integer("largest", 1) != 0) {
    const auto given = forward.list("k", 1);
    if (!given || given->size() != 1) forward.refuse("does not say how many it keeps");
    count = given->front();
  }
  int axis;
  bool largest;
  std::int64_t count = 1;
};

Tensors top(const Tensors& in, const Choice& choice) {
  auto [values, indices] = at::topk(in[0], choice.count, choice.axis, choice.largest, true);
  return {values.contiguous(), indices.contiguous()};
}
at::Tensor top_slope(const Tensors& in, const Choice& choice, const Shape& to) {
  return at::zeros(to, in[0].options()).scatter_(choice.axis, in[1], in[0]);
}

}  // namespace

KernelTable expert_kernels() {
  return {
      {"CombineTokens", with<read<Rooms>, combine>},
      {"CombineTokensGradResults", with<read<Rooms>, combine_results_slope>},
      {"CombineTokensGradWeights", with<read<Rooms>, combine_weights_slope>},
      {"DispatchTokens", with<read<Rooms>, dispatch>, with<read<Rooms>, dispatch_slope>},
      {"TopK", with<read<Choice>, top>, gradient_with<read<Choice>, top_slope>},
  };
}

}  // namespace strato::torch_engine
