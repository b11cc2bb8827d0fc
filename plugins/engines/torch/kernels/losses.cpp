#include "plugins/engines/torch/kernels/losses.h"

namespace strato::torch_engine {
namespace {

// A loss is divided by the count of the whole batch, also on a shard.
struct ClassLoss {
  explicit ClassLoss(const Site& forward)
      : axis(forward.axis("axis", 1, forward.in(0).size())),
        ignored(forward->integer("ignore_index", -100)),
        count(forward->text("reduction", "mean") == "mean" ? product(forward.in(1)) : 1),
        keeps(forward->text("reduction", "mean") == "none") {
    if (forward.has_input(2)) forward.refuse("weighs its classes");
  }

  // Classes to the last axis, all else to one row each.
  at::Tensor rows(const at::Tensor& scores) const {
    return scores.movedim(axis, -1).reshape({-1, scores.size(axis)});
  }
  at::Tensor value(const at::Tensor& log_probability, const at::Tensor& labels) const {
    const auto reduction = keeps ? at::Reduction::None : at::Reduction::Sum;
    const at::Tensor sum =
        at::nll_loss(rows(log_probability), labels.flatten().to(at::kLong), {}, reduction, ignored);
    return keeps ? sum.view(labels.sizes()) : sum.div(count);
  }
  // 1 at each label, of the shape of `scores`, zero rows for labels that are ignored.
  at::Tensor hits(const at::Tensor& labels) const {
    return labels.to(at::kLong).clamp_min(0).unsqueeze(axis);
  }

  std::int64_t axis;
  std::int64_t ignored;
  double count;
  bool keeps;
};

Tensors cross_entropy(const Tensors& in, const ClassLoss& c) {
  const at::Tensor log_probability = at::log_softmax(in[0], c.axis);
  return {c.value(log_probability, in[1]), log_probability};
}

at::Tensor negative_log_likelihood(const Tensors& in, const ClassLoss& c) {
  return c.value(in[0], in[1]);
}

// Rows of samples that do not count become zero; `dy` is undefined where it is one.
at::Tensor finished(const ClassLoss& c, at::Tensor gradient, const at::Tensor& labels,
                    const at::Tensor& dy) {
  const at::Tensor counts = labels.ne(c.ignored).unsqueeze(c.axis);
  at::Tensor scale = counts.to(gradient.scalar_type()).div_(c.count);
  if (dy.defined()) scale.mul_(c.keeps ? dy.unsqueeze(c.axis) : dy.reshape({}));
  return gradient.mul_(scale);
}

// Inputs: scores or log-probabilities (then they are `kept` outputs of the forward op), labels;
// before them the loss's gradient where it is not one (`weighted`).
at::Tensor cross_entropy_slope(const Tensors& in, const ClassLoss& c, bool kept, bool weighted) {
  const at::Tensor& scores = in[weighted ? 1 : 0];
  const at::Tensor& labels = in[weighted ? 2 : 1];
  at::Tensor gradient = kept ? scores.exp() : at::softmax(scores, c.axis);
  const at::Tensor hits = c.hits(labels);
  gradient.scatter_add_(c.axis, hits, at::full(hits.sizes(), -1, gradient.options()));
  return finished(c, gradient, labels, weighted ? in[0] : at::Tensor());
}

Kernel cross_entropy_grad(const Site& site) {
  const Site forward = site.of_forward();
  return kernel_of<cross_entropy_slope>(site, ClassLoss(forward), forward.output_count() > 1,
                                        site.input_count() > 2);
}

at::Tensor negative_log_likelihood_slope(const Tensors& in, const ClassLoss& c, const Shape& to) {
  at::Tensor gradient = at::zeros(to, in[0].options());
  gradient.scatter_(c.axis, c.hits(in[1]), -1);
  return finished(c, gradient, in[1], in[0]);
}

double element_count(const Site& site) { return product(site.in(0)); }
at::Tensor squared_loss(const Tensors& in, double count) {
  return in[0].sub(in[1]).square_().sum().div_(count);
}
at::Tensor squared_loss_slope(const Tensors& in, double count) {
  const bool weighted = in.size() > 2;
  const at::Tensor gradient = in[weighted ? 1 : 0].sub(in[weighted ? 2 : 1]).mul_(2 / count);
  return weighted ? gradient.mul(in[0].reshape({})) : gradient;
}

// ---- cross entropy in blocks of classes (core/graph/ops/class_block_rules.h)

// The classes that are here: all of them, or those of the part's blocks.
struct ClassBlocks {
  explicit ClassBlocks(const Site& site) {
    const Site forward = site.of_forward();
    size = extent(forward.in(0), -1) / extent(forward.out(), -1);
    const auto classes = static_cast<int>(forward.in(0).size()) - 1;
    if (const AxisPart* part = site.part_along(classes))
      first = part->begin * (site->attribute("wrt") != nullptr ? 1 : size);
  }

