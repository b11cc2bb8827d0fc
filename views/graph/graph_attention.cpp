#include "views/graph/graph_attention.h"

#include <exception>

#include "views/style/text.h"

namespace strato {

GraphAttention::Shares GraphAttention::of(const std::shared_ptr<const Problem>& problem,
                                          const Options& options, const std::vector<OpId>& ops) {
  if (problem == problem_ && options == options_ && ops == ops_) return shares_;
  problem_ = problem;
  options_ = options;
  ops_ = ops;
  shares_.reset();
  why_not_.clear();
  worker_.post([this, job = ++job_, problem, options, ops] {
    if (job != job_) return;  // something newer was asked for
    Shares shares;
    QString why_not;
    try {
      look(problem, options);
      if (policy_.attention) {
        shares = std::make_shared<const std::vector<double>>(policy_.attention->of(ops));
      } else {
        why_not = tr("This policy has no attention");
      }
    } catch (const std::exception& thrown) {
      policy_ = {};
      why_not = text(std::string_view(thrown.what()));
    }
    QMetaObject::invokeMethod(
        this,
        [this, job, shares, why_not] {
          if (job != job_) return;
          shares_ = shares;
          why_not_ = why_not;
          emit ready();
        },
        Qt::QueuedConnection);
  });
  return nullptr;
}

void GraphAttention::look(const std::shared_ptr<const Problem>& problem, const Options& options) {
  if (problem == policy_.problem && options == policy_.options) return;
  policy_ = {};
  const auto planner = plugins_.planner("gdp");
  PlannerOptions given;
  given.set = options;
  policy_.attention = planner->attention(*problem, given);
  policy_.problem = problem;
  policy_.options = options;
}

}  // namespace strato
