// Wishes for another order of slices: what they would do is simulated on a thread of its own, and
// told, before one of them becomes an edit. GUI thread only; the latest wish wins.
#pragma once

#include <QObject>
#include <QString>
#include <memory>
#include <optional>

#include "views/models/edit_preview.h"
#include "views/timeline/order_edit.h"

namespace strato {

class OrderEditor : public QObject {
  Q_OBJECT
 public:
  explicit OrderEditor(Session& session, QObject* parent = nullptr);
  ~OrderEditor() override;

  // The answer comes with changed(). `shown` is the timeline of the session's outcome.
  void ask(std::shared_ptr<const Timeline> shown, OrderWish wish);
  // As one undoable step as soon as the answer is there; the session tells why not (message).
  void make(std::shared_ptr<const Timeline> shown, OrderWish wish);
  void forget();
  bool waits() const { return waiting_; }
  const std::optional<EditEffect>& effect() const { return effect_; }
  const QString& refusal() const { return refusal_; }  // empty: it can be done, as far as is known
  QString text() const;  // "conv4 before conv5: −1.2 ms (−0.6 %)"; empty: nothing was asked

 signals:
  void changed();

 private:
  struct Asked {
    std::shared_ptr<const Timeline> shown;
    OrderWish wish;
    friend bool operator==(const Asked&, const Asked&) = default;
  };
  void take(std::uint64_t job, std::optional<EditEffect> effect, const QString& refusal);
  void apply();
  QString label() const;

  Session& session_;
  std::optional<Asked> asked_;
  bool waiting_ = false, make_ = false;
  std::uint64_t job_ = 0;
  std::optional<EditEffect> effect_;
  QString refusal_;
  std::shared_ptr<std::atomic<std::uint64_t>> latest_;  // what the worker need not do any more
  Worker worker_{Worker::OnExit::DropQueued};
};

}  // namespace strato
