// Where the policy of the planner gdp looks when it places ops: asked on a worker, the latest
// answer remembered. GUI thread only.
#pragma once

#include <QObject>
#include <QString>
#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/plugin/load/plugin_registry.h"
#include "core/search/api/planner.h"
#include "views/models/worker.h"

namespace strato {

class GraphAttention : public QObject {
  Q_OBJECT
 public:
  // By op of the graph; see Attention::of.
  using Shares = std::shared_ptr<const std::vector<double>>;
  using Options = std::map<std::string, std::string>;  // the planner's own: PlannerOptions::set

  // `plugins` has to outlive it.
  explicit GraphAttention(const PluginRegistry& plugins, QObject* parent = nullptr)
      : QObject(parent), plugins_(plugins) {}

  // When all of these ops, in any order, are placed. Null until it is known; then ready() says so.
  Shares of(const std::shared_ptr<const Problem>& problem, const Options& options,
            const std::vector<OpId>& ops);
  // Why there is no answer to the latest question; empty: it is known, or under way.
  const QString& why_not() const { return why_not_; }

 signals:
  void ready();

 private:
  // The network has passed over this problem with these weights. Made and read by the worker alone.
  struct Policy {
    std::shared_ptr<const Problem> problem;
    Options options;
    std::shared_ptr<const Attention> attention;
  };
  void look(const std::shared_ptr<const Problem>& problem, const Options& options);

  const PluginRegistry& plugins_;
  std::shared_ptr<const Problem> problem_;
  Options options_;
  std::vector<OpId> ops_;
  Shares shares_;
  QString why_not_;
  std::atomic<std::uint64_t> job_ = 0;  // of the latest question
  Policy policy_;
  Worker worker_{Worker::OnExit::DropQueued};  // last: its jobs end before what they use
};

}  // namespace strato
