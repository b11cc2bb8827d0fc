// The trainer of the planner `tag` (TAG 4.2.2 and 5.2): searches on random models and clusters make
// examples, the network learns from them, and later searches are guided by it.
//
// Work goes in rounds: a few searches side by side with the network as it is, then a few steps of
// the optimizer on minibatches drawn from the latest examples. Of several processes each searches
// for itself.
#pragma once

#include <memory>

#include "core/search/api/trainer.h"

namespace strato::tag {

std::unique_ptr<Trainer> make_trainer();

}  // namespace strato::tag
