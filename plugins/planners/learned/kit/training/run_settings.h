// Options that all trainers share (--set key=value).
#pragma once

#include <string>

#include "core/search/api/option_table.h"
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
// The same with what is the process's own: seed and rank before `fingerprint`.
std::string full_fingerprint(const TrainingOptions& options, const std::string& fingerprint);

}  // namespace strato::learned
