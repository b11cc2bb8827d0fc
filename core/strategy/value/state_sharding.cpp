#include "core/strategy/value/state_sharding.h"

namespace strato {

void share_states(Strategy& strategy, const StateSharding& states) {
  for (std::optional<Decision>& decision : strategy.groups) {
    if (!decision || decision->mode != Mode::ReplicateAllReduce) continue;
    decision->roles.states = states;
    drop_meaningless_roles(*decision);
    // All of them is what 0 says.
    std::int32_t& rows = decision->roles.states.rows;
    if (state_rows_of(*decision) == decision->devices.size() / columns_of(*decision)) rows = 0;
  }
}

}  // namespace strato
