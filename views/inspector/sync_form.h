// How the chosen variables are synchronised, to be changed: each field is one edit of the session,
// undoable and simulated at once. Where the variables differ, a field says so.
#pragma once

#include <QWidget>
#include <vector>

#include "views/models/session.h"
#include "views/models/variable_edits.h"

class QAction;
class QCheckBox;
class QComboBox;
class QGridLayout;
class QLabel;
class QMenu;
class QSpinBox;
class QToolButton;

namespace strato {

class SyncForm : public QWidget {
  Q_OBJECT
 public:
  // `compact`: nothing but a line of text while there is nothing to change.
  SyncForm(Session& session, bool compact, QWidget* parent = nullptr);
  void show_variables(std::vector<OpId> updates);

  QComboBox& synchroniser() { return *synchroniser_; }
  QSpinBox& parts() { return *parts_; }
  QSpinBox& axis() { return *axis_; }
  QToolButton& servers() { return *servers_; }
  QCheckBox& stations() { return *stations_; }
  QComboBox& encoding() { return *encoding_; }
  QSpinBox& merge_group() { return *merge_; }

 private:
  void build();
  void add_line(const QString& name, QWidget* field, const QString& tip);
  void build_servers();
  void refresh();
  void show_syncs(const std::vector<VariableSync>& syncs);
  void choose_synchroniser(int index);
  void choose_servers();
  void choose(const SyncChoice& choice, const QString& what);
  void edit(const Strategy& strategy, const QString& what);

  Session& session_;
  const bool compact_;
  std::vector<QWidget*> lines_;  // labels and fields
  std::vector<OpId> updates_;    // chosen
  QGridLayout* grid_ = nullptr;
  QLabel* note_ = nullptr;
  QComboBox *synchroniser_ = nullptr, *encoding_ = nullptr;
  QSpinBox *parts_ = nullptr, *axis_ = nullptr, *merge_ = nullptr;
  QToolButton* servers_ = nullptr;
  QMenu* server_menu_ = nullptr;
  QAction* balanced_ = nullptr;
  std::vector<QAction*> server_actions_;  // by device
  QCheckBox* stations_ = nullptr;
};

}  // namespace strato
