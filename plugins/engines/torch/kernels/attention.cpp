#include "plugins/engines/torch/kernels/attention.h"

#include <cmath>
#include <limits>

namespace strato::torch_engine {
namespace {

// [batch, heads, positions, size], of that or of [batch, positions, heads x size].
at::Tensor by_heads(const at::Tensor& x, std::int64_t heads) {
  if (x.dim() == 4) return x;
  return x.view({x.size(0), x.size(1), heads, -1}).transpose(1, 2);
}
at::Tensor in_place_of(const at::Tensor& by_heads, std::int64_t rank) {
  if (rank == 4) return by_heads.contiguous();
  return by_heads.transpose(1, 2).flatten(2).contiguous();
}

// ---- Attention

// Of the fused op or of its gradient.
struct Attention {
  explicit Attention(const Site& site) : Attention(site, site.of_forward()) {}

  Attention(const Site& site, const Site& forward)
      : heads(forward->integer("q_num_heads", 1)),
        key_heads(forward->integer("kv_num_heads", 1)),
        causal(forward->integer("is_causal", 0) != 0),
        masked(forward.has_input(3)),
        scale(forward->real("scale", 0)),
        cap(forward->real("softcap", 0)) {
    if (forward.has_input(4) || forward.has_input(5) || forward.has_input(6))
      forward.refuse("goes on from keys and values of before");
    if (forward.output_count() > 1 && forward.out(1).size() != 3)
      forward.refuse("returns its keys and values");
    constexpr int kPositionAxis = 2;  // the gradient of keys is a sum over queries
    for (const AxisPart* part : {site.part_along(kPositionAxis), site.part_summed()})
      if (part) first = part->begin;
  }

  std::int64_t heads, key_heads;
  std::int64_t first = 0;  // of the queries that are here
  bool causal, masked;
  double scale;  // 0: one over the root of a head's size
  double cap;    // of the scores, by the hyperbolic tangent; 0: there is none
};

// The scores before they are masked; of capped ones, also their slope by what they were.
struct Scores {
  at::Tensor values, slope;
};

// The operands by heads, in 32 bits where they have 16, as flash attention has its scores; each
// query head has its own copy of the keys and values that it shares.
struct Operands {
  Operands(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
           const Attention& a)
      : q(widened(by_heads(query, a.heads))),
        k(widened(by_heads(key, a.key_heads))),
        v(widened(by_heads(value, a.key_heads))),
        sharing(q.size(1) / k.size(1)),
        scale(a.scale != 0 ? a.scale : 1 / std::sqrt(static_cast<double>(q.size(3)))) {
    if (sharing == 1) return;
    k = k.repeat_interleave(sharing, 1);
    v = v.repeat_interleave(sharing, 1);
  }

  Scores scores(const Attention& a) const {
    at::Tensor products = at::matmul(q, k.transpose(2, 3)).mul_(scale);
    if (a.cap == 0) return {products, at::Tensor()};
    const at::Tensor share = products.div_(a.cap).tanh_();
    return {share.mul(a.cap), share.square().neg_().add_(1)};
  }
  // Masks come behind the cap: what is never looked at has no score at all.
  at::Tensor masked(at::Tensor scores, const Attention& a, const at::Tensor& mask) const {
    constexpr double kNever = -std::numeric_limits<double>::infinity();
    if (mask.defined() && mask.scalar_type() == at::kBool)
      scores.masked_fill_(mask.logical_not(), kNever);
    else if (mask.defined())
      scores.add_(mask);
    if (a.causal) {
      const auto later =
          at::ones({q.size(2), k.size(2)}, q.options().dtype(at::kBool)).triu_(1 + a.first);
      scores.masked_fill_(later, kNever);
    }
    return scores;
  }
  // Of the keys or values, what all query heads that share them add up to.
  at::Tensor shared(const at::Tensor& gradient) const {
    if (sharing == 1) return gradient;
    return gradient.unflatten(1, at::IntArrayRef({gradient.size(1) / sharing, sharing})).sum(2);
  }

