#include "app/explorer/window_stage.h"

#include <QDockWidget>
#include <QMainWindow>

#include "core/search/tree/search_tree.h"
#include "views/search/replay_panel.h"
#include "views/search/search_tree_view.h"

namespace strato {

WindowStage::WindowStage(QMainWindow& window, std::vector<std::pair<QString, QWidget*>> places,
                         std::function<void(QWidget*)> show)
    : places_(std::move(places)),
      show_(std::move(show)),
      search_(window.findChild<SearchTreeView*>()) {
  // Views are not in the window yet while it is made.
  for (const auto& [name, widget] : places_) {
    if (auto* search = qobject_cast<SearchTreeView*>(widget)) search_ = search;
  }
}

QStringList WindowStage::names() const {
  QStringList names;
  for (const auto& [name, widget] : places_) names << name;
  return names;
}

QWidget* WindowStage::place(const QString& name) const {
  for (const auto& [known, widget] : places_) {
    if (known == name) return widget;
  }
  return nullptr;
}

bool WindowStage::shows(const QString& view) const {
  const QWidget* widget = place(view);
  return widget && widget->isVisible();
}

void WindowStage::show_view(const QString& view) {
  QWidget* widget = place(view);
  if (!widget) return;
  for (QWidget* at = widget; at; at = at->parentWidget()) {
    if (auto* dock = qobject_cast<QDockWidget*>(at)) {
      dock->show();
      dock->raise();
    }
  }
  show_(widget);
}

std::optional<LessonStage::Replay> WindowStage::replayed() const {
  if (!search_ || !search_->replay_panel().active()) return std::nullopt;
  const TreeReplay& after = search_->replay_panel().after();
  return Replay{after.step(), after.steps()};
}

void WindowStage::replay(bool on) {
  if (search_ && search_->replay_panel().active() != on) search_->replay(on);
}

void WindowStage::seek_replay(std::size_t step) {
  if (replayed()) search_->replay_panel().seek(step);
}

}  // namespace strato
