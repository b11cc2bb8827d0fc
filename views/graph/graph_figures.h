// The figures of outcomes, made on a worker and remembered. GUI thread only.
#pragma once

#include <QObject>
#include <deque>
#include <memory>

#include "core/search/evaluate/outcome.h"
#include "views/graph/op_figures.h"
#include "views/models/worker.h"

namespace strato {

class GraphFigures : public QObject {
  Q_OBJECT
 public:
  explicit GraphFigures(Worker& worker, QObject* parent = nullptr)
      : QObject(parent), worker_(worker) {}

  // Null until they are made; then ready() says so. Null for no outcome.
  std::shared_ptr<const OpFigures> of(const std::shared_ptr<const Outcome>& outcome);

 signals:
  void ready();

 private:
  static constexpr std::size_t kMostKnown = 6;
  struct Known {
    std::weak_ptr<const Outcome> outcome;
    std::shared_ptr<const OpFigures> figures;  // null: under way
  };

  Worker& worker_;  // outlived by this: its jobs end first
  std::deque<Known> known_;
};

}  // namespace strato
