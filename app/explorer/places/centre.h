// The centre of the window: the row of places, the views of the place that is shown, and below them
// the timeline. Each place keeps its tab, what stands beside it, and how the room is divided.
#pragma once

#include <QJsonObject>
#include <QWidget>
#include <array>
#include <optional>
#include <vector>

#include "app/explorer/places/places.h"

class QBoxLayout;
class QStackedWidget;
class QTabBar;
class QTabWidget;

namespace strato {

class PlaceSwitch;
class ShareSplitter;

class Centre : public QWidget {
  Q_OBJECT
 public:
  // Takes the timeline and the views.
  Centre(QWidget* timeline, std::vector<NamedView> views, QWidget* parent = nullptr);

  const std::vector<NamedView>& views() const { return views_; }
  Place place() const { return place_; }
  QTabBar& tabs() { return *tabs_; }  // of the place that is shown, without those beside
  void go_to(Place place);            // as a person wants it
  void show_view(QWidget* view);  // in its place, or beside others where it is here; else nothing
  QWidget* current_view() const;  // with the focus; else the one in front
  bool is_beside(QWidget* view) const;
  void put_beside(QWidget* view, bool beside);  // the others of the place that is shown
  void usual_layout();                          // of the place that is shown
  // At the end of the row while this place is shown. Takes it.
  void add_corner(Place place, QWidget* corner);
  void show_parts(bool views, bool timeline);

  // How all places look that were visited, and which one is shown.
  QJsonObject layout() const;
  void restore(const QJsonObject& layout);  // what it does not know stays as it is

  // The one of this type.
  template <class View>
  View& view() const {
    for (const NamedView& known : views_)
      if (auto* found = qobject_cast<View*>(known.widget)) return *found;
    qFatal("no such view");
  }

 signals:
  void leaving(Place place);
  void entered(Place place);
  void chosen(Place place);                // by a person, also when one is there already
  void moved(QWidget* view, bool beside);  // beside others, or back

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  struct State {
    QString tab;  // files of views
    QStringList beside;
    double rows, columns;  // shares of what is above, and left
  };
  State usual(Place place) const;
  State now() const;
  std::optional<State>& state() { return states_[static_cast<std::size_t>(place_)]; }
  const NamedView* find(const QWidget* view) const;
  QWidget* front_view() const;  // of the tabs; of those beside where all are
  void enter(Place place);
  void fill();
  void move_page(const NamedView& view, bool beside);
  void show_tab(int tab);
  void fit_bar();

  std::vector<NamedView> views_;
  QWidget* timeline_;
  PlaceSwitch* switch_;
  QTabBar* tabs_;
  QStackedWidget* stack_;  // all pages but those beside
  QTabWidget* side_;
  QWidget* bar_;
  QBoxLayout* bar_row_;
  std::vector<std::pair<Place, QWidget*>> corners_;
  ShareSplitter *rows_, *columns_;
  Place place_ = Place::Understand;
  std::array<std::optional<State>, 4> states_;
};

}  // namespace strato
