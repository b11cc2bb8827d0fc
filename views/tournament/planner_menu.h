// Which planners take part: a button with a menu that stays open while boxes are ticked. Sections
// by effort (quick, slow, search, portfolio); above them usual, quick, all, none.
#pragma once

#include <QMenu>
#include <QToolButton>
#include <string>
#include <vector>

#include "core/plugin/load/plugin_registry.h"

namespace strato {

// Stays open when a checkable entry is clicked.
class CheckMenu : public QMenu {
  Q_OBJECT
 public:
  using QMenu::QMenu;

 protected:
  void mouseReleaseEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  bool toggle_active();
};

class PlannerMenu : public QToolButton {
  Q_OBJECT
 public:
  explicit PlannerMenu(const std::vector<PluginInfo>& planners, QWidget* parent = nullptr);

  std::vector<std::string> chosen() const;  // in the order of the menu
  void choose(const std::vector<std::string>& names);
  void choose_usual();  // the quick ones and two searches

 signals:
  void chosen_changed();

 private:
  struct Choice {
    PluginInfo planner;
    QAction* action;
  };
  void add_shortcut(const QString& text, const QString& tip,
                    std::function<bool(const PluginInfo&)> takes);
  void choose_if(const std::function<bool(const PluginInfo&)>& takes);
  void refresh();

  CheckMenu* menu_;
  std::vector<Choice> choices_;
  bool choosing_ = false;
};

}  // namespace strato
