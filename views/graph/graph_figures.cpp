#include "views/graph/graph_figures.h"

#include <algorithm>

#include "core/search/evaluate/outcome.h"

namespace strato {

std::shared_ptr<const OpFigures> GraphFigures::of(const std::shared_ptr<const Outcome>& outcome) {
  if (!outcome) return nullptr;
  const auto is_it = [&](const Known& known) { return known.outcome.lock() == outcome; };
  const auto found = std::ranges::find_if(known_, is_it);
  if (found != known_.end()) return found->figures;
  known_.push_front({outcome, nullptr});
  if (known_.size() > kMostKnown) known_.pop_back();
  worker_.post([this, outcome] {
    auto figures = std::make_shared<const OpFigures>(figures_of(*outcome));
    QMetaObject::invokeMethod(
        this,
        [this, outcome, figures] {
          for (Known& known : known_) {
            if (known.outcome.lock() == outcome) known.figures = figures;
          }
          emit ready();
        },
        Qt::QueuedConnection);
  });
  return nullptr;
}

}  // namespace strato
