// Runs Graphviz's dot in a child process, one request at a time: it never blocks the window, can be
// killed, and what it once answered is remembered. GUI thread only.
#pragma once

#include <QHash>
#include <QObject>
#include <QProcess>
#include <QTimer>

#include "views/graph/graph_layout.h"

namespace strato {

class DotProcess : public QObject {
  Q_OBJECT
 public:
  explicit DotProcess(QObject* parent = nullptr);
  ~DotProcess() override;

  void set_program(const QString& program) { program_ = program; }  // "dot"
  // Answers with done(), at once when the answer is known. A request under way is dropped. Without
  // dot, or past its time, the answer is the layered layout and `hint` says why. Nodes without an
  // edge do not go through dot, which would put them all into one row: they lie in a grid below.
  void request(const LayoutRequest& request);
  void cancel();   // no answer comes
  void give_up();  // answers a request under way with the layered layout, at once
  bool is_running() const { return process_ != nullptr; }

 signals:
  void done(const strato::GraphLayout& layout, const QString& hint);

 private:
  void finished(int exit_code, QProcess::ExitStatus status);
  void fall_back(const QString& hint);
  void answer(const GraphLayout& joined, const QString& hint);

  QString program_ = QStringLiteral("dot");
  QProcess* process_ = nullptr;  // of the request under way
  QTimer limit_;
  LayoutRequest request_, joined_;  // as asked for, and without the nodes that have no edge
  std::vector<int> kept_;           // joined_.nodes[i] is request_.nodes[kept_[i]]
  QByteArray key_;
  QHash<QByteArray, GraphLayout> known_;
};

}  // namespace strato
