// The four places of the window, each named after what people want to do there, and the views of
// each. A new view is one row of the table in places.cpp.
#pragma once

#include <QString>
#include <span>
#include <vector>

class QWidget;

namespace strato {

class SecondPlan;
class Session;

enum class Place { Understand, Decide, Search, Ship };

struct PlaceInfo {
  const char* key;              // in files and settings
  const char *name, *question;  // on its button, and what it answers; not translated yet
  // How it looks until a person changes that:
  double views_share;     // of the height; the timeline has the rest
  double first_share;     // of the width, where views stand beside each other
  const char* beside;     // the file of a view that stands beside the others; empty: none
  const char* left_dock;  // in front of those at the left; empty: they are hidden
  bool has_inspector;
};

// In their order: Ctrl+1 to Ctrl+4.
std::span<const PlaceInfo> places();
const PlaceInfo& info(Place place);
QString name_of(Place place);
QString question_of(Place place);

struct NamedView {
  QString name, file;  // as in the tab; of the PNG and the page of the guide
  Place place;
  QWidget* widget;
};

// All that are in tabs, in their order within each place; without parents.
std::vector<NamedView> make_views(Session& session, SecondPlan& second);

}  // namespace strato
