// The trainer of the planner `tag` (tag_learner.h).
#pragma once

#include <memory>

#include "core/search/api/trainer.h"

namespace strato::tag {

std::unique_ptr<Trainer> make_trainer();

}  // namespace strato::tag
