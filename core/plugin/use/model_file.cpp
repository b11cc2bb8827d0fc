#include "core/plugin/use/model_file.h"

#include "core/io/json.h"

namespace strato {

bool describes_model(const JsonView& root) {
  if (!root.is_object() || root.find("format")) return false;
  return root.find("model_type").has_value() || root.find("architectures").has_value();
}

}  // namespace strato
