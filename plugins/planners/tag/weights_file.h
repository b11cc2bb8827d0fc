// The file of a network's weights: magic "STRATAG", version, sizes, a note in JSON, parameters,
// and a digest over all of it. Little-endian.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plugins/planners/tag/network.h"

namespace strato::tag {

struct WeightsFile {
  NetworkSize size;
  std::string note;
  std::vector<float> parameters;
};

std::string write_weights(const WeightsFile& weights);
// Throws InputError for anything that write_weights() of this version did not make.
WeightsFile parse_weights(std::string_view bytes, const std::string& file);

}  // namespace strato::tag
