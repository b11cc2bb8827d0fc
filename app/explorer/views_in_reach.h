// The views that the main window is made of.
#pragma once

#include "views/charts/charts_view.h"
#include "views/cluster/cluster_view.h"
#include "views/compare/compare_view.h"
#include "views/graph/group_graph_view.h"
#include "views/history/history_view.h"
#include "views/inspector/inspector_view.h"
#include "views/inspector/variables_view.h"
#include "views/launch/discover_dialog.h"
#include "views/launch/launch_view.h"
#include "views/placement/placement_view.h"
#include "views/planning/planning_view.h"
#include "views/search/search_tree_view.h"
#include "views/timeline/timeline_view.h"
#include "views/tournament/tournament_view.h"
#include "views/what_if/what_if_view.h"
#include "views/workspace/workspace_view.h"
