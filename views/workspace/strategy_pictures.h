// Pictures of the strategies of the open workspace: drawn on a worker when they are first asked
// for, then kept. GUI thread only.
#pragma once

#include <QImage>
#include <QObject>
#include <QSize>
#include <filesystem>
#include <list>
#include <map>

#include "core/store/workspace.h"
#include "views/models/worker.h"

namespace strato {

class StrategyPictures : public QObject {
  Q_OBJECT
 public:
  static constexpr std::size_t kMost = 400;  // kept; the oldest go first

  explicit StrategyPictures(QObject* parent = nullptr);
  ~StrategyPictures() override;

  // Those of another workspace are forgotten. Empty: none is open.
  void set_workspace(const std::filesystem::path& file);
  // Null while it is being drawn, or where it cannot be; made() tells.
  QImage picture(StrategyRow strategy, const QSize& size, bool dark);
  void wait();  // until all are drawn and told of, once events are processed: for tests

 signals:
  void made(strato::StrategyRow strategy);

 private:
  struct Key {
    StrategyRow strategy;
    int width, height;
    bool dark;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  struct Drawer;
  void take(std::uint64_t epoch, const Key& key, const QImage& image);

  std::filesystem::path file_;
  std::uint64_t epoch_ = 0;
  std::map<Key, QImage> images_;  // null: being drawn, or cannot be
  std::list<Key> order_;
  std::shared_ptr<Drawer> drawer_;  // on the worker
  Worker worker_{Worker::OnExit::DropQueued};
};

}  // namespace strato
