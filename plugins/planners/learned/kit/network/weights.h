// The file of a network's weights: an archive of tensors (core/data/safetensors.h) with one
// tensor, "parameters", and in its notes the planner, the sizes, and how they were made. Files as
// versions before the archive wrote them are read, too: those of `tag` ("STRATAG") and of the other
// planners ("STRATONN"), little-endian. Include in .cpp files only.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/data/safetensors.h"

namespace strato::learned {

struct Weights {
  std::string planner;  // whose they are
  std::string size;     // JSON, the network's own
  std::string note;     // JSON: how they were made; may be empty
  std::vector<float> parameters;
};

std::string write_weights(const Weights& weights);
// Throws InputError for anything that write_weights() did not make, weights of another planner, and
// values that are not finite. `file`: its name, for messages.
Weights parse_weights(std::string_view bytes, const std::string& planner, const std::string& file);

// read_archive() whose InputErrors all name the kind's thing to a person, not its format.
ReadArchive read_strictly(std::string_view bytes, const ContainerKind& kind,
                          const std::string& file);

}  // namespace strato::learned