  at::Tensor blocks(const at::Tensor& scores) const {  // in the precision of the sums
    const at::ScalarType type = scores.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
    return scores.to(type).unflatten(-1, {-1, size});
  }

  std::int64_t size = 1;  // classes in a block
  std::int64_t first = 0;
};

// Where labels are among the classes that are here.
struct LabelPlaces {
  LabelPlaces(const at::Tensor& labels, const ClassBlocks& c, std::int64_t classes) {
    const at::Tensor place = labels.to(at::kLong).sub(c.first);
    is_here = place.ge(0).logical_and_(place.lt(classes)).unsqueeze_(-1);
    of_class = place.clamp_(0, classes - 1).unsqueeze_(-1);
    of_block = at::div(of_class, c.size, "floor");
  }

  at::Tensor is_here, of_class, of_block;  // with an axis of one at the end
};

Tensors block_log_sums(const Tensors& in, const ClassBlocks& c) {
  const at::Tensor log_sums = c.blocks(in[0]).logsumexp(-1);
  const LabelPlaces places(in[1], c, in[0].size(-1));
  const at::Tensor scores = in[0].gather(-1, places.of_class).to(log_sums.scalar_type());
  return {log_sums,
          at::zeros_like(log_sums).scatter_(-1, places.of_block, scores.mul_(places.is_here))};
}

// Inputs: the gradients of the sums and of the labels' scores, scores, labels, the sums.
at::Tensor block_log_sums_slope(const Tensors& in, const ClassBlocks& c) {
  const at::Tensor &scores = in[2], &log_sums = in[4];
  at::Tensor gradient = c.blocks(scores).sub(log_sums.unsqueeze(-1)).exp_();
  gradient = gradient.mul_(in[0].unsqueeze(-1)).flatten(-2);
  const LabelPlaces places(in[3], c, scores.size(-1));
  gradient.scatter_add_(-1, places.of_class,
                        in[1].gather(-1, places.of_block).mul_(places.is_here));
  return gradient.to(scores.scalar_type());
}

Kernel block_log_sums_grad(const Site& site) {
  if (site.input_count() != 5) site.refuse("is not followed by BlockCrossEntropy");
  return kernel_of<block_log_sums_slope>(site, ClassBlocks(site));
}

struct BlockLoss {
  explicit BlockLoss(const Site& forward)
      : ignored(forward->integer("ignore_index", -100)), count(product(forward.in(2))) {}

  at::Tensor weights(const at::Tensor& labels, const at::Tensor& like) const {
    return labels.ne(ignored).to(like.scalar_type()).div_(count);
  }

  std::int64_t ignored;
  double count;
};

at::Tensor block_cross_entropy(const Tensors& in, const BlockLoss& loss) {
  const at::Tensor rows = in[0].logsumexp(-1).sub_(in[1].sum(-1));
  return rows.mul_(loss.weights(in[2], rows)).sum();
}

// Inputs: the loss's gradient where it is not one, the sums, labels.
Tensors block_cross_entropy_slopes(const Tensors& in, const BlockLoss& loss, const Wanted& wanted) {
  const bool weighted = in.size() > 2;
  const at::Tensor &log_sums = in[weighted ? 1 : 0], &labels = in[weighted ? 2 : 1];
  at::Tensor scale = loss.weights(labels, log_sums).unsqueeze_(-1);
  if (weighted) scale = scale.mul(in[0].reshape({}));
  Tensors out;
  if (wanted[0]) out.push_back(at::softmax(log_sums, -1).mul_(scale));
  if (wanted[1]) out.push_back(scale.neg().expand_as(log_sums).contiguous());
  return out;
}

Kernel block_cross_entropy_grad(const Site& site) {
  return kernel_of<block_cross_entropy_slopes>(site, BlockLoss(site.of_forward()), wanted_of(site));
}

}  // namespace

KernelTable loss_kernels() {
  return {
      {"BlockCrossEntropy", with<read<BlockLoss>, block_cross_entropy>, block_cross_entropy_grad},
      {"BlockLogSumExp", with<read<ClassBlocks>, block_log_sums>, block_log_sums_grad},
      {"MeanSquaredLoss", with<element_count, squared_loss>,
       gradient_with<element_count, squared_loss_slope>},
      {"NegativeLogLikelihoodLoss", with<read<ClassLoss>, negative_log_likelihood>,
       gradient_with<read<ClassLoss>, negative_log_likelihood_slope>},
      {"SoftmaxCrossEntropy", with<read<ClassLoss>, cross_entropy>, cross_entropy_grad},
      {"SoftmaxCrossEntropyLoss", with<read<ClassLoss>, cross_entropy>, cross_entropy_grad},
  };
}

}  // namespace strato::torch_engine
