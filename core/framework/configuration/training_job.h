// What a training framework's configuration says beside the layout, before anybody knows on which
// devices it is to run: whose it is, of which model, how much of it at once, and where. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/framework/megatron/described_model.h"

namespace strato::frameworks {

struct TrainingJob {
  std::string framework;                      // as ReadConfiguration has it
  std::optional<DescribedModel> model = {};   // nothing: the text leaves it to the program
  std::optional<std::int64_t> sequence = {};  // tokens of a sample
  std::optional<std::int64_t> machines = {}, gpus = {};  // gpus: of each machine
  std::int64_t devices_of_a_row = 1;                // columns x rows with the same samples x stages
  std::optional<std::int64_t> batch = {};           // of a step, over all devices
  std::optional<std::int64_t> batch_of_a_row = {};  // where nothing says the whole batch

  // The whole batch on so many devices; nothing: the text does not say it.
  std::optional<std::int64_t> batch_on(std::int64_t devices) const;
};

// A text of the kinds that read_configuration() takes. Nothing: it is none of them. Throws
// InputError, about `file`, for what is wrong in one.
std::optional<TrainingJob> training_job(std::string_view text, const std::string& file);

// What stands in a shell script in front of the program: "--nproc_per_node 8", "GPUS_PER_NODE=8".
struct Machines {
  std::optional<std::int64_t> machines, gpus;
};
Machines machines_in(std::string_view script);

}  // namespace strato::frameworks
