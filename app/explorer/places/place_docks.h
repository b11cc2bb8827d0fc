// The docks at both sides of the centre: each place has those of its own. In a narrow window what
// is docked at the left stands behind the inspector, as tabs, so that there is room for the views.
// While a lesson is played, its dock is at the left, and places change no docks.
#pragma once

#include <QHash>
#include <QJsonObject>
#include <QObject>
#include <functional>
#include <vector>

#include "app/explorer/places/places.h"

class QDockWidget;
class QMainWindow;

namespace strato {

class Centre;

class PlaceDocks : public QObject {
  Q_OBJECT
 public:
  // `left` stand behind each other. `plays`: whether a lesson is played now.
  PlaceDocks(QMainWindow& window, Centre& centre, std::vector<QDockWidget*> left,
             QDockWidget* inspector, QDockWidget* lessons, std::function<bool()> plays);

  void fit();                    // to the width of the window
  void set_narrow(bool narrow);  // false: all docks are where they belong
  void usual_docks();            // of the place that is shown
  void hide_all();
  void give_room(bool all);  // to what stands in the views' place: none is shown until it is gone
  void teach();              // the lessons at the left, and the views; until a place is chosen

  QJsonObject layout() const;  // which docks each place shows
  void restore(const QJsonObject& layout);

 private:
  struct Shown {
    QStringList docks, front;  // names; those in front of others
  };
  int narrow_width() const;
  QString key(Place place) const;
  Shown usual(Place place) const;
  Shown now() const;
  bool are_of_the_place() const;  // those that are shown now
  void leave(Place place);
  void apply(Place place);
  void set_sizes();

  QMainWindow& window_;
  Centre& centre_;
  std::vector<QDockWidget*> left_, docks_;  // docks_: and the inspector
  QDockWidget *inspector_, *lessons_;
  std::function<bool()> plays_;
  QHash<QString, Shown> shown_;  // by place, in a wide and in a narrow window
  bool narrow_ = false, teaches_ = false, gives_room_ = false;
  std::vector<QDockWidget*> moved_;  // from the left, while it is narrow
};

}  // namespace strato
