// The beginning of a drag of op groups and ops.
#pragma once

#include <functional>

#include "views/models/carried.h"

class QMimeData;
class QWidget;

namespace strato {

// A person carries them to another view, or to another place of this one. Returns when they
// were dropped or Escape was pressed, after an event loop of its own: `from`, and all that the
// caller holds, may be another by then.
void carry(QWidget& from, const Carried& carried, const Problem& problem);

// Carries instead of the platform, while it is set: for tests, since a platform without a screen
// carries nothing.
void carry_with(std::function<void(const QMimeData&)> carry);

}  // namespace strato
