#include "app/worker/inputs.h"

#include <string>

#include "app/worker/cut_layout.h"
#include "core/program/value/op_parts.h"

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
  const AxisRange samples = range_along(graph_, input.tensor, part, kBatchAxis);
  std::string whole = batch_of(input, graph_, staged_.samples, step, samples.begin, samples.end);
  if (part.cuts().empty()) return whole;
  Tensor of_samples = graph_.tensor(input.tensor);
  Part slice = part.without(kBatchAxis);
  if (part.along(kBatchAxis))
    of_samples.shape =
        shape_of(of_samples, Part::samples(samples.begin, samples.end), graph_.batch());
  return SliceLayout(of_samples, slice).take(whole);
}

}  // namespace strato::worker
