// The file of a network's weights: magic "STRATONN", version of the file, the planner's name, a
// description in JSON (sizes, how it was made), parameters as floats, and a digest over all of it.
// Little-endian.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace strato::neural {

struct WeightsFile {
  std::string planner;      // whose they are
  std::string description;  // JSON, the planner's own
  std::vector<float> parameters;
};

std::string write_weights(const WeightsFile& weights);
// Throws InputError for anything that write_weights() did not make, weights of another planner, and
// values that are not finite. `file`: its name, for messages.
WeightsFile parse_weights(std::string_view bytes, const std::string& planner,
                          const std::string& file);

}  // namespace strato::neural
