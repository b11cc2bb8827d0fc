// The main window as lessons see it: its views and parts by name, and the replay of its search
// tree.
#pragma once

#include <QStringList>
#include <functional>
#include <utility>
#include <vector>

#include "core/search/tree/search_tree.h"
#include "views/lessons/lesson_stage.h"

class QMainWindow;

namespace strato {

class SearchTreeView;

class WindowStage : public LessonStage {
 public:
  // `places`: names of widgets of the window; `show` brings a view to the front.
  WindowStage(QMainWindow& window, std::vector<std::pair<QString, QWidget*>> places,
              std::function<void(QWidget*)> show);

  QStringList names() const;
  QWidget* place(const QString& name) const override;
  bool shows(const QString& view) const override;
  void show_view(const QString& view) override;
  std::optional<Replay> replayed() const override;
  void replay(bool on) override;
  void seek_replay(std::size_t step) override;

 private:
  std::vector<std::pair<QString, QWidget*>> places_;
  std::function<void(QWidget*)> show_;
  SearchTreeView* search_;
};

}  // namespace strato
