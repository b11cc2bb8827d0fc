// Explaining the outcome shown, on a worker thread of its own: first what is quick, then what-ifs
// part by part. Another outcome stops it; what arrives too late is dropped.
#include "views/models/explanation.h"
#include "views/models/session.h"
#include "views/models/session_state.h"

namespace strato {

void Session::explain() {
  state_->explain_stop.request_stop();
  state_->explain_stop = {};
  snapshot_.explanation = nullptr;
  const std::uint64_t job = ++state_->explain_job;
  if (!snapshot_.outcome) return;
  const bool thorough = search_.state == SearchPhase::Idle;  // a search needs the cores
  state_->explain.post([this, job, thorough, stop = state_->explain_stop.get_token(),
                        timeline = snapshot_.outcome->timeline, baseline = snapshot_.baseline,
                        problem = snapshot_.problem, bound = snapshot_.lower_bound] {
    if (stop.stop_requested()) return;
    const auto show = [this, job](const Explanation& found) {
      post([this, job, shown = std::make_shared<const Explanation>(found)] {
        if (job != state_->explain_job) return;
        snapshot_.explanation = shown;
        emit explanation_changed();
      });
    };
    try {
      Explanation found = explain_quickly(timeline, baseline ? baseline->timeline.get() : nullptr,
                                          *problem->cost, bound);
      show(found);
      while (thorough && !found.complete() && !stop.stop_requested()) {
        auto more = explain_further(found, bound, stop);
        if (!more) return;
        found = std::move(*more);
        show(found);
      }
    } catch (const std::exception& thrown) {
      post([this, text = QString::fromUtf8(thrown.what())] { emit message(text); });
    }
  });
}

// After a search, whose strategies are explained quickly only.
void Session::explain_the_rest() {
  if (snapshot_.explanation && !snapshot_.explanation->complete()) explain();
}

}  // namespace strato
