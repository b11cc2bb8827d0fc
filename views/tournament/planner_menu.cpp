#include "views/tournament/planner_menu.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <algorithm>

namespace strato {
namespace {

bool is_quick(const PluginInfo& planner) { return planner.effort == Effort::Quick; }

// With the two searches that find most within a small budget.
bool is_usual(const PluginInfo& planner) {
  return is_quick(planner) || planner.name == "tag" || planner.name == "mcts";
}

QString section_name(Effort effort) {
  switch (effort) {
    case Effort::Quick:
      return PlannerMenu::tr("Quick: one answer, soon");
    case Effort::Slow:
      return PlannerMenu::tr("Slow: one answer, later");
    case Effort::Search:
      return PlannerMenu::tr("Searches: spend the budget");
    case Effort::Learning:
      return PlannerMenu::tr("Learning: train a network on the problem");
    case Effort::Portfolio:
      return PlannerMenu::tr("Portfolios: run others");
    case Effort::Given:  // it has options that a tournament does not give
      break;
  }
  return {};
}

}  // namespace

bool CheckMenu::toggle_active() {
  QAction* action = activeAction();
  if (action == nullptr || action->isSeparator() || !action->isEnabled()) return false;
  action->trigger();
  return true;
}

void CheckMenu::mouseReleaseEvent(QMouseEvent* event) {
  const bool inside = actionAt(event->position().toPoint()) == activeAction();
  if (!inside || !toggle_active()) QMenu::mouseReleaseEvent(event);
}

void CheckMenu::keyPressEvent(QKeyEvent* event) {
  const bool toggles = event->key() == Qt::Key_Space || event->key() == Qt::Key_Return ||
                       event->key() == Qt::Key_Enter;
  if (!toggles || !toggle_active()) QMenu::keyPressEvent(event);
}

PlannerMenu::PlannerMenu(const std::vector<PluginInfo>& planners, QWidget* parent)
    : QToolButton(parent), menu_(new CheckMenu(this)) {
  setMenu(menu_);
  setPopupMode(QToolButton::InstantPopup);
  setAutoRaise(true);
  setFocusPolicy(Qt::TabFocus);
  setToolTip(tr("Who takes part"));
  menu_->setToolTipsVisible(true);
  add_shortcut(tr("Usual"), tr("Those that answer soon, and two searches within the budget"),
               is_usual);
  add_shortcut(tr("All Quick"), tr("Those that answer soon"), is_quick);
  add_shortcut(tr("All"), tr("Slow ones and searches, too"), [](const auto&) { return true; });
  add_shortcut(tr("None"), {}, [](const auto&) { return false; });
  for (const Effort effort :
       {Effort::Quick, Effort::Slow, Effort::Search, Effort::Learning, Effort::Portfolio}) {
    if (std::ranges::find(planners, effort, &PluginInfo::effort) == planners.end()) continue;
    menu_->addSection(section_name(effort));
    for (const PluginInfo& planner : planners) {
      if (planner.effort != effort) continue;
      QAction* action = menu_->addAction(QString::fromStdString(planner.name));
      action->setCheckable(true);
      action->setToolTip(QString::fromStdString(planner.summary));
      connect(action, &QAction::toggled, this, &PlannerMenu::refresh);
      choices_.push_back({planner, action});
    }
  }
  choose_usual();
}

void PlannerMenu::add_shortcut(const QString& text, const QString& tip,
                               std::function<bool(const PluginInfo&)> takes) {
  menu_->addAction(text, this, [this, takes] { choose_if(takes); })->setToolTip(tip);
}

void PlannerMenu::choose_if(const std::function<bool(const PluginInfo&)>& takes) {
  choosing_ = true;
  for (const Choice& choice : choices_) choice.action->setChecked(takes(choice.planner));
  choosing_ = false;
  refresh();
}

void PlannerMenu::choose_usual() { choose_if(is_usual); }

void PlannerMenu::choose(const std::vector<std::string>& names) {
  choose_if([&](const PluginInfo& planner) {
    return std::ranges::find(names, planner.name) != names.end();
  });
}

std::vector<std::string> PlannerMenu::chosen() const {
  std::vector<std::string> names;
  for (const Choice& choice : choices_)
    if (choice.action->isChecked()) names.push_back(choice.planner.name);
  return names;
}

void PlannerMenu::refresh() {
  if (choosing_) return;
  const auto count = chosen().size();
  const QString spare = QStringLiteral("   ");  // room for the arrow
  setText(
      (count == 0 ? tr("No planners") : tr("%1 of %2 planners").arg(count).arg(choices_.size())) +
      spare);
  emit chosen_changed();
}

}  // namespace strato
