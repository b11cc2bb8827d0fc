// The strip that steps through the history of a search tree (views/style/transport_bar.h has the
// keys, which work when this has the focus), and a sentence about the step.
#pragma once

#include <QWidget>
#include <memory>

#include "core/search/mcts/tree_replay.h"
#include "core/search/tree/search_tree.h"

class QLabel;

namespace strato {
namespace style {
class TransportBar;
}

class ReplayPanel : public QWidget {
  Q_OBJECT
 public:
  explicit ReplayPanel(QWidget* parent = nullptr);
  void begin(std::shared_ptr<const SearchTree> tree);  // at the end
  void end();
  bool active() const { return after_ != nullptr; }
  // One step before the one shown, and after it. Only while active.
  const TreeReplay& before() const { return *before_; }
  const TreeReplay& after() const { return *after_; }
  void seek(std::size_t step);
  void move(std::int64_t steps);
  void play(bool on);
  bool playing() const;
  void tell(const QString& story);  // HTML

 signals:
  void stepped();
  void close_wanted();

 protected:
  bool event(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void paintEvent(QPaintEvent* event) override;

 private:
  void show_step();

  std::unique_ptr<TreeReplay> before_, after_;
  style::TransportBar* bar_;
  QLabel* story_;
};

}  // namespace strato
