// The menus that lead to places and views.
#pragma once

class QMenu;

namespace strato {

class Centre;

// Every view, below the name of its place; those of the place that is shown answer to Alt and their
// number in it. And which stand beside others.
void add_view_actions(QMenu& menu, Centre& centre);
void add_place_actions(QMenu& menu, Centre& centre);  // Ctrl and the number of the place

}  // namespace strato
