#include "core/graph/axes/letter_splits.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>

namespace strato {
namespace {

// ---- views: the same elements in row-major order

// The axes [first, last) of a shape, without those of extent 1 in front.
struct AxisRun {
  std::size_t first = 0, last = 0;
  std::int64_t elements = 1;

  void take(const Shape& shape) { elements *= shape[last++]; }
  bool has_batch(const Tensor& tensor) const {
    return is_batch_axis(tensor, tensor.batch.axis) &&
           tensor.batch.axis >= static_cast<int>(first) &&
           tensor.batch.axis < static_cast<int>(last);
  }
};

AxisRun run_after(const AxisRun& before, const Shape& shape) {
  AxisRun run{before.last, before.last};
  while (run.first < shape.size() && shape[run.first] == 1) ++run.first;
  run.last = run.first;
  if (run.first < shape.size()) run.take(shape);
  return run;
}

// Takes axes of both until they hold equally many elements. Returns whether they do.
bool make_equal(AxisRun& a, const Shape& of_a, AxisRun& b, const Shape& of_b) {
  while (a.elements != b.elements) {
    const bool first_is_short = a.elements < b.elements;
    AxisRun& run = first_is_short ? a : b;
    const Shape& shape = first_is_short ? of_a : of_b;
    if (run.last == shape.size()) return false;
    run.take(shape);
  }
  return true;
}

// A run of axes of the input holds the elements of a run of axes of the output. A part of them is a
// slice of the outermost axis of either. Runs are the same ones, seen from the gradient's side.
std::vector<LetterSplit> view_splits(const OpReader& op) {
  std::vector<LetterSplit> result;
  if (op.output_count() != 1 || op.output(0).elements() == 0) return result;
  const Shape &from = op.in(0), &to = op.out();
  if (from.size() > AxisLetters::kMostAxes || to.size() > AxisLetters::kMostAxes) return result;
  AxisRun in, out;
  for (std::size_t number = 0; number < AxisLetters::kMostAxes; ++number) {
    in = run_after(in, from);
    out = run_after(out, to);
    if (in.elements == 1 || out.elements == 1 || !make_equal(in, from, out, to)) break;
    const std::int64_t extent = std::gcd(from[in.first], to[out.first]);
    const bool mixes_samples = in.has_batch(op.input(0)) || out.has_batch(op.output(0));
    if (mixes_samples || extent < 2 || extent > kLongestSplit) continue;
    LetterSplit split{static_cast<char>('a' + number), extent, {}, {}};
    split.inputs.assign(op.input_count(), kAllOf);
    split.inputs[0] = static_cast<int>(in.first);
    split.outputs = {static_cast<int>(out.first)};
    result.push_back(std::move(split));
  }
  return result;
}

// ---- ops with letters

// Ops that add up what each index of a letter gives that their output lacks. A bias would be added
// by every part. Not those with an activation behind the sum (FusedConv, FusedGemm), and not means.
bool adds_up(const OpReader& op) {
  static const std::set<std::string_view> sums = {"CombineTokens", "Einsum",         "FusedMatMul",
                                                  "Gather",        "MatMul",         "ReduceL1",
                                                  "ReduceSum",     "ReduceSumSquare"};
  static const std::set<std::string_view> biased = {"Conv", "ConvTranspose", "Gemm"};
  return sums.contains(op->type) || (biased.contains(op->type) && !op.has_input(2));
}

bool carries(const std::string& axes, char letter) { return axes.find(letter) != axes.npos; }

class LetteredOp {
 public:
  LetteredOp(const OpReader& op, AxisLetters letters) : op_(op), letters_(std::move(letters)) {
    if (op->attribute("wrt") != nullptr) forward_ = axis_letters(op.forward());
    name_rows();
  }

  std::vector<LetterSplit> splits() const {
    std::vector<LetterSplit> result;
    if (!is_sound()) return result;
    std::set<char> all;
    for (const auto* tensors : {&letters_.inputs, &letters_.outputs})
      for (const std::string& axes : *tensors) all.insert(axes.begin(), axes.end());
    all.erase(AxisLetters::kMixed);
    for (const char letter : all)
      if (auto split = split_along(letter)) result.push_back(std::move(*split));
    return result;
  }

 private:
  OpReader origin() const { return forward_ ? op_.forward() : op_; }

  // Rows of a table in which others look up: a part finds those that it has, and zeros. What is
  // looked up is the sum over all parts (a vocabulary that is divided: Megatron-LM, 3).
  void name_rows() {
    const OpReader of = origin();
    if (of->type != "Gather" || of.axis("axis", 0, of.in(0).size()) != 0 ||
        !is_floating(of.input(0).type))
      return;
    constexpr char kRows = '#';
    std::string& table = forward_ ? letters_.outputs[0] : letters_.inputs[0];
    if (!table.empty()) table[0] = kRows;
  }

  // Whether the letters tell all that they should.
  bool is_sound() const {
    for (std::size_t i = 0; i < op_.input_count(); ++i)
      if (op_.has_input(i) && letters_.inputs[i].size() != op_.in(i).size()) return false;
    for (std::size_t i = 0; i < op_.output_count(); ++i)
      if (letters_.outputs[i].size() != op_.out(i).size()) return false;
    return !has_other_heads();
  }

  // Keys and values of before, and masks of [heads, queries, keys], have heads without a letter.
  bool has_other_heads() const {
    const OpReader op = origin();
    return op->type == "Attention" &&
           (op.has_input(4) || op.has_input(5) || (op.in(3).size() == 3 && op.in(3)[0] != 1));
  }

