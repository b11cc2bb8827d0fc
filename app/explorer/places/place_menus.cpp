#include "app/explorer/places/place_menus.h"

#include <QAction>
#include <QCoreApplication>
#include <QMenu>

#include "app/explorer/places/centre.h"

namespace strato {
namespace {

// The first letter of it that is not taken answers to Alt; takes it.
QString with_mnemonic(const QString& name, QString& taken) {
  for (qsizetype i = 0; i < name.size(); ++i) {
    if (!name[i].isLetter() || taken.contains(name[i], Qt::CaseInsensitive)) continue;
    taken += name[i];
    return name.left(i) + QLatin1Char('&') + name.mid(i);
  }
  return name;
}

QKeySequence digit_key(Qt::KeyboardModifier modifier, int number) {
  return {QKeyCombination(modifier, static_cast<Qt::Key>(Qt::Key_0 + number))};
}

void fill_beside(QMenu& menu, Centre& centre) {
  menu.clear();
  for (const NamedView& view : centre.views()) {
    QAction* action = menu.addAction(view.name);
    action->setCheckable(true);
    action->setChecked(centre.is_beside(view.widget));
    QObject::connect(action, &QAction::toggled, &centre,
                     [&centre, widget = view.widget](bool on) { centre.put_beside(widget, on); });
  }
}

}  // namespace

void add_view_actions(QMenu& menu, Centre& centre) {
  QString letters;
  std::vector<QAction*> actions;
  for (const NamedView& view : centre.views()) {
    if (actions.empty() || centre.views()[actions.size() - 1].place != view.place)
      menu.addSection(name_of(view.place));
    actions.push_back(
        menu.addAction(with_mnemonic(view.name, letters), &centre, [&centre, widget = view.widget] {
          centre.show_view(widget);
          widget->setFocus();
        }));
  }
  const auto number_them = [actions, &centre] {
    int number = 0;
    for (std::size_t i = 0; i < actions.size(); ++i) {
      const bool here = centre.views()[i].place == centre.place();
      actions[i]->setShortcut(here ? digit_key(Qt::AltModifier, ++number) : QKeySequence());
    }
  };
  QObject::connect(&centre, &Centre::entered, &menu, number_them);
  number_them();
  menu.addSeparator();
  QMenu* beside = menu.addMenu(QCoreApplication::translate("Places", "Show &Beside"));
  QObject::connect(beside, &QMenu::aboutToShow, &centre,
                   [beside, &centre] { fill_beside(*beside, centre); });
}

void add_place_actions(QMenu& menu, Centre& centre) {
  QString letters = QStringLiteral("TRLAXI");  // of what stands below
  for (std::size_t i = 0; i < places().size(); ++i) {
    const auto place = static_cast<Place>(i);
    menu.addAction(with_mnemonic(name_of(place), letters),
                   digit_key(Qt::ControlModifier, static_cast<int>(i) + 1), &centre,
                   [&centre, place] { centre.go_to(place); })
        ->setToolTip(question_of(place));
  }
  menu.setToolTipsVisible(true);
}

}  // namespace strato
