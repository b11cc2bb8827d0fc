// The pipeline of the strategy that is shown, and of one that somebody thinks about: another
// schedule, other stages, a table by hand. What is thought about is simulated in the background, is
// seen with its price before anything changes, and becomes one undoable edit when it is applied.
// Looks only while somebody watches. GUI thread only.
#pragma once

#include <QObject>
#include <QString>
#include <cstdint>
#include <memory>

#include "views/models/session.h"
#include "views/models/worker.h"
#include "views/pipeline/pipeline_picture.h"

namespace strato {

class PipelineModel : public QObject {
  Q_OBJECT
 public:
  using Picture = std::shared_ptr<const PipelinePicture>;

  explicit PipelineModel(Session& session, QObject* parent = nullptr);
  ~PipelineModel() override;

  void watch(bool on);
  bool looking() const { return looking_; }
  // Of the outcome that is shown; null: there is none, or it is being looked at.
  const Picture& shown() const { return shown_; }
  const QString& trouble() const { return trouble_; }  // why it is null

  // Thinks about what `change` makes of the strategy that is thought about already, else of the one
  // that is shown. The latest wins. `label`: of the edit.
  void think(StrategyChange change, const QString& label);
  void forget();
  bool thinks() const { return thinks_; }  // until it is forgotten or applied
  bool waits() const { return waiting_; }  // for the answer
  const Picture& thought() const { return thought_; }
  // Why there is none of the latest; what was thought about before stays.
  const QString& refusal() const { return refusal_; }
  // False: nothing is known yet, it changes nothing, or it cannot be.
  bool apply();

  // What is drawn: what is thought about, if there is any, else what is shown.
  const Picture& seen() const { return thought_ ? thought_ : shown_; }

 signals:
  void shown_changed();
  void thought_changed();

 private:
  void refresh();
  void take(std::uint64_t job, Picture picture, const QString& refusal);

  Session& session_;
  std::shared_ptr<const Outcome> of_;  // shown_, or what is being looked at
  Picture shown_, thought_;
  QString trouble_, refusal_, label_;
  bool watched_ = false, looking_ = false, thinks_ = false, waiting_ = false;
  std::uint64_t job_ = 0;
  std::shared_ptr<std::atomic<std::uint64_t>> latest_;  // what the worker need not do any more
  Worker worker_{Worker::OnExit::DropQueued};
};

}  // namespace strato
