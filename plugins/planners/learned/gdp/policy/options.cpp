#include "plugins/planners/learned/gdp/policy/options.h"

namespace strato::gdp {

OptionTable WholeOpOptions::option_table() {
  return {{"replicate", placement.replicate, "a unit may run on all devices, not only on one"},
          {"colocate",
           placement.colocate,
           {"parameters", "gradients"},
           "parameters: what reads a parameter and its update stay together; gradients: and "
           "backward ops with their forward ops"}};
}

}  // namespace strato::gdp
