// What is placed is shown pale, so that the node of the step stands out.
#pragma once

#include "views/timeline/slice_colours.h"

namespace strato {

inline QColor pale(const QColor& colour, const QColor& ground) {
  return mixed(colour, ground, 0.3);
}

}  // namespace strato
