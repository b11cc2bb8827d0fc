// Changes of the strategy shown that make it fit, or that are faster and still fit, with what each
// costs: one or two decisions at a time (core/search/fit), tried in the background when a person
// asks. Kept to the constraints. Forgotten when another strategy is shown. GUI thread only.
#pragma once

#include <QObject>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "core/search/fit/fitting_plans.h"
#include "views/models/session.h"
#include "views/models/worker.h"

namespace strato {

class Fitting : public QObject {
  Q_OBJECT
 public:
  explicit Fitting(Session& session, QObject* parent = nullptr);
  ~Fitting() override;

  void look();  // nothing while it looks, or has found
  void stop();
  void apply(std::size_t index);  // of found()->plans: one edit
  bool looking() const { return looking_; }
  std::size_t done() const { return done_; }  // changes tried, of how many that may follow
  std::size_t all() const { return all_; }
  const std::optional<FittingPlans>& found() const { return found_; }
  const QString& trouble() const { return trouble_; }  // why nothing could be tried

 signals:
  void changed();

 private:
  struct Job {
    std::uint64_t number;
    std::shared_ptr<const Problem> problem;
    Strategy strategy;
    std::shared_ptr<const BoundConstraints> constraints;
    std::stop_token stop;
  };
  void forget();
  void try_all(const Job& job);  // on the worker's thread
  template <class F>
  void tell(std::uint64_t job, F take);

  Session& session_;
  std::uint64_t job_ = 0;
  std::stop_source stopping_;
  bool looking_ = false;
  std::size_t done_ = 0, all_ = 0;
  std::optional<FittingPlans> found_;
  QString trouble_;
  Worker worker_{Worker::OnExit::DropQueued};
};

// "Compute cheap ops again, and in 4 micro-batches"
QString words_of(const ChangedPlan& plan);

}  // namespace strato
