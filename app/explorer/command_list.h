// What the command palette offers, found from what is there: every action of the window (of menus,
// choosers and views), every planner, and every device and op group of the problem.
#pragma once

#include <QKeySequence>
#include <QPointer>
#include <QString>
#include <functional>
#include <vector>

#include "views/models/session.h"

class QAction;
class QMainWindow;

namespace strato {

enum class CommandKind { Action, Planner, Device, Group };
// What one writes first to see nothing but these: ">", ":", "#", "@".
QChar prefix_of(CommandKind kind);
QString name_of(CommandKind kind);  // "Commands"

struct Command {
  CommandKind kind = CommandKind::Action;
  QString title;  // "Continue the Search"
  QString path;   // where else it is: "Run", "View > Show Beside"
  QString keys;   // native text, empty without
  bool enabled = true;
  bool checked = false;
  QString why_disabled;  // empty where nobody knows
  QString id;            // the same from start to start: what was used last is remembered by it
  std::function<void()> run;
};

// An action's own reason why it cannot be used now, shown by the palette.
void set_why_disabled(QAction& action, const QString& reason);

// Every action of the window once: those of menus (which are filled first where that happens when
// they are shown), of choosers, and of views. `path`: the menus above it, or the view.
using VisitAction = std::function<void(QAction& action, const QString& path)>;
void visit_actions(const QMainWindow& window, const VisitAction& visit);

// `start_planner` begins a search by a planner of this name.
std::vector<Command> collect_commands(const QMainWindow& window, Session& session,
                                      const std::function<void(const QString&)>& start_planner);

// An action's text without its mnemonic: "&Open…" is "Open…", "R&&D" is "R&D".
QString plain_text(const QString& text);

}  // namespace strato
