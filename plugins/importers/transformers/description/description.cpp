#include "plugins/importers/transformers/description/description.h"

namespace strato::transformers_import {

std::string input_name(const Description& model) {
  return model.patches ? "pixel_values" : "input_ids";
}

}  // namespace strato::transformers_import
