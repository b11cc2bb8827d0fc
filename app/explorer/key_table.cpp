#include "app/explorer/key_table.h"

#include <QAction>
#include <QCoreApplication>
#include <QHash>
#include <QHeaderView>
#include <QMainWindow>
#include <QTreeWidget>
#include <QVBoxLayout>
#include <span>

#include "app/explorer/command_list.h"

namespace strato {
namespace {

void add_row(QTreeWidgetItem* parent, const QString& what, const QString& keys) {
  new QTreeWidgetItem(parent, {what, keys});
}

QTreeWidgetItem* add_section(QTreeWidget& tree, const QString& name) {
  auto* section = new QTreeWidgetItem(&tree, {name});
  QFont font = section->font(0);
  font.setBold(true);
  section->setFont(0, font);
  return section;
}

// Those of menus under the name of the menu, others under that of their view.
void add_actions(QTreeWidget& tree, const QMainWindow& window) {
  QHash<QString, QTreeWidgetItem*> sections;
  visit_actions(window, [&](QAction& action, const QString& path) {
    if (action.shortcuts().isEmpty()) return;
    const QString place = path.section(QStringLiteral(" › "), 0, 0);
    QTreeWidgetItem*& section = sections[place];
    if (!section)
      section = add_section(
          tree, place.isEmpty() ? QCoreApplication::translate("KeyTable", "Window") : place);
    add_row(section, plain_text(action.text()),
            QKeySequence::listToString(action.shortcuts(), QKeySequence::NativeText));
  });
}

struct ViewKey {
  const char *what, *keys;
};

constexpr ViewKey kPlaceKeys[] = {{"The views of the place that is shown", "Alt+1, Alt+2, …"},
                                  {"The views of another", "Ctrl+1 to Ctrl+4, then Alt+1, …"}};

constexpr ViewKey kClusterKeys[] = {
    {"Zoom", "W, S, Ctrl+wheel"},
    {"Fit all", "Home"},
    {"Put groups or ops on a device or machine", "Drop them on it"},
    {"Put them on all devices of its kind in the machine", "Shift+drop"}};
constexpr ViewKey kPlanningKeys[] = {{"Zoom", "W, S"}, {"Pan", "A, D"}, {"Fit the step", "F"}};

constexpr ViewKey kPipelineKeys[] = {
    {"Play, pause", "Space"},
    {"A cell back, forward", "Left, Right"},
    {"Nothing yet, all of it", "Home, End"},
    {"Zoom", "W, S, Ctrl+wheel"},
    {"Pan", "A, D, Shift+drag"},
    {"Fit all", "F"},
    {"Follow the micro-batch of a cell", "Click"},
    {"Select the next cell, one of another stage", "Ctrl+Left, Ctrl+Right; Up, Down"},
    {"Put the selected cell earlier, later", "Alt+Left, Alt+Right; drag"},
    {"In the layers: choose a border, move it", "Left, Right; Alt+Left, Alt+Right; drag"},
    {"Apply, discard what is looked at", "Enter, Esc"}};

constexpr ViewKey kTimelineKeys[] = {
    {"Zoom about the cursor", "W, S, Ctrl+wheel"},
    {"Pan", "A, D, Shift+drag"},
    {"Select a range of time", "Drag"},
    {"Centre, then fit the selection", "F"},
    {"Fit all", "Home"},
    {"Next and previous slice in the row", ". ,"},
    {"Follow a dependency", "[ ]"},
    {"Make the selection the range", "R"},
    {"Mark", "M"},
    {"Simulated, measured, both", "O"},
    {"Run a chosen slice earlier, later", "Alt+Left, Alt+Right"},
    {"Run it before another, or its op on a device", "Drag it there"},
    {"Put the group of a chosen slice on a device", "Ctrl+drag"},
    {"Search", "/, Ctrl+F"},
    {"Totals of the range", "T"},
    {"Another plan's timeline below", "C"},
    {"Blink between the two", "B"},
    {"Hide the chosen row, show all", "H, Shift+H"},
    {"Pin the chosen row on top", "P"},
    {"Filter rows by words", "L"},
    {"Rows, export, more", "Menu key, right click"}};
constexpr ViewKey kGraphKeys[] = {
    {"Zoom about the cursor", "W, S, Ctrl+wheel"},
    {"Open a level, go up", "Enter, double click; Backspace"},
    {"Open in place, close again", "Space"},
    {"Put groups, scopes or ops on a device", "Drag them to a view that shows it"},
    {"Put the group of an op on a device", "Ctrl+drag"},
    {"Select several", "Ctrl+click"},
    {"Pan", "A, D; drag of the ground, Shift+drag"},
    {"Rename the group", "F2"},
    {"Go to the neighbour", "Arrows"},
    {"Centre on the selection, show all", "F, Home"},
    {"Find by a word or a query", "/, Ctrl+F"},
    {"Select what was found, then go to the next", "Enter"},
    {"Trace what it needs, what needs it", "[ ]"},
    {"Critical path", "C"},
    {"Select equal blocks", "E"},
    {"Other colours", "O, Shift+O"},
    {"Another plan's graph beside", "B"},
    {"Merge groups, split a group", "Ctrl+G, Ctrl+Shift+G"},
    {"Split a group before the selected op", "Ctrl+Alt+G"}};
constexpr ViewKey kPlacementKeys[] = {
    {"Use or leave the devices of a cell", "Space, click"},
    {"Change a weight or mode", "F2"},
    {"What a change would do", "Rest on the cell"},
    {"Keep, forbid, decide together", "Menu key, right click"},
    {"Select several groups", "Shift or Ctrl with arrows or clicks"}};

constexpr ViewKey kSearchKeys[] = {{"Pin the decision, or remove the pin", "P"},
                                   {"Boost the branch twice, four times", "B, Shift+B"},
                                   {"Normal weight", "N"},
                                   {"Exclude the branch, or allow it again", "X"},
                                   {"Search deeper here", "D"},
                                   {"Search only the selected groups", "O"},
                                   {"Show the strategy", "Enter"},
                                   {"Replay the search", "R"},
                                   {"In the replay: play, pause", "Space"},
                                   {"In the replay: a step back, forward", "Left, Right"},
                                   {"In the replay: start, end", "Home, End"},
                                   {"In the replay: faster, slower", "+, −"},
                                   {"End the replay", "Esc, R"}};

constexpr ViewKey kTournamentKeys[] = {{"Show the strategy in all views", "Up, Down, click"},
                                       {"Keep it in the workspace", "Enter, double click"}};

constexpr ViewKey kLaunchKeys[] = {
    {"Show what would run where, then launch or cancel", "F9"},
    {"Next and previous page", "Ctrl+Tab, Ctrl+Shift+Tab"},
    {"Launcher, engine, transport, device, steps", "Alt+L, G, T, O, P"},
    {"Select the op, link or device in all views", "Up, Down, click"}};

constexpr ViewKey kTraceKeys[] = {{"Zoom about the cursor", "W, S, Ctrl+wheel"},
                                  {"Pan", "A, D, Shift+drag"},
                                  {"Choose a stretch of time", "Drag"},
                                  {"Fit all, fit the stretch", "Home, F"},
                                  {"Next and previous step", ". ,"},
                                  {"Choose a rank, open its streams", "Up, Down; Enter"},
                                  {"Let go", "Esc"}};

constexpr ViewKey kVariableKeys[] = {
    {"Select several variables, or parts of one", "Shift or Ctrl with arrows or clicks"},
    {"All parts again", "Esc in their list"},
    {"Earlier, later in the ring", "Alt+Up, Alt+Down"}};

constexpr ViewKey kQueueKeys[] = {{"Show what it found", "Enter, double click"},
                                  {"Earlier, later", "Alt+Up, Alt+Down"},
                                  {"Stop it, or remove it from the queue", "Delete"}};

constexpr ViewKey kListKeys[] = {{"Remove the launch that is chosen", "Delete"},
                                 {"Rename what is chosen in the workspace", "F2"}};
constexpr ViewKey kGuideKeys[] = {{"Back, forward", "Alt+Left, Alt+Right"},
                                  {"Overview", "Alt+Home"}};

struct ViewSection {
  const char* name;
  std::span<const ViewKey> keys;
};

constexpr ViewSection kSections[] = {{"In all places", kPlaceKeys},
                                     {"In the graph", kGraphKeys},
                                     {"In the timeline", kTimelineKeys},
                                     {"In the placement matrix", kPlacementKeys},
                                     {"In the cluster", kClusterKeys},
                                     {"In the pipeline", kPipelineKeys},
                                     {"In the search tree", kSearchKeys},
                                     {"In the planner's steps", kPlanningKeys},
                                     {"In the tournament", kTournamentKeys},
                                     {"In the launch view", kLaunchKeys},
                                     {"In the recorded traces", kTraceKeys},
                                     {"In the variables", kVariableKeys},
                                     {"In the queue", kQueueKeys},
                                     {"In lists", kListKeys},
                                     {"In the guide", kGuideKeys}};

}  // namespace

KeyTable::KeyTable(const QMainWindow& window, QWidget* parent) : QDialog(parent) {
  setWindowTitle(tr("Keys"));
  resize(520, 640);
  auto* tree = new QTreeWidget(this);
  tree->setColumnCount(2);
  tree->setHeaderHidden(true);
  tree->setRootIsDecorated(false);
  tree->setFrameShape(QFrame::NoFrame);
  tree->setSelectionMode(QAbstractItemView::NoSelection);
  tree->header()->setSectionResizeMode(0, QHeaderView::Stretch);
  tree->header()->setSectionResizeMode(1, QHeaderView::ResizeToContents);
  tree->header()->setStretchLastSection(false);
  add_actions(*tree, window);
  for (const ViewSection& section : kSections) {
    QTreeWidgetItem* item = add_section(*tree, QString::fromUtf8(section.name));
    for (const ViewKey& key : section.keys)
      add_row(item, QString::fromUtf8(key.what), QString::fromUtf8(key.keys));
  }
  for (int i = 0; i < tree->topLevelItemCount(); ++i) tree->topLevelItem(i)->setExpanded(true);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(8, 8, 8, 8);
  layout->addWidget(tree);
}

}  // namespace strato
