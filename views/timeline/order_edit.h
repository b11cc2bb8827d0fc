// Another order of what a device computes, by hand: an op before or after another on the same
// device, as priorities of ops (FastT 5). Pure; safe from any thread.
#pragma once

#include "core/search/api/problem.h"
#include "core/sim/engine/simulate.h"

namespace strato {

// Two computations or updates of one device, of different ops.
struct OrderWish {
  TaskId moved, other;
  bool before = true;  // or after it
  friend bool operator==(const OrderWish&, const OrderWish&) = default;
};

// Has the task an order of its own? What is only moved or reshuffled goes with its op.
bool is_ordered(const Task& task);

// The strategy with priorities: all ops in the order in which they start in `shown`, but for the
// wish. What has to come first for it goes with it. Throws InputError (place: the op) when one of
// the two needs the other one, and when the wish is none.
Strategy with_order(const Strategy& strategy, const Timeline& shown, OrderWish wish);

// Throws InputError when in `after`, which is of the strategy that with_order made, the two still
// run the other way round: the one that should be first waits for something else.
void check_order(const Timeline& shown, OrderWish wish, const Timeline& after);

}  // namespace strato
