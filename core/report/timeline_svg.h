// The simulated step as a picture: two rows a device, what it computes and what it sends.
#pragma once

#include <string>

#include "core/sim/engine/simulate.h"

namespace strato::html {

// Tasks are painted by these kinds; they are names of CSS classes.
enum class Paint { Compute, Update, Reshuffle, Transfer, Collective };
inline constexpr int kPaints = 5;
const char* class_of(Paint paint);
const char* label_of(Paint paint);
Paint paint_of(TaskKind kind);

// An <svg> whose size does not grow with the number of tasks: of each point of a row the kind that
// fills most of it is drawn, as dark as it is full, and equal neighbours are one rectangle. Devices
// beyond the first `most_devices` are left out, and it says so. `across`: what its width stands
// for, for several pictures of one scale; not before the step's end.
std::string timeline_svg(const Timeline& timeline, std::size_t most_devices = 64,
                         Nanos across = Nanos(0));
std::string timeline_key();  // of its colours: a paragraph

}  // namespace strato::html
