#include "core/plugin/api/launcher.h"

#include <array>

namespace strato {

std::string_view name_of(JobState state) {
  constexpr std::array<std::string_view, 5> kNames = {"waiting", "running", "finished", "failed",
                                                      "cancelled"};
  return kNames[static_cast<std::size_t>(state)];
}

bool is_over(JobState state) { return state != JobState::Waiting && state != JobState::Running; }

}  // namespace strato
