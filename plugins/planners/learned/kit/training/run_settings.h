// Options that all trainers share (--set key=value), and what follows from them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/search/api/trainer.h"

namespace strato::learned {

struct RunSettings {
  std::string start = {};  // weights to begin with; empty: fresh ones
  std::string device = "cpu";
  int held_out = 6;          // what only measures
  int report = 20;           // steps from point to point of the curve
  double save_seconds = 30;  // between checkpoints
  double patience = 30;      // seconds after which a silent process is taken for lost

  OptionTable option_table();
};

// The options that shape the weights, one "key=value" a line: they have to be equal for a
// checkpoint to be gone on from. `values`: the trainer's options as they are set.
std::string fingerprint(const std::vector<OptionHelp>& values);
template <class Settings>
std::string fingerprint_of(Settings settings) {
  return fingerprint(settings.option_table().list());
}
// The same with what is the process's own: seed and rank before `fingerprint`.
std::string full_fingerprint(const TrainingOptions& options, const std::string& fingerprint);

// Returns the rate of the next step: `rate`, towards which it rises over the first 20 steps, and
// from which it falls as a cosine to a twentieth. The end is where the options' budget of seconds,
// or else their steps, end.
double learning_rate(double rate, const TrainingOptions& options, std::int64_t steps,
                     double elapsed_seconds);

}  // namespace strato::learned
