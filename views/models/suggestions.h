// Single changes that would make the step faster, found in the background: the most plausible
// decisions are simulated one by one for the selected groups; where none is, for all groups alike,
// then for each of those with most work and parameters, and gradients are fused in other buckets.
// Changes of all groups' memory (core/search/fit/memory_changes.h) are tried, too; where the step
// does not fit, only what makes it fit is one. Kept to the constraints. What is no
// longer about the strategy shown is dropped. GUI thread only.
#pragma once

#include <QObject>
#include <QString>
#include <QTimer>
#include <atomic>
#include <memory>
#include <vector>

#include "views/models/edit_preview.h"

namespace strato {

struct Suggestion {
  std::vector<GroupId> groups;  // decided alike; none: it is about all
  QString words;                // "Move fc6 to v100"
  EditEffect effect;            // with the strategy that it makes
};

// What to try for one group: legal decisions other than its own, most plausible first. Pure.
std::vector<Decision> plausible_decisions(const Problem& problem, std::span<const GroupId> groups,
                                          const Strategy& strategy,
                                          const BoundConstraints* constraints, std::size_t count);
// Fusion buckets (see Strategy::bucket) other than the strategy's own; none where it has no two
// gradients to fuse. Pure.
std::vector<Bytes> plausible_buckets(const Problem& problem, const Strategy& strategy);
// Those with most compute time and most parameters, at most `count`. Pure.
std::vector<GroupId> weighty_groups(const Grouping& grouping, std::size_t count);
QString suggestion_words(std::span<const GroupId> groups, const Decision& decision,
                         const Problem& problem);

class Suggestions : public QObject {
  Q_OBJECT
 public:
  explicit Suggestions(Session& session, QObject* parent = nullptr);
  ~Suggestions() override;

  const std::vector<Suggestion>& list() const { return list_; }  // best first, few
  bool looking() const { return looking_; }
  int tried() const { return tried_; }  // decisions, so far
  void apply(std::size_t index);        // one edit

 signals:
  void changed();

 private:
  struct Job;
  class Search;
  void restart();
  void begin();
  void look(const Job& job, const std::atomic<std::uint64_t>& latest);  // on the worker's thread
  void take(std::uint64_t job, std::vector<Suggestion> found, int tried, bool done);

  Session& session_;
  QTimer soon_;
  std::uint64_t job_ = 0;
  bool looking_ = false;
  int tried_ = 0;
  std::vector<Suggestion> list_;
  std::shared_ptr<std::atomic<std::uint64_t>> latest_;
  Worker worker_{Worker::OnExit::DropQueued};
};

}  // namespace strato
