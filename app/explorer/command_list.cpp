#include "app/explorer/command_list.h"

#include <QAction>
#include <QCoreApplication>
#include <QDockWidget>
#include <QLineEdit>
#include <QMainWindow>
#include <QMenu>
#include <QMenuBar>
#include <QSet>
#include <QTabWidget>
#include <QToolButton>

#include "views/style/text.h"

namespace strato {
namespace {

constexpr char kWhyDisabled[] = "why_disabled";
const QString kArrow = QStringLiteral(" › ");

QString joined(const QString& path, const QString& name) {
  return path.isEmpty() ? name : name.isEmpty() ? path : path + kArrow + name;
}

// The tab or dock that a widget is in.
QString place_of(const QWidget& widget) {
  for (const QWidget* at = &widget; at && !at->isWindow(); at = at->parentWidget()) {
    const auto* tabs = at->parentWidget()
                           ? qobject_cast<const QTabWidget*>(at->parentWidget()->parentWidget())
                           : nullptr;
    const int tab = tabs ? tabs->indexOf(at) : -1;
    if (tab >= 0) return plain_text(tabs->tabText(tab));
    if (const auto* dock = qobject_cast<const QDockWidget*>(at)) return dock->windowTitle();
    if (!at->accessibleName().isEmpty()) return at->accessibleName();
  }
  return {};
}

QString chooser_name(const QToolButton& button) {
  if (!button.accessibleName().isEmpty()) return button.accessibleName();
  const QString tip = button.toolTip();
  const qsizetype end = tip.indexOf(QLatin1Char(':'));
  return end > 0 ? tip.left(end) : tip.isEmpty() ? plain_text(button.text()).trimmed() : tip;
}

class ActionVisitor {
 public:
  explicit ActionVisitor(const VisitAction& visit) : visit_(visit) {}

  void visit_window(const QMainWindow& window) {
    for (QAction* title : window.menuBar()->actions()) add(*title, {});
    for (const QToolButton* button : window.findChildren<QToolButton*>()) {
      if (button->defaultAction()) add(*button->defaultAction(), place_of(*button));
      if (button->menu()) add_menu(*button->menu(), chooser_name(*button));
    }
    for (const QWidget* widget : window.findChildren<QWidget*>()) add_own(*widget);
    add_own(window);
  }

 private:
  // Of a widget: shortcuts of a view, entries of its context menu.
  void add_own(const QWidget& widget) {
    if (qobject_cast<const QMenu*>(&widget) || qobject_cast<const QMenuBar*>(&widget) ||
        qobject_cast<const QLineEdit*>(&widget) || widget.inherits("QLineEditIconButton")) {
      return;
    }
    for (QAction* action : widget.actions()) add(*action, place_of(widget));
  }

  void add(QAction& action, const QString& path) {
    if (action.isSeparator() || seen_.contains(&action)) return;
    seen_.insert(&action);
    const QString title = plain_text(action.text());
    if (QMenu* menu = action.menu()) return add_menu(*menu, joined(path, title));
    if (!title.isEmpty() && action.isVisible()) visit_(action, path);
  }

  void add_menu(QMenu& menu, const QString& path) {
    if (menus_.contains(&menu)) return;
    menus_.insert(&menu);
    emit menu.aboutToShow();
    for (QAction* action : menu.actions()) add(*action, path);
  }

