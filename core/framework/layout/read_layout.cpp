#include "core/framework/layout/read_layout.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/at.h"
#include "core/base/number_from.h"
#include "core/framework/layout/stage_string.h"

namespace strato::frameworks {

std::int64_t Training::experts() const {
  const auto found = std::ranges::find(model, "--num-experts", &Argument::name);
  return found == model.end() ? 0 : number_from<std::int64_t>(found->value).value_or(0);
}

void find_rows(TrainingLayout& layout, const Training& training, const GivenArguments& given,
               std::string_view blamed) {
  const std::int64_t together = std::int64_t{layout.tensor} * layout.context * layout.stages;
  if (training.devices % together != 0)
    given.refuse(
        std::string(blamed),
        fmt::format(
            "{} columns{} in {} stages do not divide the {} devices of the cluster", layout.tensor,
            layout.context > 1 ? fmt::format(" of {} rows with the same samples", layout.context)
                               : "",
            layout.stages, training.devices),
        "give numbers whose product divides them");
  layout.rows = static_cast<std::int32_t>(training.devices / together);
}

void check_batch(const Training& training, const GivenArguments& given, std::int64_t batch,
                 std::string_view blamed) {
  if (batch != training.batch)
    given.refuse(std::string(blamed),
                 fmt::format("is {}, and the batch is {}", batch, training.batch),
                 fmt::format("plan with --batch {}", batch));
}

void divide_batch(TrainingLayout& layout, const Training& training, const GivenArguments& given,
                  std::int64_t samples, std::string_view blamed) {
  const std::int64_t at_once = samples * layout.rows;
  if (at_once == 0 || training.batch % at_once != 0)
    given.refuse(std::string(blamed),
                 fmt::format("is {}: {} rows of so many samples do not divide the batch of {}",
                             samples, layout.rows, training.batch),
                 "give a number that makes whole micro-batches");
  layout.micro_batch_size = samples;
  layout.micro_batches = static_cast<std::int32_t>(training.batch / at_once);
}

void divide_batch_in(TrainingLayout& layout, const Training& training, const GivenArguments& given,
                     std::int32_t steps, std::string_view blamed) {
  const std::int64_t parts = std::int64_t{layout.rows} * steps;
  if (training.batch % parts != 0)
    given.refuse(
        std::string(blamed),
        fmt::format("makes {} micro-batch{} of {} rows each, which do not divide the batch "
                    "of {}",
                    steps, steps == 1 ? "" : "es", layout.rows, training.batch),
        "give another number, or another batch");
  divide_batch(layout, training, given, training.batch / parts, blamed);
}

std::int64_t divide_turns(TrainingLayout& layout, const Training& training,
                          const GivenArguments& given, std::int64_t row,
                          std::string_view row_blamed, std::int64_t samples,
                          std::string_view samples_blamed) {
  if (row % samples != 0)
    given.refuse(std::string(samples_blamed),
                 fmt::format("is {}, which does not divide the {} samples of a row", samples, row),
                 "give a number that divides them");
  const std::int64_t at_once = row * layout.rows;
  if (training.batch % at_once != 0)
    given.refuse(std::string(row_blamed),
                 fmt::format("is {}: {} rows of so many samples do not divide the batch of {}", row,
                             layout.rows, training.batch),
                 "give a number that divides it");
  divide_batch(layout, training, given, samples, samples_blamed);
  return training.batch / at_once;
}

void divide_layers(TrainingLayout& layout, const Training& training, const GivenArguments& given,
                   std::string_view blamed) {
  const std::int64_t blocks = std::int64_t{layout.stages} * layout.chunks;
  if (training.layers % blocks != 0)
    given.refuse(
        std::string(blamed),
        fmt::format("makes {} parts, which do not divide {} layers", blocks, training.layers),
        "say which layers are in which part, or give another number");
  layout.blocks = even_blocks(training.layers, static_cast<std::int32_t>(blocks));
}

void read_stage_string(TrainingLayout& layout, const Training& training,
                       const GivenArguments& given, const std::string& text,
                       const std::string& blamed) {
  layout.blocks = parse_stage_string(text, given.file(), blamed);
  const std::size_t blocks = layout.blocks.size();
  if (blocks % at(layout.stages) != 0)
    given.refuse(
        blamed,
        fmt::format("has {} parts, which the {} stages do not divide", blocks, layout.stages),
        "give as many parts for each stage");
  std::int64_t layers = 0;
  for (const Block& block : layout.blocks) layers += block.layers;
  if (layers != training.layers)
    given.refuse(blamed,
                 fmt::format("has {} layers, and the model has {}", layers, training.layers),
                 "give each layer a t");
  layout.chunks = static_cast<std::int32_t>(blocks) / layout.stages;
}

void check_experts(const TrainingLayout& layout, const Training& training,
                   const GivenArguments& given, std::string_view blamed) {
  if (layout.expert == 1) return;
  const std::int64_t experts = training.experts();
  if (experts == 0)
    given.refuse(std::string(blamed), "means nothing: the model has no experts", "leave it out");
  if (experts % layout.expert != 0 || layout.rows % layout.expert != 0)
    given.refuse(std::string(blamed),
                 fmt::format("is {}, which does not divide the {} experts and the {} rows",
                             layout.expert, experts, layout.rows),
                 "give a number that divides both");
}

std::int32_t zero_stage_of(GivenArguments& given, const std::string& name, std::int32_t usual) {
  const auto text = given.text(name);
  if (!text || *text == "auto") return usual;
  const auto stage = number_from<std::int32_t>(*text, 0, StateSharding::kMostStage);
  if (!stage) given.refuse(name, fmt::format("is \"{}\"", shortened(*text)), "give 0 to 3");
  return *stage;
}

void share_states(TrainingLayout& layout, std::int32_t stage, std::int32_t rows,
                  const GivenArguments& given, std::string_view blamed) {
  const std::int32_t all = layout.all_rows();
  if (stage == 0 || rows == 1 || all == 1) return;
  const auto refuse = [&](const std::string& why) {
    given.refuse(std::string(blamed),
                 fmt::format("makes {} rows share their states, {}", rows, why),
                 "give a number that divides them");
  };
  if (all % rows != 0) refuse(fmt::format("which do not divide all {}", all));
  if (rows % (layout.expert * layout.context) != 0)
    refuse(fmt::format("which have not all {} among them", layout.context == 1 ? "experts"
                                                           : layout.expert == 1
                                                               ? "positions"
                                                               : "experts and positions"));
  layout.states = {.stage = stage, .rows = rows < all ? rows : 0};
}

}  // namespace strato::frameworks
