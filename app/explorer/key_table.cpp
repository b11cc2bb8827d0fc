#include "app/explorer/key_table.h"

#include <QAction>
#include <QHeaderView>
#include <QMainWindow>
#include <QMenu>
#include <QMenuBar>
#include <QTreeWidget>
#include <QVBoxLayout>

namespace strato {
namespace {

QString plain(QString text) { return text.remove(QLatin1Char('&')); }

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

void add_menus(QTreeWidget& tree, const QMainWindow& window) {
  for (const QAction* title : window.menuBar()->actions()) {
    if (!title->menu()) continue;
    QTreeWidgetItem* section = nullptr;
    for (const QAction* action : title->menu()->actions()) {
      if (action->shortcuts().isEmpty()) continue;
      if (!section) section = add_section(tree, plain(title->text()));
      add_row(section, plain(action->text()),
              QKeySequence::listToString(action->shortcuts(), QKeySequence::NativeText));
    }
  }
}

struct ViewKey {
  const char *what, *keys;
};

constexpr ViewKey kTimelineKeys[] = {{"Zoom about the cursor", "W, S, Ctrl+wheel"},
                                     {"Pan", "A, D, Shift+drag"},
                                     {"Select a range of time", "Drag"},
                                     {"Centre, then fit the selection", "F"},
                                     {"Fit all", "Home"},
                                     {"Next and previous slice in the row", ". ,"},
                                     {"Follow a dependency", "[ ]"},
                                     {"Make the selection the range", "R"},
                                     {"Mark", "M"},
                                     {"Simulated, measured, both", "O"},
                                     {"Search", "/, Ctrl+F"}};
constexpr ViewKey kPlacementKeys[] = {
    {"Use or leave the devices of a cell", "Space, click"},
    {"Change a weight or mode", "F2"},
    {"Select several groups", "Shift or Ctrl with arrows or clicks"}};

constexpr ViewKey kSearchKeys[] = {{"Pin the decision, or remove the pin", "P"},
                                   {"Boost the branch twice, four times", "B, Shift+B"},
                                   {"Normal weight", "N"},
    {"What a change would do", "Rest on the cell"},
    {"Keep, forbid, decide together", "Menu key, right click"},
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

}  // namespace

KeyTable::KeyTable(const QMainWindow& window, QWidget* parent) : QDialog(parent) {
  setWindowTitle(QStringLiteral("Keys"));
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
  add_menus(*tree, window);
  QTreeWidgetItem* timeline = add_section(*tree, QStringLiteral("In the timeline"));
  for (const ViewKey& key : kTimelineKeys)
    add_row(timeline, QString::fromUtf8(key.what), QString::fromUtf8(key.keys));
  QTreeWidgetItem* placement = add_section(*tree, QStringLiteral("In the placement matrix"));
  for (const ViewKey& key : kPlacementKeys)
    add_row(placement, QString::fromUtf8(key.what), QString::fromUtf8(key.keys));
  QTreeWidgetItem* search = add_section(*tree, QStringLiteral("In the search tree"));
  for (const ViewKey& key : kSearchKeys)
    add_row(search, QString::fromUtf8(key.what), QString::fromUtf8(key.keys));
  QTreeWidgetItem* tournament = add_section(*tree, QStringLiteral("In the tournament"));
  for (const ViewKey& key : kTournamentKeys)
    add_row(tournament, QString::fromUtf8(key.what), QString::fromUtf8(key.keys));
  QTreeWidgetItem* launch = add_section(*tree, QStringLiteral("In the launch view"));
  for (const ViewKey& key : kLaunchKeys)
    add_row(launch, QString::fromUtf8(key.what), QString::fromUtf8(key.keys));
  for (int i = 0; i < tree->topLevelItemCount(); ++i) tree->topLevelItem(i)->setExpanded(true);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(8, 8, 8, 8);
  layout->addWidget(tree);
}

}  // namespace strato