  at::Tensor q, k, v;
  std::int64_t sharing;
  double scale;
};

Tensors attention(const Tensors& in, const Attention& a) {
  const Operands of(in[0], in[1], in[2], a);
  const at::Tensor scores = of.masked(of.scores(a).values, a, a.masked ? in[3] : at::Tensor());
  const at::Tensor sums = scores.logsumexp(-1);
  const at::Tensor y = at::matmul(scores.sub(sums.unsqueeze(-1)).exp_(), of.v);
  return {in_place_of(y.to(in[0].scalar_type()), in[0].dim()), sums};
}

// Inputs: dy, query, key, value, y, the logarithms of the rows' sums, the mask.
Tensors attention_slopes(const Tensors& in, const Attention& a,
                         const std::vector<std::int64_t>& wrt) {
  const Operands of(in[1], in[2], in[3], a);
  const at::Tensor dy = widened(by_heads(in[0], a.heads)), y = widened(by_heads(in[4], a.heads));
  const Scores scores = of.scores(a);
  const at::Tensor share =
      of.masked(scores.values, a, a.masked ? in[6] : at::Tensor()).sub_(in[5].unsqueeze(-1)).exp_();
  at::Tensor slope =
      at::matmul(dy, of.v.transpose(2, 3)).sub_(dy.mul(y).sum(-1, true)).mul_(share).mul_(of.scale);
  if (scores.slope.defined()) slope.mul_(scores.slope);
  Tensors out;
  for (const std::int64_t input : wrt) {
    const at::Tensor gradient = input == 0   ? at::matmul(slope, of.k)
                                : input == 1 ? of.shared(at::matmul(slope.transpose(2, 3), of.q))
                                             : of.shared(at::matmul(share.transpose(2, 3), dy));
    out.push_back(in_place_of(gradient.to(in[1].scalar_type()), in[1].dim()));
  }
  return out;
}

Kernel attention_grad(const Site& site) {
  return kernel_of<attention_slopes>(site, Attention(site), site.wrt());
}

// ---- RotaryEmbedding: pairs of elements are turned by an angle of their position's

// Inputs of ONNX: x, cosines, sines, positions; of com.microsoft: x, positions, cosines, sines.
struct Rotation {
  explicit Rotation(const Site& forward)
      : heads(forward->integer("num_heads", 0)),
        turned(forward->integer("rotary_embedding_dim", 0)),
        interleaved(forward->integer("interleaved", 0) != 0),
        positions_first(!is_floating(forward.input(1).type)) {
    if (forward->real("scale", 1) != 1) forward.refuse("scales its angles");
    if (forward.in(0).size() == 3 && heads == 0 && turned != 0)
      forward.refuse("does not say how many heads it has");
  }

  std::int64_t heads, turned;  // 0: as many as there is room for; all elements of a head
  bool interleaved, positions_first;
};

// [batch or 1, 1, positions, pairs]
at::Tensor angles(const Tensors& in, const Rotation& r, bool sines, std::int64_t count) {
  const std::size_t first = r.positions_first ? 2 : 1, positions = r.positions_first ? 1 : 3;
  const at::Tensor& table = in[first + (sines ? 1 : 0)];
  if (in.size() <= positions || !in[positions].defined()) return table.unsqueeze(1);
  at::Tensor at = in[positions].to(at::kLong);
  if (at.dim() == 1) at = at.add(at::arange(count, at.options())).unsqueeze(0);
  return at::embedding(table, at).unsqueeze(1);
}

at::Tensor turn(const Tensors& in, const Rotation& r, double sign) {
  const bool split = in[0].dim() == 4;
  const at::Tensor& table = in[r.positions_first ? 2 : 1];
  const std::int64_t heads = r.heads != 0 ? r.heads : in[0].size(-1) / (2 * table.size(-1));
  const at::Tensor x = by_heads(in[0], heads);
  const std::int64_t count = x.size(2), size = x.size(3);
  const std::int64_t turned = r.turned != 0 ? r.turned : size;
  const at::Tensor cosines = angles(in, r, false, count);
  const at::Tensor sines = angles(in, r, true, count).mul(sign);
  at::Tensor y = x.clone();
  const auto half = [&](const at::Tensor& of, std::int64_t which) {
    return r.interleaved ? of.slice(3, which, turned, 2)
                         : of.slice(3, which * turned / 2, (which + 1) * turned / 2);
  };
  const at::Tensor a = half(x, 0), b = half(x, 1);
  half(y, 0).copy_(a * cosines - b * sines);
  half(y, 1).copy_(b * cosines + a * sines);
  return in_place_of(y, split ? 4 : 3);
}

at::Tensor rotated(const Tensors& in, const Rotation& r) { return turn(in, r, 1); }
at::Tensor rotated_back(const Tensors& in, const Rotation& r) { return turn(in, r, -1); }

}  // namespace

KernelTable attention_kernels() {
  return {
      {"Attention", with<read<Attention>, attention>, attention_grad},
      {"RotaryEmbedding", with<read<Rotation>, rotated>,
       gradient_with<read<Rotation>, rotated_back>},
  };
}

}  // namespace strato::torch_engine
