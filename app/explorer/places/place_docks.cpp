#include "app/explorer/places/place_docks.h"

#include <QDockWidget>
#include <QJsonArray>
#include <QMainWindow>
#include <QTimer>
#include <algorithm>

#include "app/explorer/places/centre.h"

namespace strato {

PlaceDocks::PlaceDocks(QMainWindow& window, Centre& centre, std::vector<QDockWidget*> left,
                       QDockWidget* inspector, QDockWidget* lessons, std::function<bool()> plays)
    : QObject(&window),
      window_(window),
      centre_(centre),
      left_(std::move(left)),
      docks_(left_),
      inspector_(inspector),
      lessons_(lessons),
      plays_(std::move(plays)) {
  docks_.push_back(inspector_);
  connect(&centre_, &Centre::leaving, this, &PlaceDocks::leave);
  connect(&centre_, &Centre::entered, this, [this](Place place) {
    if (!teaches_ && !plays_()) apply(place);
  });
  connect(&centre_, &Centre::chosen, this, [this](Place place) {
    const bool taught = teaches_ || plays_();
    teaches_ = false;
    lessons_->setVisible(plays_());  // first: it makes room for the others
    if (taught) apply(place);
  });
  connect(lessons_, &QDockWidget::visibilityChanged, this, [this] {
    if (!teaches_ || !lessons_->isHidden() || !window_.isVisible()) return;
    teaches_ = false;
    apply(centre_.place());
  });
}

// What all docks and any view need beside each other; more with a larger font.
int PlaceDocks::narrow_width() const { return 165 * window_.fontMetrics().averageCharWidth(); }

void PlaceDocks::fit() { set_narrow(window_.width() < narrow_width()); }

void PlaceDocks::set_narrow(bool narrow) {
  // A wide window can always be made narrow; a narrow one is as wide as its content needs.
  if (!narrow) window_.setMinimumWidth(narrow_width() / 2);
  if (narrow == narrow_) return;
  narrow_ = narrow;
  if (narrow) {
    for (QDockWidget* dock : left_)
      if (!dock->isFloating() && window_.dockWidgetArea(dock) == Qt::LeftDockWidgetArea)
        moved_.push_back(dock);
  }
  QDockWidget* beside = narrow ? inspector_ : nullptr;
  for (QDockWidget* dock : moved_) {
    if (!narrow && window_.dockWidgetArea(dock) != Qt::RightDockWidgetArea) continue;  // by hand
    const bool hidden = dock->isHidden();
    if (!narrow) window_.addDockWidget(Qt::LeftDockWidgetArea, dock);
    if (beside) window_.tabifyDockWidget(beside, dock);
    beside = dock;
    dock->setHidden(hidden);
  }
  if (beside && !narrow) moved_.front()->raise();
  if (narrow) inspector_->raise();
  if (!narrow) moved_.clear();
  set_sizes();
  // Not while it is being resized: Qt lays docks out that have just been moved, and falls over
  // them.
  if (narrow)
    QTimer::singleShot(0, this, [this] {
      if (narrow_) window_.setMinimumWidth(0);
    });
}

void PlaceDocks::set_sizes() {
  const int letter = window_.fontMetrics().averageCharWidth();
  if (narrow_) {
    window_.resizeDocks({inspector_}, {44 * letter}, Qt::Horizontal);
  } else {  // room for three tabs
    window_.resizeDocks({left_.front(), inspector_},
                        {std::max(228, 32 * letter), std::max(276, 39 * letter)}, Qt::Horizontal);
  }
}

QString PlaceDocks::key(Place place) const {
  return QString::fromUtf8(info(place).key) + (narrow_ ? QStringLiteral("/narrow") : QString());
}

// A narrow window has no room for docks where nobody needs the inspector.
PlaceDocks::Shown PlaceDocks::usual(Place place) const {
  const PlaceInfo& its = info(place);
  Shown shown;
  if (narrow_ && !its.has_inspector) return shown;
  if (narrow_ || *its.left_dock != '\0') {  // behind the inspector they take no room
    for (const QDockWidget* dock : left_) shown.docks << dock->objectName();
    shown.front << QString::fromUtf8(its.left_dock);
  }
  if (!its.has_inspector) return shown;
  shown.docks << inspector_->objectName();
  shown.front << inspector_->objectName();
  return shown;
}

PlaceDocks::Shown PlaceDocks::now() const {
  Shown shown;
  for (const QDockWidget* dock : docks_) {
    if (dock->isHidden()) continue;
    shown.docks << dock->objectName();
    if (!dock->visibleRegion().isEmpty()) shown.front << dock->objectName();
  }
  return shown;
}

bool PlaceDocks::are_of_the_place() const {
  return window_.isVisible() && !teaches_ && !gives_room_ && !plays_();
}

void PlaceDocks::leave(Place place) {
  if (are_of_the_place()) shown_[key(place)] = now();
}

void PlaceDocks::apply(Place place) {
  if (gives_room_) return;
  const Shown shown = shown_.value(key(place), usual(place));
  for (QDockWidget* dock : docks_) dock->setVisible(shown.docks.contains(dock->objectName()));
  for (const QString& name : shown.front)
    for (QDockWidget* dock : docks_)
      if (dock->objectName() == name) dock->raise();
}

void PlaceDocks::usual_docks() {
  shown_.remove(key(centre_.place()));
  apply(centre_.place());
  set_sizes();
}

void PlaceDocks::hide_all() {
  for (QDockWidget* dock : docks_) dock->hide();
}

void PlaceDocks::give_room(bool all) {
  if (all == gives_room_) return;
  if (all) leave(centre_.place());
  gives_room_ = all;
  if (all) return hide_all();
  if (!teaches_ && !plays_()) apply(centre_.place());
}

void PlaceDocks::teach() {
  if (!teaches_) leave(centre_.place());
  teaches_ = true;
  for (QDockWidget* dock : left_) dock->hide();
  inspector_->setVisible(!narrow_);  // lessons speak of it
  lessons_->show();
  lessons_->raise();
  window_.resizeDocks({lessons_}, {std::clamp(window_.width() / 4, 240, 340)}, Qt::Horizontal);
}

QJsonObject PlaceDocks::layout() const {
  QHash<QString, Shown> all = shown_;
  if (are_of_the_place()) all[key(centre_.place())] = now();
  QJsonObject layout;
  for (auto it = all.cbegin(); it != all.cend(); ++it)
    layout[it.key()] =
        QJsonObject{{QStringLiteral("docks"), QJsonArray::fromStringList(it->docks)},
                    {QStringLiteral("front"), QJsonArray::fromStringList(it->front)}};
  return layout;
}

void PlaceDocks::restore(const QJsonObject& layout) {
  for (auto it = layout.begin(); it != layout.end(); ++it) {
    const QJsonObject its = it->toObject();
    shown_[it.key()] = {its[QStringLiteral("docks")].toVariant().toStringList(),
                        its[QStringLiteral("front")].toVariant().toStringList()};
  }
  apply(centre_.place());
}

}  // namespace strato
