// A training as it stands between two steps, in one file.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <optional>
#include <string>

#include "plugins/planners/gdp/train_lessons.h"

namespace strato::gdp {

struct Checkpoint {
  std::string fingerprint;  // settings, models and clusters: all that shapes the weights
  std::int64_t steps = 0, visits = 0, evaluations = 0;
  double elapsed_seconds = 0;
  double loss_sum = 0;  // since the last point of the curve
  std::int64_t losses = 0;
  std::string network, optimizer;  // as Network makes them
  std::deque<LessonRecord> lessons;
};

void write_checkpoint(const std::filesystem::path& file, const Checkpoint& checkpoint);
// Nothing when there is no such file. Throws InputError when it is damaged, or belongs to another
// training.
std::optional<Checkpoint> read_checkpoint(const std::filesystem::path& file,
                                          const std::string& fingerprint);

}  // namespace strato::gdp
