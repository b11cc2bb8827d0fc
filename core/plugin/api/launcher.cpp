#include "core/plugin/api/launcher.h"

namespace strato {

std::string_view name_of(JobState state) {
  switch (state) {
    case JobState::Waiting:
      return "waiting";
    case JobState::Running:
      return "running";
    case JobState::Finished:
      return "finished";
    case JobState::Failed:
      return "failed";
    case JobState::Cancelled:
      return "cancelled";
  }
  return "unknown";
}

bool is_over(JobState state) { return state != JobState::Waiting && state != JobState::Running; }

}  // namespace strato
