#include "core/program/rank/value_check.h"

#include <algorithm>

#include "core/strategy/value/variable_check.h"

namespace strato {
namespace {

using Form = Piece::Form;

// An update adds it.
bool is_gradient(const Graph& graph, TensorId id) {
  return std::ranges::any_of(graph.consumers(id), [&](OpId reader) {
    const Op& op = graph.op(reader);
    return op.phase == Phase::Update && op.inputs.size() > 1 && op.inputs[1] == id;
  });
}

}  // namespace

bool is_cut_of(const Tensor& tensor, const Piece& piece) {
  int last = -1;
  for (const AxisRange& range : ranges_of(piece)) {
    const bool fits = range.axis > last &&
                      static_cast<std::size_t>(range.axis) < tensor.shape.size() &&
                      range.begin >= 0 && range.begin < range.end &&
                      range.end <= tensor.shape[static_cast<std::size_t>(range.axis)];
    if (!fits) return false;
    last = range.axis;
  }
  return last >= 0;
}

void check_value(const Value& value, const Graph& graph, const RankRefusal& refusal) {
  refusal.expect(value.tensor.valid() && value.tensor.index() < graph.tensor_count(), "values",
                 "a tensor is out of range");
  const Tensor& tensor = graph.tensor(value.tensor);
  const Piece& piece = value.piece;
  const bool batched = tensor.batch.kind == BatchKind::Batched;
  bool fits = piece.axis == -1 && piece.more == MoreCuts() && piece.begin >= 0 &&
              piece.begin < piece.end && piece.end <= graph.batch();
  if (piece.form == Form::Whole) fits = piece == Piece();
  if (piece.form == Form::Partial && piece.axis >= 0)
    fits = piece.begin >= 0 && piece.begin < piece.end && piece.end <= graph.batch() &&
           is_cut_of(tensor, piece);
  if (piece.form == Form::Samples) fits = fits && batched;
  if (piece.form == Form::Slice) fits = is_cut_of(tensor, piece);
  refusal.expect(fits, "values", "a piece is not one of its tensor");
  const bool records = is_gathered(value.encoding);
  refusal.expect(value.record_count >= 0 && (value.record_count > 0) == records &&
                     (value.encoding == Encoding::None || !value.resident) &&
                     value.encoding != Encoding::SufficientFactors &&
                     (value.encoding != Encoding::SparseRows || !tensor.shape.empty()) &&
                     (value.encoding != Encoding::LowRank || is_matrix(tensor)),
                 "values", "an encoding is not one of its tensor");
  refusal.expect(!value.resident || !tensor.producer.valid() || is_gradient(graph, value.tensor),
                 "values", "a tensor is not resident");
}

}  // namespace strato
