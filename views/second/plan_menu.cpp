#include "views/second/plan_menu.h"

#include <QActionGroup>
#include <QMenu>

namespace strato {

void add_plans(QMenu& menu, SecondPlan& second, std::function<void()> chosen) {
  auto* plans = new QActionGroup(&menu);
  QString section;
  for (const SecondPlan::Offer& offer : second.offers()) {
    if (offer.section != section) menu.addSection(section = offer.section);
    QAction* action = menu.addAction(offer.text, &second, [&second, chosen, choice = offer.choice] {
      second.choose(choice);
      if (chosen) chosen();
    });
    action->setCheckable(true);
    action->setChecked(offer.choice == second.choice());
    plans->addAction(action);
  }
}

}  // namespace strato
