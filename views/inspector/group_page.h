// The selected op groups: what they are, how they are placed (editable), what that costs, and their
// ops.
#pragma once

#include <QWidget>
#include <array>
#include <functional>
#include <unordered_map>

#include "views/models/op_table_model.h"
#include "views/models/session.h"
#include "views/models/strategy_edits.h"

class QButtonGroup;
class QCheckBox;
class QLabel;
class QSortFilterProxyModel;
class QTableView;
class QVBoxLayout;

namespace strato {

class EditPreview;
class Facts;
class RoleField;
class VariablesView;

class GroupPage : public QWidget {
  Q_OBJECT
 public:
  explicit GroupPage(Session& session, QWidget* parent = nullptr);
  void refresh();
  EditPreview& preview() { return *preview_; }
  RoleField& role(MeshRole which) { return *roles_[static_cast<std::size_t>(which)]; }

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void build_editor(QVBoxLayout* layout);
  void build_ops(QVBoxLayout* layout);
  void rebuild_boxes();  // one check box per device group of the cluster
  void show_decision();
  void show_figures();
  void show_ops();
  void show_constraints();
  void preview_choice(QWidget* choice, std::function<Strategy()> edit);
  void toggle(DeviceGroupId group, bool used);
  void set_mode(int mode);
  void set_shares(bool proportional);

  Session& session_;
  OpTableModel* ops_;
  QSortFilterProxyModel* sorted_ops_;
  QTableView* op_table_;
  QLabel *title_, *subtitle_, *ops_heading_;
  QWidget* boxes_;
  std::vector<QCheckBox*> box_of_;  // by device group
  const Cluster* boxes_of_ = nullptr;
  QButtonGroup* modes_;
  QWidget* share_buttons_;
  EditPreview* preview_;             // of the choice under the cursor
  std::array<RoleField*, 5> roles_;  // by MeshRole
  QLabel *effect_line_, *constraints_;
  std::unordered_map<const QObject*, std::function<Strategy()>> edits_;  // by choice
  QLabel* variables_heading_;
  VariablesView* variables_;
  Facts* facts_;
};

}  // namespace strato