  std::optional<LetterSplit> split_along(char letter) const {
    LetterSplit split{letter, extent_of(letter), {}, {}};
    if (split.extent < 2 || split.extent > kLongestSplit) return std::nullopt;
    for (std::size_t i = 0; i < op_.input_count(); ++i)
      split.inputs.push_back(op_.has_input(i) ? axis_in(letters_.inputs[i], op_.in(i), letter)
                                              : kAllOf);
    const std::optional<bool> sums = sums_over(letter);
    if (!sums) return std::nullopt;
    for (std::size_t i = 0; i < op_.output_count(); ++i) {
      const int axis = axis_in(letters_.outputs[i], op_.out(i), letter);
      if (axis == kAllOf && !*sums) return std::nullopt;
      split.outputs.push_back(axis == kAllOf ? kSummed : axis);
    }
    return split;
  }

  // An axis that is stretched is needed as it is.
  static int axis_in(const std::string& axes, const Shape& shape, char letter) {
    const std::size_t at = axes.find(letter);
    return at == std::string::npos || shape[at] == 1 ? kAllOf : static_cast<int>(at);
  }

  // 0: its axes do not fit together.
  std::int64_t extent_of(char letter) const {
    std::int64_t extent = 0;
    bool fits = true;
    const bool may_differ = origin()->type == "Attention" || origin()->type == "BlockLogSumExp";
    const auto look_at = [&](const std::string& axes, const Tensor& tensor) {
      const std::size_t at = axes.find(letter);
      if (at == std::string::npos) return;
      const std::int64_t size = tensor.shape[at];
      fits = fits && !carries(axes.substr(at + 1), letter) &&
             !is_batch_axis(tensor, static_cast<int>(at)) &&
             (size == 1 || extent == 0 || extent == size || may_differ);
      if (size != 1) extent = std::gcd(extent, size);
    };
    for (std::size_t i = 0; i < op_.input_count(); ++i)
      if (op_.has_input(i)) look_at(letters_.inputs[i], op_.input(i));
    for (std::size_t i = 0; i < op_.output_count(); ++i)
      look_at(letters_.outputs[i], op_.output(i));
    return fits ? extent : 0;
  }

  // Whether an output that lacks the letter is a sum over it; nothing: the letter is refused. The
  // gradient of what is the same all along a letter of the results is the sum of what each of them
  // gives it. The gradient along a letter that the forward op sums over is no sum. Where only some
  // results have the letter, a part of the forward op is not known: a loss that keeps its
  // probabilities is a mean.
  std::optional<bool> sums_over(char letter) const {
    if (!forward_) return adds_up(op_);
    const auto has_letter = [&](const std::string& axes) { return carries(axes, letter); };
    const bool of_all = std::ranges::all_of(forward_->outputs, has_letter);
    if (!of_all && std::ranges::any_of(forward_->outputs, has_letter)) return std::nullopt;
    // What experts give back is weighed, and added up: each has its tokens' weights.
    return of_all || op_->type == "CombineTokensGradWeights";
  }

  OpReader op_;
  AxisLetters letters_;
  std::optional<AxisLetters> forward_;  // of a gradient op
};

// ---- sums of sums

struct SummedLetter {
  int axis = 0;  // kSumOver and on
  std::int64_t extent = 0;
};

// That the tensor's producer sums over.
std::vector<SummedLetter> summed_letters(const Graph& graph, TensorId tensor) {
  std::vector<SummedLetter> result;
  const OpId producer = tensor.valid() ? graph.tensor(tensor).producer : OpId();
  if (!producer.valid() || graph.op(producer).view) return result;
  const std::vector<TensorId>& outputs = graph.op(producer).outputs;
  const auto output =
      static_cast<std::size_t>(std::ranges::find(outputs, tensor) - outputs.begin());
  const std::vector<LetterSplit> splits = letter_splits(graph, producer);
  for (std::size_t i = 0; i < splits.size(); ++i)
    if (splits[i].outputs[output] == kSummed)
      result.push_back({kSumOver + static_cast<int>(i), splits[i].extent});
  return result;
}

// One letter of each input, in all ways: mostly there is one.
void add_sums_of_sums(const Graph& graph, const Op& op, std::vector<LetterSplit>& splits) {
  constexpr std::size_t kMost = 4;
  if (std::set(op.inputs.begin(), op.inputs.end()).size() < op.inputs.size()) return;
  std::vector<LetterSplit> ways{{'{', 0, {}, {kSummed}}};
  for (const TensorId input : op.inputs) {
    std::vector<LetterSplit> longer;
    for (const LetterSplit& way : ways)
      for (const SummedLetter& letter : summed_letters(graph, input)) {
        if (longer.size() == kMost) break;
        longer.push_back(way);
        longer.back().extent = std::gcd(way.extent, letter.extent);
        longer.back().inputs.push_back(letter.axis);
      }
    ways = std::move(longer);
  }
  for (LetterSplit& way : ways) {
    way.letter = static_cast<char>('{' + (&way - ways.data()));
    if (way.extent >= 2) splits.push_back(std::move(way));
  }
}

}  // namespace

std::vector<LetterSplit> letter_splits(const Graph& graph, OpId id) {
  const Op& op = graph.op(id);
  const OpReader reader(graph, op);
  if (op.estimated || op.inputs.empty() || !op.inputs[0].valid()) return {};
  if (op.view) return view_splits(reader);
  const bool makes = !op.outputs.empty();
  if ((makes ? reader.output(0) : reader.input(0)).elements() == 0) return {};
  auto letters = axis_letters(reader);
  std::vector<LetterSplit> splits;
  if (letters) splits = LetteredOp(reader, std::move(*letters)).splits();
  const bool adds = op.type == "AddN" || op.type == "CastGrad";
  if (adds && op.phase == Phase::Backward) add_sums_of_sums(graph, op, splits);
  return splits;
}

}  // namespace strato
