#include "views/search/steer_bar.h"

#include <QAction>
#include <QHBoxLayout>
#include <QInputDialog>
#include <QMenu>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "core/search/tree/search_tree.h"
#include "views/models/strategy_edits.h"
#include "views/search/chip_row.h"
#include "views/style/style.h"

namespace strato {
namespace {

constexpr std::int64_t kIterations[] = {100, 400, 1600};

QToolButton* make_button(QAction* action, QWidget* parent) {
  auto* button = new QToolButton(parent);
  button->setDefaultAction(action);
  button->setAutoRaise(true);
  button->setToolButtonStyle(Qt::ToolButtonTextOnly);
  button->setFocusPolicy(Qt::TabFocus);
  return button;
}

QToolButton* make_menu_button(const QString& text, QMenu* menu, QWidget* parent) {
  auto* button = new QToolButton(parent);
  button->setText(text + QStringLiteral("   "));  // room for the arrow
  button->setMenu(menu);
  button->setPopupMode(QToolButton::InstantPopup);
  button->setAutoRaise(true);
  button->setFocusPolicy(Qt::TabFocus);
  return button;
}

}  // namespace

SteerBar::SteerBar(Session& session, const SearchTreeModel& model, QWidget& keys)
    : QWidget(&keys), session_(session), model_(model) {
  build(keys);
  connect(&session, &Session::search_changed, this, &SteerBar::refresh);
  connect(&session, &Session::compared_changed, this, &SteerBar::refresh);
  connect(&session.selection(), &Selection::changed, this, &SteerBar::refresh);
  refresh();
}

QAction* SteerBar::make_action(const QString& text, const QString& key, const QString& tip,
                               QWidget& keys) {
  auto* action = new QAction(text, this);
  action->setShortcut(QKeySequence(key));
  action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
  action->setToolTip(QStringLiteral("%1 (%2)").arg(tip, key));
  keys.addAction(action);
  return action;
}

void SteerBar::build(QWidget& keys) {
  pin_ = make_action(tr("Pin"), QStringLiteral("P"),
                     tr("The search keeps to this decision of this group"), keys);
  boost2_ = make_action(tr("Boost ×2"), QStringLiteral("B"),
                        tr("The prior of this branch counts twice"), keys);
  boost4_ = make_action(tr("Boost ×4"), QStringLiteral("Shift+B"),
                        tr("The prior of this branch counts four times"), keys);
  normal_ = make_action(tr("Normal weight"), QStringLiteral("N"),
                        tr("The prior of this branch counts as it is"), keys);
  exclude_ = make_action(tr("Exclude"), QStringLiteral("X"),
                         tr("The search leaves this branch alone"), keys);
  deeper_ = make_action(tr("Search deeper here…"), QStringLiteral("D"),
                        tr("More iterations below this branch only"), keys);
  only_ = make_action(tr("Search only the selected groups"), QStringLiteral("O"),
                      tr("Search only the groups selected in the graph or the placement matrix; "
                         "all others stay as they are shown"),
                      keys);
  only_->setIconText(tr("Only selected"));
  replay_ =
      make_action(tr("Replay"), QStringLiteral("R"),
                  tr("Step through the search: selection, expansion, evaluation, back-up"), keys);
  replay_->setCheckable(true);
  connect(pin_, &QAction::triggered, this, &SteerBar::toggle_pin);
  connect(boost2_, &QAction::triggered, this, [this] { set_weight(2); });
  connect(boost4_, &QAction::triggered, this, [this] { set_weight(4); });
  connect(normal_, &QAction::triggered, this, [this] { set_weight(1); });
  connect(exclude_, &QAction::triggered, this, [this] {
    const Steering steering = session_.steering();
    const auto weight = steering.weights.find(path());
    set_weight(weight != steering.weights.end() && weight->second == 0 ? 1 : 0);
  });
  connect(only_, &QAction::triggered, this, &SteerBar::search_only_selected);

  boost_menu_ = new QMenu(tr("Boost"), this);
  boost_menu_->addActions({boost2_, boost4_, normal_});
  deeper_menu_ = new QMenu(tr("Search deeper here"), this);
  fill_iterations(*deeper_menu_, true);
  continue_menu_ = new QMenu(tr("Continue the search"), this);
  fill_iterations(*continue_menu_, false);
  compare_menu_ = new QMenu(tr("Compare with"), this);
  connect(compare_menu_, &QMenu::aboutToShow, this, &SteerBar::fill_compare_menu);
  connect(deeper_, &QAction::triggered, this,
          [this] { deeper_menu_->popup(mapToGlobal(QPoint(2 * style::kGrid, height()))); });
  compare_ = make_menu_button(tr("Compare"), compare_menu_, this);
  compare_->setToolTip(tr("Another run's tree beside this one"));

  auto* row = new QHBoxLayout;
  row->setContentsMargins(style::kGrid, style::kGrid / 2, style::kGrid, style::kGrid / 2);
  row->setSpacing(style::kGrid / 2);
  row->addWidget(make_button(pin_, this));
  row->addWidget(make_menu_button(tr("Boost"), boost_menu_, this));
  row->addWidget(make_button(exclude_, this));
  row->addWidget(make_menu_button(tr("Deeper"), deeper_menu_, this));
  row->addWidget(make_button(only_, this));
  row->addStretch(1);
  row->addWidget(compare_);
  row->addWidget(make_button(replay_, this));
  chips_ = new ChipRow(this);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addLayout(row);
  column->addWidget(chips_);
}

void SteerBar::fill_iterations(QMenu& menu, bool deeper) {
  const auto go = [this, deeper](std::int64_t iterations) {
    if (deeper) return search_deeper(iterations);
    PlannerOptions more;
    more.iterations = iterations;
    session_.continue_search(&more);
  };
  for (const std::int64_t iterations : kIterations) {
    menu.addAction(tr("%1 iterations").arg(iterations), this, [go, iterations] { go(iterations); });
  }
  menu.addAction(tr("Other…"), this, [this, go] {
    bool ok = false;
    const int iterations =
        QInputDialog::getInt(this, tr("Search"), tr("Iterations"), 800, 1, 1'000'000, 100, &ok);
    if (ok) go(iterations);
  });
}

void SteerBar::fill_compare_menu() {
  compare_menu_->clear();
  if (session_.compared()) {
    compare_menu_->addAction(tr("End the comparison"), &session_, &Session::stop_comparing);
    compare_menu_->addSeparator();
  }
  for (const StoredRun& run : session_.runs_to_compare()) {
    const QString name =
        QStringLiteral("%1 #%2").arg(QString::fromStdString(run.planner)).arg(run.id);
    const QString time =
        run.best_ns > 0 ? QStringLiteral("   ") + style::time(Nanos(run.best_ns)) : QString();
    compare_menu_->addAction(name + time, this, [this, id = run.id] { session_.compare_with(id); });
  }
  if (compare_menu_->isEmpty()) {
    compare_menu_->addAction(tr("No other run of this model on this cluster"))->setEnabled(false);
  }
}

void SteerBar::set_current(std::int32_t vertex) {
  current_ = vertex;
  refresh();
}

Steering::Path SteerBar::path() const {
  if (!model_.tree() || current_ <= 0) return {};
  return strato::path_to(*model_.tree(), current_);
}

std::optional<GroupId> SteerBar::group() const {
  const auto& tree = model_.tree();
  if (!tree || current_ <= 0 || static_cast<std::size_t>(current_) >= tree->vertices.size())
    return {};
  const auto depth =
      static_cast<std::size_t>(tree->vertices[static_cast<std::size_t>(current_)].depth - 1);
  return tree->order[depth];
}

const Decision* SteerBar::decision() const {
  if (!group()) return nullptr;
  const auto& tree = *model_.tree();
  return &tree.actions[static_cast<std::size_t>(
      tree.vertices[static_cast<std::size_t>(current_)].action)];
}

void SteerBar::toggle_pin() {
  const auto group = this->group();
  if (!group) return;
  Steering steering = session_.steering();
  const auto pinned = steering.pinned.find(*group);
  const QString name = model_.name_of_group(*group);
  if (pinned != steering.pinned.end() && pinned->second == *decision()) {
    steering.pinned.erase(pinned);
    session_.steer(steering, tr("unpin %1").arg(name));
  } else {
    steering.pinned.insert_or_assign(*group, *decision());
    session_.steer(steering, tr("pin %1").arg(name));
  }
}

void SteerBar::set_weight(float weight) {
  const Steering::Path path = this->path();
  if (path.empty()) return;
  Steering steering = session_.steering();
  steering.weights.erase(path);
  if (weight != 1) steering.weights.emplace(path, weight);
  const QString name = model_.action_text(current_);
  session_.steer(steering, weight == 0   ? tr("exclude %1").arg(name)
                           : weight == 1 ? tr("allow %1 as usual").arg(name)
                                         : tr("boost %1").arg(name));
}

void SteerBar::search_deeper(std::int64_t iterations) {
  const Steering::Path path = this->path();
  if (path.empty() || session_.search().state != SearchPhase::Idle) return;
  Steering steering = session_.steering();
  steering.focus = path;
  session_.steer(steering, tr("search below %1").arg(model_.action_text(current_)));
  PlannerOptions more;
  more.iterations = iterations;
  session_.continue_search(&more);
}

void SteerBar::search_only_selected() {
  const std::vector<GroupId>& selected = session_.selection().groups();
  const Strategy& shown = session_.snapshot().strategy;
  if (selected.empty() || !session_.tree() || !shown.is_complete()) return;
  if (session_.snapshot().has_own_groups()) return;
  Steering steering = session_.steering();
  for (std::size_t g = 0; g < shown.groups.size(); ++g) {
    if (!std::ranges::binary_search(selected, GroupId(g))) {
      steering.pinned.insert_or_assign(GroupId(g), *shown.groups[GroupId(g)]);
    }
  }
  session_.steer(
      steering,
      tr("search only %1").arg(names_of(selected, *session_.snapshot().problem->grouping)));
}

QString SteerBar::name_of(const Steering::Path& path) const {
  const auto& tree = session_.tree();
  const std::int32_t vertex = tree ? strato::find(*tree, path) : -1;
  if (vertex <= 0 || path.size() > tree->order.size()) return tr("a branch");
  const Decision& decision = tree->actions[static_cast<std::size_t>(path.back())];
  return model_.name_of_group(tree->order[path.size() - 1]) + QStringLiteral(" → ") +
         (model_.problem() ? model_.decision_text(decision) : QString());
}

void SteerBar::refresh_chips() {
  std::vector<Chip> chips;
  if (session_.tree() && model_.problem()) {
    const Steering now = session_.steering();
    const auto without = [this](const QString& label, auto change) {
      return [this, label, change] {
        Steering steering = session_.steering();
        change(steering);
        session_.steer(steering, label);
      };
    };
    for (const auto& [group, decision] : now.pinned) {
      const QString name = model_.name_of_group(group);
      const QString words = name + QStringLiteral(" → ") + model_.decision_text(decision);
      chips.push_back(
          {words, tr("Pinned: %1. A click removes the pin").arg(words), true,
           without(tr("unpin %1").arg(name), [group](Steering& s) { s.pinned.erase(group); })});
    }
    if (!now.focus.empty()) {
      chips.push_back({tr("below %1").arg(name_of(now.focus)),
                       tr("The search starts here. A click lets it start at the top again"), false,
                       without(tr("search everywhere"), [](Steering& s) { s.focus.clear(); })});
    }
    for (const auto& [path, weight] : now.weights) {
      const QString name = name_of(path);
      chips.push_back(
          {weight == 0 ? tr("not %1").arg(name) : tr("×%1 %2").arg(weight).arg(name),
           weight == 0 ? tr("Excluded: %1. A click allows it again").arg(name)
                       : tr("Boosted: %1. A click makes it normal again").arg(name),
           false, without(tr("normal weight"), [path](Steering& s) { s.weights.erase(path); })});
    }
  }
  chips_->show_chips(std::move(chips),
                     [this] { session_.steer(Steering(), tr("let the search go free")); });
}

void SteerBar::refresh() {
  const auto& tree = session_.tree();
  const bool idle = session_.search().state == SearchPhase::Idle;
  const bool here = model_.tree() && group().has_value() && tree;
  const Steering now = session_.steering();
  const Steering::Path path = here ? this->path() : Steering::Path();
  const auto weight = now.weights.find(path);
  const auto pinned = here ? now.pinned.find(*group()) : now.pinned.end();
  const bool is_pinned = pinned != now.pinned.end() && pinned->second == *decision();
  const bool excluded = weight != now.weights.end() && weight->second == 0;
  pin_->setText(is_pinned ? tr("Unpin this decision") : tr("Pin this decision"));
  pin_->setIconText(is_pinned ? tr("Unpin") : tr("Pin"));
  exclude_->setText(excluded ? tr("Allow this branch again") : tr("Exclude this branch"));
  exclude_->setIconText(excluded ? tr("Allow again") : tr("Exclude"));
  for (QAction* action : {pin_, boost2_, boost4_, exclude_}) action->setEnabled(here);
  normal_->setEnabled(here && weight != now.weights.end());
  const bool open = here && !is_left_alone(*model_.tree(), current_);
  deeper_->setEnabled(open && idle);
  deeper_menu_->setEnabled(open && idle);
  continue_menu_->setEnabled(idle && session_.search().can_continue);
  const auto selected = session_.selection().groups().size();
  only_->setEnabled(tree && selected > 0 && model_.problem() &&
                    !session_.snapshot().has_own_groups() &&
                    selected < model_.problem()->grouping->size());
  refresh_chips();
}

void SteerBar::fill(QMenu& menu) const {
  menu.addAction(pin_);
  menu.addMenu(boost_menu_);
  menu.addAction(exclude_);
  menu.addMenu(deeper_menu_);
  menu.addSeparator();
  menu.addAction(only_);
  menu.addMenu(continue_menu_);
  menu.addMenu(compare_menu_);
  menu.addAction(replay_);
}

}  // namespace strato
