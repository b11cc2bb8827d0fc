#include "core/schedule/list/steps.h"

#include "core/base/error.h"

namespace strato {

std::string sentence(PlanningSteps::Why why) {
  using Why = PlanningSteps::Why;
  switch (why) {
    case Why::EarliestFinish:
      return "finishes first here";
    case Why::EarliestStart:
      return "starts first here";
    case Why::CriticalPath:
      return "is on the critical path, which has this device";
    case Why::WithPrevious:
      return "stays with the node before it";
    case Why::WorthMoving:
      return "waits less here than sending its result back costs";
    case Why::FavouriteParent:
      return "follows its favourite parent";
    case Why::Colocated:
      return "has to be with a node that shares its parameters";
    case Why::NextInOrder:
      return "is next in the order, and this device has room";
    case Why::BestEffort:
      return "fits nowhere; this device has the most memory left";
  }
  CHECK(false, "no such reason");
}

}  // namespace strato
