// What the choosers of the header bar offer: other models and clusters, and how the model is
// prepared.
#pragma once

class QMenu;

namespace strato {

class HeaderBar;
class Session;

// Both fill the menu anew, each time before it is shown. What is wanted goes to the session, or as
// a signal of the bar.
void fill_model_menu(QMenu& menu, Session& session, HeaderBar& bar);
void fill_cluster_menu(QMenu& menu, HeaderBar& bar);

}  // namespace strato