  const VisitAction& visit_;
  QSet<const QAction*> seen_;
  QSet<const QMenu*> menus_;
};

QString why_not(const QAction& action, const Session& session) {
  const QString own = action.property(kWhyDisabled).toString();
  if (!own.isEmpty()) return own;
  return session.snapshot().problem
             ? QString()
             : QCoreApplication::translate("CommandList", "open a model first");
}

Command command_for(QAction& action, const QString& path, const Session& session) {
  Command command;
  command.title = plain_text(action.text());
  command.path = path;
  command.keys = QKeySequence::listToString(action.shortcuts(), QKeySequence::NativeText);
  command.enabled = action.isEnabled();
  command.checked = action.isCheckable() && action.isChecked();
  if (!command.enabled) command.why_disabled = why_not(action, session);
  command.id = QStringLiteral("action/") + path + QLatin1Char('/') + command.title;
  command.run = [target = QPointer<QAction>(&action)] {
    if (target) target->trigger();
  };
  return command;
}

void add_planners(std::vector<Command>& commands, Session& session,
                  const std::function<void(const QString&)>& start) {
  const bool open = session.snapshot().problem != nullptr;
  const bool idle = session.search().state == SearchPhase::Idle;
  for (const PluginInfo& planner : session.plugins().list(PluginKind::Planner)) {
    Command command;
    command.kind = CommandKind::Planner;
    const QString name = text(planner.name);
    command.title = QCoreApplication::translate("CommandList", "Search with %1").arg(name);
    command.path = text(planner.summary);
    command.enabled = open && idle;
    command.why_disabled = !open ? QCoreApplication::translate("CommandList", "open a model first")
                           : !idle
                               ? QCoreApplication::translate("CommandList", "a search is under way")
                               : QString();
    command.id = QStringLiteral("planner/") + name;
    command.run = [start, name] { start(name); };
    commands.push_back(std::move(command));
  }
}

void add_devices(std::vector<Command>& commands, Session& session) {
  const Cluster& cluster = *session.snapshot().problem->cluster;
  for (std::size_t d = 0; d < cluster.device_count(); ++d) {
    const DeviceId device(d);
    Command command;
    command.kind = CommandKind::Device;
    command.title = text(cluster.device(device).name);
    command.path = text(cluster.gpu(device).name);
    command.id = QStringLiteral("device/") + command.title;
    command.run = [&session, device, problem = session.snapshot().problem] {
      if (session.snapshot().problem == problem) session.selection().select_device(device);
    };
    commands.push_back(std::move(command));
  }
}

void add_groups(std::vector<Command>& commands, Session& session) {
  const auto& grouping = session.snapshot().problem->grouping;
  for (std::size_t g = 0; g < grouping->size(); ++g) {
    const GroupId group(g);
    const OpGroup& content = grouping->group(group);
    Command command;
    command.kind = CommandKind::Group;
    command.title = text(content.name);
    command.path =
        content.ops.size() == 1
            ? QCoreApplication::translate("CommandList", "1 op")
            : QCoreApplication::translate("CommandList", "%1 ops").arg(content.ops.size());
    command.id = QStringLiteral("group/") + command.title;
    command.run = [&session, group, problem = session.snapshot().problem] {
      if (session.snapshot().problem == problem) session.selection().select_group(group);
    };
    commands.push_back(std::move(command));
  }
}

}  // namespace

QChar prefix_of(CommandKind kind) {
  return QLatin1Char(kind == CommandKind::Action    ? '>'
                     : kind == CommandKind::Planner ? ':'
                     : kind == CommandKind::Device  ? '#'
                                                    : '@');
}

QString name_of(CommandKind kind) {
  switch (kind) {
    case CommandKind::Action:
      return QCoreApplication::translate("CommandList", "Commands");
    case CommandKind::Planner:
      return QCoreApplication::translate("CommandList", "Planners");
    case CommandKind::Device:
      return QCoreApplication::translate("CommandList", "Devices");
    case CommandKind::Group:
      return QCoreApplication::translate("CommandList", "Groups");
  }
  return {};
}

QString plain_text(const QString& text) {
  QString plain;
  for (qsizetype i = 0; i < text.size(); ++i) {
    if (text[i] != QLatin1Char('&')) {
      plain += text[i];
    } else if (i + 1 < text.size() && text[i + 1] == QLatin1Char('&')) {
      plain += text[i++];
    }
  }
  return plain;
}

void set_why_disabled(QAction& action, const QString& reason) {
  action.setProperty(kWhyDisabled, reason);
}

void visit_actions(const QMainWindow& window, const VisitAction& visit) {
  ActionVisitor(visit).visit_window(window);
}

std::vector<Command> collect_commands(const QMainWindow& window, Session& session,
                                      const std::function<void(const QString&)>& start_planner) {
  std::vector<Command> commands;
  visit_actions(window, [&](QAction& action, const QString& path) {
    commands.push_back(command_for(action, path, session));
  });
  add_planners(commands, session, start_planner);
  if (session.snapshot().problem) {
    add_devices(commands, session);
    add_groups(commands, session);
  }
  return commands;
}

}  // namespace strato
