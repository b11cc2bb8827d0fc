// Four buttons in one row, one for each place: which of them is shown, and the way to the others.
#pragma once

#include <QWidget>

#include "app/explorer/places/places.h"

class QButtonGroup;

namespace strato {

class PlaceSwitch : public QWidget {
  Q_OBJECT
 public:
  explicit PlaceSwitch(QWidget* parent = nullptr);
  void show_place(Place place);

 signals:
  void chosen(Place place);  // by a person, also the one that is shown

 private:
  QButtonGroup* buttons_;
};

}  // namespace strato
