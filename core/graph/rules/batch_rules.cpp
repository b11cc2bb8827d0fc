#include "core/graph/rules/batch_rules.h"

#include <algorithm>

#include "core/graph/rules/op_rule.h"

namespace strato {

BatchFlow::BatchFlow(OpReader reader, std::int64_t batch_size) : op(reader), batch(batch_size) {
  for (std::size_t i = op.input_count(); i-- > 0;) {
    if (axis(i) >= 0) blocks_ = op.input(i).batch.blocks;
  }
}

int BatchFlow::axis(std::size_t i) const {
  const BatchLayout& layout = op.input(i).batch;
  return op.has_input(i) && layout.kind == BatchKind::Batched ? layout.axis : -1;
}

bool BatchFlow::requires_batch(std::size_t i, int wanted) {
  const Shape& shape = op.in(i);
  if (wanted >= static_cast<int>(shape.size()) || extent(shape, wanted) == 1) {
    return axis(i) < 0 || axis(i) == wanted;
  }
  if (axis(i) >= 0) return op.input(i).batch == on(wanted);
  if (extent(shape, wanted) % (blocks_ * batch) == 0)
    demands.push_back({op->inputs[i], on(wanted)});
  return false;
}

BatchAnswer batch_aligned(BatchFlow& flow) {
  Letters letters;
  std::size_t rank = 0;
  for (std::size_t i = 0; i < flow.op.input_count(); ++i) {
    rank = std::max(rank, flow.op.in(i).size());
  }
  for (std::size_t axis = 0; axis < rank; ++axis) {
    letters.result += static_cast<char>('a' + axis);
  }
  for (std::size_t i = 0; i < flow.op.input_count(); ++i) {
    letters.operands.push_back(letters.result.substr(rank - flow.op.in(i).size()));
  }
  return batch_contracted(flow, letters);
}

BatchRule batch_kept(MixesAxis mixes) {
  return [mixes = std::move(mixes)](BatchFlow& flow) -> BatchAnswer {
    const int axis = flow.axis(0);
    if (axis < 0 || (mixes && mixes(flow.op, axis))) return std::nullopt;
    for (std::size_t i = 1; i < flow.op.input_count(); ++i) {
      if (flow.axis(i) >= 0) return std::nullopt;
    }
    if (flow.op.has_output(0) && extent(flow.op.out(), axis) != extent(flow.op.in(0), axis)) {
      return std::nullopt;
    }
    return flow.on(axis);
  };
}

bool mixes_all_but_first(const OpReader&, int axis) { return axis != 0; }

bool mixes_last_two(const OpReader& op, int axis) {
  return axis + 2 >= static_cast<int>(op.in(0).size());
}

MixesAxis mixes_along(std::string_view attribute, std::int64_t fallback) {
  return [=](const OpReader& op, int axis) {
    return axis == op.axis(attribute, fallback, op.in(0).size());
  };
}

MixesAxis mixes_from(std::string_view attribute, std::int64_t fallback) {
  return [=](const OpReader& op, int axis) {
    return axis >= op.axis(attribute, fallback, op.in(0).size());
  };
}

BatchAnswer batch_contracted(BatchFlow& flow, const Letters& letters) {
  char batch_letter = 0;
  for (std::size_t i = 0; i < letters.operands.size() && batch_letter == 0; ++i) {
    if (flow.axis(i) < 0) continue;
    const auto at = static_cast<std::size_t>(flow.axis(i));
    if (at >= letters.operands[i].size()) return std::nullopt;
    batch_letter = letters.operands[i][at];
  }
  bool follows = batch_letter != 0;
  for (std::size_t i = 0; i < letters.operands.size(); ++i) {
    const std::size_t at = letters.operands[i].find(batch_letter);
    if (at != std::string::npos) {
      follows = flow.requires_batch(i, static_cast<int>(at)) && follows;
    } else if (flow.axis(i) >= 0) {
      follows = false;
    }
  }
  if (!follows) return std::nullopt;
  const std::size_t at = letters.result.find(batch_letter);
  return at == std::string::npos ? partial() : flow.on(static_cast<int>(at));
}

BatchAnswer batch_reshaped(BatchFlow& flow) {
  const int axis = flow.axis(0);
  if (axis < 0) return std::nullopt;
  // The samples are in this many runs in memory, one after the other; some axis must hold one or
  // several of them whole.
  const Shape &in = flow.op.in(0), &out = flow.op.out();
  const auto runs = static_cast<std::int64_t>(product(in, 0, static_cast<std::size_t>(axis))) *
                    flow.op.input(0).batch.blocks;
  std::optional<BatchLayout> best;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto before = static_cast<std::int64_t>(product(out, 0, i));
    if (before == 0 || runs % before != 0) continue;
    const std::int64_t blocks = runs / before;
    if (blocks == 0 || out[i] % (blocks * flow.batch) != 0) continue;
    const bool better = !best || blocks < best->blocks || out[i] == extent(in, axis);
    if (better) best = BatchLayout{BatchKind::Batched, static_cast<int>(i), blocks};
    if (blocks == 1 && out[i] == extent(in, axis)) break;  // tells axes apart in a batch of 1
  }
  return best;
}

std::vector<int> reduced_axes(const OpReader& op) {
  const std::size_t rank = op.in(0).size();
  const auto axes = op.list("axes", 1).value_or(std::vector<std::int64_t>{});
  std::vector<int> result;
  for (const std::int64_t axis : axes) result.push_back(wrap_axis(axis, rank));
  if (axes.empty() && op->integer("noop_with_empty_axes", 0) == 0) {
    for (std::size_t i = 0; i < rank; ++i) result.push_back(static_cast<int>(i));
  }
  std::erase_if(result, [rank](int axis) { return axis < 0 || axis >= static_cast<int>(rank); });
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

BatchRule batch_reduced(bool sums) {
  return [sums](BatchFlow& flow) -> BatchAnswer {
    const int axis = flow.axis(0);
    if (axis < 0) return std::nullopt;
    const std::vector<int> axes = reduced_axes(flow.op);
    if (std::binary_search(axes.begin(), axes.end(), axis)) {
      return sums ? BatchAnswer(partial()) : std::nullopt;
    }
    const bool keeps = flow.op->integer("keepdims", 1) != 0;
    const auto before = std::lower_bound(axes.begin(), axes.end(), axis) - axes.begin();
    return flow.on(keeps ? axis : axis - static_cast<int>(before));
  };
}

}  // namespace strato
