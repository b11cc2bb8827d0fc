// Several plans beside the one that is shown: chosen as a second plan is (second_plan.h), simulated
// alike, and compared all with all in the background. What was found last stays meanwhile; what
// arrives too late is dropped. In the GUI thread. Must not outlive the session.
#pragma once

#include <QObject>
#include <atomic>
#include <memory>
#include <vector>

#include "core/compare/plan_matrix.h"
#include "core/search/evaluate/outcome.h"
#include "views/compare/compared_plan.h"

namespace strato {

// Immutable. The last plan of the matrix is the one that was shown; the others are members.
struct ShownMatrix {
  std::shared_ptr<const Problem> problem;  // of the plan shown: what ids are about
  std::vector<SecondChoice> choices;       // by plan but the last one
  std::vector<ComparedPlan> sides;         // by plan
  PlanMatrix matrix;
};

class PlanSet : public QObject {
  Q_OBJECT
 public:
  static constexpr std::size_t kMost = 8;  // members

  explicit PlanSet(Session& session, QObject* parent = nullptr);
  ~PlanSet() override;

  void set_active(bool active);  // only while it is seen does it work
  // False: it is a member already, or there are as many as can be. `like`: who knows what was shown
  // before the last change; null: nobody.
  bool add(const SecondChoice& choice, const SecondPlan* like = nullptr);
  void remove(const SecondChoice& choice);
  SecondPlan* find(const SecondChoice& choice) const;  // null: no member
  const std::vector<std::unique_ptr<SecondPlan>>& members() const { return members_; }
  QStringList problems() const;  // of members that cannot be shown, one line each

  const std::shared_ptr<const ShownMatrix>& shown() const { return shown_; }  // null: none yet
  bool busy() const;
  bool has_ids_of_session() const;  // of shown()

  // As a page for people without the tool (core/compare/page/plans_html.h), in the background; the
  // session tells how it went. Nothing without a matrix.
  void save_report(const std::filesystem::path& file);

  void settle();  // until it is done and told: for tests and captures. Runs the event loop.

 signals:
  void changed();  // members, the matrix or busy()

 private:
  void take_outcome();
  void member_changed();
  void refresh();
  std::vector<ComparedPlan> sides(std::vector<SecondChoice>& choices) const;

  Session& session_;
  std::vector<std::unique_ptr<SecondPlan>> members_;
  std::vector<SecondChoice> asked_;        // by member
  std::optional<ComparedPlan> reference_;  // as it was simulated last
  std::shared_ptr<const ShownMatrix> shown_;
  std::vector<std::shared_ptr<const Outcome>> compared_;  // what the matrix is, or will be, of
  std::vector<SecondChoice> compared_choices_;
  QString compared_label_;
  bool active_ = false, comparing_ = false;
  std::atomic<std::uint64_t> job_ = 0;
  Worker worker_{Worker::OnExit::DropQueued};  // last: ends before what its jobs use
};

}  // namespace strato
