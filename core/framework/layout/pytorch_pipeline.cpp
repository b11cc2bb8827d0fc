#include "core/framework/layout/pytorch_pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "core/base/at.h"
#include "core/base/number_from.h"

namespace strato::frameworks {
namespace {

constexpr std::array kSchedules = {
    PytorchSchedule{"1F1B", PipelineSchedule::OneFOneB, 1},
    PytorchSchedule{"GPipe", PipelineSchedule::Gpipe, 1},
    PytorchSchedule{"Interleaved1F1B", PipelineSchedule::Interleaved, 2},
    PytorchSchedule{"ZBVZeroBubble", PipelineSchedule::ZbV, 2},
    PytorchSchedule{"DualPipeV", PipelineSchedule::DualPipeV, 2},
};

std::string in_small_letters(std::string_view name) {
  std::string plain(name);
  std::erase(plain, '_');
  std::ranges::transform(plain, plain.begin(), [](unsigned char c) { return std::tolower(c); });
  return plain;
}

// "layers.3" of "model.layers.3"; all of "lm_head".
std::string_view without_prefix(std::string_view module) {
  const std::size_t layers = module.rfind("layers.");
  const std::size_t dot = layers == std::string_view::npos ? module.rfind('.') : layers - 1;
  return layers == 0 || dot >= module.size() ? module : module.substr(dot + 1);
}

}  // namespace

std::string_view name_in_pytorch(PipelineSchedule schedule) {
  const auto* const known = std::ranges::find(kSchedules, schedule, &PytorchSchedule::schedule);
  return known == kSchedules.end() ? "" : known->name;
}

PytorchSchedule read_pytorch_schedule(TrainingLayout& layout, GivenArguments& given,
                                      const std::string& name) {
  const std::string text = given.text(name).value_or("1F1B");
  if (layout.stages == 1) return kSchedules.front();
  const auto* const known = std::ranges::find_if(kSchedules, [&](const PytorchSchedule& one) {
    return in_small_letters(one.name) == in_small_letters(text);
  });
  if (known == kSchedules.end())
    given.refuse(name, fmt::format("is \"{}\"", shortened(text)),
                 "give 1F1B, GPipe, Interleaved1F1B, ZBVZeroBubble or DualPipeV");
  layout.schedule = known->schedule;
  return *known;
}

void read_pytorch_modules(TrainingLayout& layout, const Training& training, GivenArguments& given,
                          const std::string& name) {
  std::int32_t next = 0;
  for (std::size_t part = 0; given.has(fmt::format("{}.{}", name, part)); ++part) {
    Block& block = layout.blocks.emplace_back();
    for (const std::string& module : given.values(fmt::format("{}.{}", name, part))) {
      const std::string_view plain = without_prefix(module);
      if (plain == "tok_embeddings" || plain == "embed_tokens") block.embedding = true;
      if (plain == "output" || plain == "lm_head") block.head = true;
      if (!plain.starts_with("layers.")) continue;
      if (number_from<std::int32_t>(std::string(plain.substr(7))) != next)
        given.refuse(name,
                     fmt::format("has {} where layers.{} comes next", shortened(module), next),
                     "give all layers in their order");
      ++next, ++block.layers;
    }
  }
  const bool has_ends =
      !layout.blocks.empty() && layout.blocks.front().embedding && layout.blocks.back().head;
  if (next != training.layers || !has_ends)
    given.refuse(
        name,
        fmt::format("has {} layers{}, and the model has {}", next,
                    has_ends ? "" : ", not the embedding first and the head last", training.layers),
        "give all of the model's parts");
}

void find_chunks(TrainingLayout& layout, const GivenArguments& given, const PytorchSchedule& known,
                 const std::string& blamed) {
  const std::size_t parts = layout.blocks.size();
  if (parts % at(layout.stages) != 0)
    given.refuse(
        blamed,
        fmt::format("makes {} parts, which the {} stages do not divide", parts, layout.stages),
        "give as many for each stage");
  layout.chunks = static_cast<std::int32_t>(parts) / layout.stages;
  const bool takes_several = known.schedule == PipelineSchedule::Interleaved;
  if (takes_several ? layout.chunks < 2 : layout.chunks != known.chunks)
    given.refuse(blamed,
                 fmt::format("makes {} part{} for each stage, and {} takes {}", layout.chunks,
                             layout.chunks == 1 ? "" : "s", known.name,
                             takes_several ? "two or more" : fmt::format("{}", known.chunks)),
                 "give another schedule, or other parts");
}

}  // namespace strato::frameworks
