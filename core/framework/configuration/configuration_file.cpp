#include "core/framework/configuration/configuration_file.h"

#include <utility>

#include "core/base/error.h"
#include "core/framework/accelerate/accelerate_configuration.h"
#include "core/framework/configuration/configuration_text.h"
#include "core/framework/deepspeed/deepspeed_configuration.h"
#include "core/framework/megatron/parallel_arguments.h"
#include "core/framework/nemo/nemo_recipe.h"
#include "core/framework/torchtitan/torchtitan_configuration.h"
#include "core/io/file.h"

namespace strato::frameworks {

ReadConfiguration read_configuration(const std::filesystem::path& path, const Training& training) {
  constexpr std::uintmax_t kMost = std::uintmax_t{1} << 20;
  const std::string file = path.string();
  auto [is_words, words, given] = configuration_text(read_file(path, kMost), file);
  if (is_torchtitan(given)) return {"torchtitan", read_torchtitan(std::move(given), training)};
  if (is_words) return {"Megatron-LM", read_layout(words, training, file)};
  if (is_nemo(given)) return {"NeMo Automodel", read_nemo(std::move(given), training)};
  if (is_accelerate(given)) return {"Accelerate", read_accelerate(std::move(given), training)};
  if (is_deepspeed(given)) return {"DeepSpeed", read_deepspeed(std::move(given), training)};
  throw InputError(file, "", "is the configuration of no framework that is known here",
                   "give one of Megatron-LM, torchtitan, DeepSpeed, Accelerate or NeMo Automodel");
}

}  // namespace strato::frameworks
