#include "core/program/rank/rank_validate.h"

#include <algorithm>

#include "core/strategy/value/variable_check.h"

namespace strato {
namespace {

using Kind = InstructionKind;

// An update adds it.
bool is_gradient(const Graph& graph, TensorId id) {
  return std::ranges::any_of(graph.consumers(id), [&](OpId reader) {
    const Op& op = graph.op(reader);
    return op.phase == Phase::Update && op.inputs.size() > 1 && op.inputs[1] == id;
  });
}

// Its tensor is in range of the graph, its part and encoding are possible for that.
void check_value(const Value& value, const Graph& graph, const RankRefusal& refusal) {
  refusal.expect(value.tensor.valid() && value.tensor.index() < graph.tensor_count(), "values",
                 "a tensor is out of range");
  const Tensor& tensor = graph.tensor(value.tensor);
  const Part& part = value.part;
  const bool some_samples = part.along(kBatchAxis) && !part.is_partial_sum();
  refusal.expect(
      is_part_of(part, tensor, graph.batch()) &&
          (!some_samples || (part.is_samples() && tensor.batch.kind == BatchKind::Batched)),
      "values", "a part is not one of its tensor");
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

// Values are written once, before they are read, and not used after their release.
class LifetimeCheck {
 public:
  LifetimeCheck(const RankProgram& program, const Graph& graph, const RankRefusal& refusal)
      : program_(program), graph_(graph), refusal_(refusal), phase_(program.values.size()) {}

  void use(std::size_t at) {
    for (const ValueId id : program_.reads[at])
      refusal_.expect(!id.valid() || program_.values[id].resident || phase_[id] == Life::There, at,
                      "it reads what is not there");
    for (const ValueId id : program_.writes[at]) {
      const Value& to = program_.values[id];
      const bool kept = program_.instructions[at].kind == Kind::Split &&
                        graph_.tensor(to.tensor).producer.valid();
      const bool again = to.resident && (program_.instructions[at].kind == Kind::Receive || kept);
      refusal_.expect(again || (!program_.values[id].resident && phase_[id] == Life::Absent), at,
                      "it writes a value again");
      phase_[id] = Life::There;
    }
    for (const ValueId id : program_.releases[at]) {
      refusal_.expect(!program_.values[id].resident && phase_[id] == Life::There, at,
                      "it releases what is not there");
      phase_[id] = Life::Released;
    }
  }

 private:
  enum class Life : std::uint8_t { Absent, There, Released };

  const RankProgram& program_;
  const Graph& graph_;
  const RankRefusal& refusal_;
  IdVector<ValueId, Life> phase_;
};

}  // namespace

void validate_rank_program(const RankProgram& program, const Graph& graph,
                           const std::string& name) {
  const RankRefusal refusal{name};
  refusal.expect(program.rank >= 0 && program.device.valid(), "", "it is of no rank or device");
  for (const Value& value : program.values) check_value(value, graph, refusal);
  LifetimeCheck lifetimes(program, graph, refusal);
  for (std::size_t i = 0; i < program.instructions.size(); ++i) {
    check_instruction(program, i, graph, refusal);
    lifetimes.use(i);
  }
}

}  // namespace strato
