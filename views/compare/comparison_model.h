// The comparison of the second plan with the one that is shown, made in the background whenever one
// of them has another outcome. What was found last stays meanwhile; what arrives too late is
// dropped. In the GUI thread.
#pragma once

#include <QObject>
#include <QPointer>
#include <atomic>
#include <memory>
#include <optional>

#include "core/compare/compare_plans.h"
#include "core/search/evaluate/outcome.h"
#include "views/compare/compared_plan.h"

namespace strato {

// Immutable. From the second plan to the one that was shown when it was made, or to another.
struct ShownComparison {
  std::shared_ptr<const Problem>
      problem;  // of the plan shown: what ids of the comparison are about
  PlanComparison comparison;
};

class ComparisonModel : public QObject {
  Q_OBJECT
 public:
  ComparisonModel(Session& session, SecondPlan& second, QObject* parent = nullptr);
  ~ComparisonModel() override;

  void set_active(bool active);  // only while it is seen does it, or the second plan, work
  // Compares with this plan in the place of the one shown, while it is there; null: with that
  // again.
  void set_to(SecondPlan* to);
  SecondPlan* to() const { return other_; }

  const std::shared_ptr<const ShownComparison>& shown() const { return shown_; }  // null: none yet
  bool busy() const { return busy_; }
  // Ids of `shown()` are those of the session's problem.
  bool has_ids_of_session() const;

  // As a page for people without the tool (core/compare/page/plans_html.h), in the background;
  // the session tells how it went. Nothing without a comparison.
  void save_report(const std::filesystem::path& file);

  void settle();  // with the second plan: for tests and captures. Runs the event loop.

 signals:
  void changed();  // the comparison or busy()

 private:
  void take_outcome();
  void take_other();
  const std::optional<ComparedPlan>& side_to() const { return other_ ? other_to_ : to_; }
  void refresh();
  void finish(std::uint64_t job, std::shared_ptr<const ShownComparison> found,
              const QString& problem);

  Session& session_;
  QPointer<SecondPlan> second_;
  QPointer<SecondPlan> other_;
  std::optional<ComparedPlan> to_, other_to_;  // as they were simulated last
  std::shared_ptr<const Outcome> compared_from_, compared_to_;
  QString label_from_, label_to_;
  std::shared_ptr<const ShownComparison> shown_;
  bool active_ = false, busy_ = false;
  std::atomic<std::uint64_t> job_ = 0;
  Worker worker_{Worker::OnExit::DropQueued};  // last: ends before what its jobs use
};

}  // namespace strato
