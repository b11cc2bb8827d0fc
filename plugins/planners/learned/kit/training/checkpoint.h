// A training as it stands between two steps, in one file: an archive of tensors
// (core/data/tensor_archive.h) with the network, its optimizer and the learner's experience.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "plugins/planners/learned/kit/network/network_state.h"
#include "plugins/planners/learned/kit/training/learner.h"

namespace strato::learned {

struct Checkpoint {
  std::string fingerprint;  // settings, models and clusters: all that shapes the weights
  std::int64_t step = 0;
  double elapsed_seconds = 0;
  double loss_sum = 0;  // of the steps since the last point of the curve
  std::int64_t losses = 0;
  Collected collected;
  NetworkState network;
  std::string experience;  // as the learner makes it
};

std::string write_checkpoint(const Checkpoint& checkpoint, const std::string& planner);
// Throws InputError when it is damaged, of another version or of another planner; `file`: its name,
// for messages. Also for the state that processes take over (agree_on_start).
Checkpoint parse_checkpoint(std::string_view bytes, const std::string& planner,
                            const std::string& file);
// Throws InputError when the two differ, and says in what.
void expect_same_training(const Checkpoint& checkpoint, const std::string& fingerprint,
                          const std::string& file);

}  // namespace strato::learned
