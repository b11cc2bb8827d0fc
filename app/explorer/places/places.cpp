#include "app/explorer/places/places.h"

#include <QCoreApplication>
#include <array>
#include <type_traits>

#include "views/charts/charts_view.h"
#include "views/cluster/cluster_view.h"
#include "views/compare/compare_view.h"
#include "views/graph/group_graph_view.h"
#include "views/inspector/variables_view.h"
#include "views/launch/launch_view.h"
#include "views/memory/memory_view.h"
#include "views/pipeline/pipeline_view.h"
#include "views/placement/placement_view.h"
#include "views/planning/planning_view.h"
#include "views/search/search_tree_view.h"
#include "views/tournament/tournament_view.h"
#include "views/traces/traces_view.h"
#include "views/what_if/what_if_view.h"

namespace strato {
namespace {

template <class View>
QWidget* make(Session& session, SecondPlan& second) {
  if constexpr (std::is_constructible_v<View, Session&, SecondPlan&>) {
    return new View(session, second);
  } else {
    auto* view = new View(session);
    if constexpr (std::is_same_v<View, GroupGraphView>) view->set_second_plan(second);
    return view;
  }
}

struct ViewRow {
  Place place;
  const char *name, *file;
  QWidget* (*make)(Session& session, SecondPlan& second);
};

constexpr ViewRow kViews[] = {
    {Place::Understand, QT_TRANSLATE_NOOP("Places", "Graph"), "graph", make<GroupGraphView>},
    {Place::Understand, QT_TRANSLATE_NOOP("Places", "Cluster"), "cluster", make<ClusterView>},
    {Place::Understand, QT_TRANSLATE_NOOP("Places", "Charts"), "charts", make<ChartsView>},
    {Place::Understand, QT_TRANSLATE_NOOP("Places", "Memory"), "memory", make<MemoryView>},
    {Place::Decide, QT_TRANSLATE_NOOP("Places", "Placement"), "placement", make<PlacementView>},
    {Place::Decide, QT_TRANSLATE_NOOP("Places", "Variables"), "variables", make<VariablesView>},
    {Place::Decide, QT_TRANSLATE_NOOP("Places", "What If"), "what-if", make<WhatIfView>},
    {Place::Decide, QT_TRANSLATE_NOOP("Places", "Pipeline"), "pipeline", make<PipelineView>},
    {Place::Search, QT_TRANSLATE_NOOP("Places", "Search Tree"), "search", make<SearchTreeView>},
    {Place::Search, QT_TRANSLATE_NOOP("Places", "Planner Steps"), "planning", make<PlanningView>},
    {Place::Search, QT_TRANSLATE_NOOP("Places", "Tournament"), "tournament", make<TournamentView>},
    {Place::Ship, QT_TRANSLATE_NOOP("Places", "Compare"), "compare", make<CompareView>},
    {Place::Ship, QT_TRANSLATE_NOOP("Places", "Launch"), "launch", make<LaunchView>},
    {Place::Ship, QT_TRANSLATE_NOOP("Places", "Traces"), "traces", make<TracesView>},
};

constexpr std::array<PlaceInfo, 4> kPlaces = {{
    {"understand", QT_TRANSLATE_NOOP("Places", "Understand"),
     QT_TRANSLATE_NOOP("Places", "Why is it this fast, and not faster?"), 0.55, 0.5, "",
     "workspace", true},
    {"decide", QT_TRANSLATE_NOOP("Places", "Decide"),
     QT_TRANSLATE_NOOP("Places", "What if I change this?"), 0.6, 0.5, "", "", true},
    {"search", QT_TRANSLATE_NOOP("Places", "Search"),
     QT_TRANSLATE_NOOP("Places", "Is there a better strategy?"), 0.7, 0.52, "charts", "workspace",
     false},
    {"ship", QT_TRANSLATE_NOOP("Places", "Ship"),
     QT_TRANSLATE_NOOP("Places", "Which one do I use, and does it hold?"), 0.68, 0.5, "",
     "workspace", false},
}};

QString translated(const char* words) { return QCoreApplication::translate("Places", words); }

}  // namespace

std::span<const PlaceInfo> places() { return kPlaces; }
const PlaceInfo& info(Place place) { return kPlaces[static_cast<std::size_t>(place)]; }
QString name_of(Place place) { return translated(info(place).name); }
QString question_of(Place place) { return translated(info(place).question); }

std::vector<NamedView> make_views(Session& session, SecondPlan& second) {
  std::vector<NamedView> views;
  for (const ViewRow& row : kViews)
    views.push_back(
        {translated(row.name), QString::fromUtf8(row.file), row.place, row.make(session, second)});
  return views;
}

}  // namespace strato
