#include "core/program/rank/rank_validate.h"

#include "core/program/rank/instruction_check.h"
#include "core/program/rank/value_check.h"

namespace strato {
namespace {

using Kind = InstructionKind;

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
