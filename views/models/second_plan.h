// A second plan beside the one that the window shows, for views that compare the two: data
// parallelism, what was shown before the last change, a stored strategy or run, or a plan file,
// also of another cluster or model. Simulated in the background as the session simulates, and again
// when the session's problem, costs or way of simulating change; what was found last stays
// meanwhile, what arrives too late is dropped. In the GUI thread. Must not outlive the session.
#pragma once

#include <QObject>
#include <QString>
#include <QStringList>
#include <atomic>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "core/search/evaluate/outcome.h"
#include "views/models/problem_source.h"
#include "views/models/session.h"
#include "views/models/worker.h"

namespace strato {

struct SecondChoice {
  enum class What { DataParallel, BeforeChange, Strategy, Run, File };
  What what = What::DataParallel;
  std::int64_t row = 0;        // of the workspace: StrategyRow or RunRow
  std::filesystem::path file;  // a plan (core/strategy/file/plan_file.h)
  friend bool operator==(const SecondChoice&, const SecondChoice&) = default;
};

// Immutable. Of the shown problem's graph and cluster (the same objects) unless the plan is for
// others.
struct OtherPlan {
  QString label;
  std::shared_ptr<const Problem> problem;  // in the groups of the strategy
  Strategy strategy;                       // complete
  std::shared_ptr<const Outcome> outcome;
  std::shared_ptr<const Explanation> explanation;  // without what-ifs; null: not there yet
  QStringList remarks;                             // what did not match, or does not count
};

class SecondPlan : public QObject {
  Q_OBJECT
 public:
  explicit SecondPlan(Session& session, QObject* parent = nullptr);
  ~SecondPlan() override;

  // It works only while somebody uses it.
  void use(const QObject* user, bool used);

  // What can be chosen now, in the order in which a menu lists it. Reads the workspace. Any plan
  // file may be chosen, too.
  struct Offer {
    SecondChoice choice;
    QString text;     // "mcts #3"
    QString section;  // "Runs"; empty: above all sections
  };
  std::vector<Offer> offers() const;
  const SecondChoice& choice() const { return choice_; }
  // What was shown before the last change is what it is for the other one.
  void remember_as(const SecondPlan& other);
  void choose(const SecondChoice& choice);

  // Null: not there yet, or problem() says why.
  const std::shared_ptr<const OtherPlan>& plan() const { return plan_; }
  bool same_graph() const;    // as the shown problem: ops and tensors have the same ids
  bool same_cluster() const;  // devices and links have the same ids
  QString problem() const { return problem_; }  // why the choice cannot be shown, one line
  bool busy() const { return busy_; }

  void settle();  // until it is done and told: for tests and captures. Runs the event loop.

 signals:
  void changed();  // the choice, the plan or its explanation, why there is none, or busy()

 private:
  struct Job;
  struct Shown {
    Strategy strategy;
    QString label;
  };
  struct Sources {  // what was read, kept for the next simulation of the same choice
    SecondChoice choice;
    std::shared_ptr<const Problem> opened;   // what it was read beside
    std::shared_ptr<const Problem> problem;  // what it is for
    Strategy strategy;
    QString label;
    QStringList remarks;
  };

  void take_problem();
  void take_strategy();
  void take_workspace();
  void refresh(bool read_again = false);
  void run(const Job& job);
  void find(const Job& job);
  Sources find_sources(const Job& job) const;
  template <class Function>
  void post(const Job& job, Function function);

  Session& session_;
  std::set<const QObject*> users_;
  SecondChoice choice_;
  std::filesystem::path workspace_;
  std::shared_ptr<const Problem> opened_;  // what shown_ and before_ are about
  std::optional<Shown> shown_, before_;
  std::shared_ptr<const OtherPlan> plan_;
  QString problem_;
  bool stale_ = true, busy_ = false;
  std::optional<Sources> kept_;  // used on the worker only
  std::atomic<std::uint64_t> job_ = 0;
  Worker worker_{Worker::OnExit::DropQueued};  // last: ends before what its jobs use
};

}  // namespace strato
