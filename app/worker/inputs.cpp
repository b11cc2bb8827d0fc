#include "app/worker/inputs.h"

#include <string>

#include "app/worker/cut_layout.h"

namespace strato::worker {

RankInputs::RankInputs(const std::filesystem::path& job, const Graph& graph,
                       const RankProgram& program)
    : graph_(graph), program_(program), staged_(open_inputs(job, graph)) {
  for (std::size_t i = 0; i < program.values.size(); ++i) {
    const Value& value = program.values[ValueId(i)];
    for (std::size_t input = 0; input < staged_.inputs.size() && value.resident; ++input) {
      if (staged_.inputs[input].tensor == value.tensor) held_.push_back({ValueId(i), input});
    }
  }
}

void RankInputs::load(std::int64_t step, RankExecution& execution) const {
  for (const Held& held : held_) execution.write(held.value, elements(held, step));
}

std::string RankInputs::elements(const Held& held, std::int64_t step) const {
  const StagedInput& input = staged_.inputs[held.input];
  const Part& part = program_.values[held.value].part;
  const AxisRange samples = part.first();
  if (part.is_samples())
    return batch_of(input, graph_, staged_.samples, step, samples.begin, samples.end);
  std::string whole = batch_of(input, graph_, staged_.samples, step, 0, graph_.batch());
  if (!part.is_slice()) return whole;
  return SliceLayout(graph_.tensor(input.tensor), part).take(whole);
}

}  // namespace strato::worker
