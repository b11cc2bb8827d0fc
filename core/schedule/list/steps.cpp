#include "core/schedule/list/steps.h"

#include <array>

namespace strato {

std::string sentence(PlanningSteps::Why why) {
  constexpr std::array kSentences = {
      "finishes first here",
      "starts first here",
      "is on the critical path, which has this device",
      "stays with the node before it",
      "waits less here than sending its result back costs",
      "follows its favourite parent",
      "has to be with a node that shares its parameters",
      "is next in the order, and this device has room",
      "fits nowhere; this device has the most memory left",
  };
  return kSentences[static_cast<std::size_t>(why)];
}

}  // namespace strato
