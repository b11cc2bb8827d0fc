// Op groups times device groups: who computes what. A click on a cell uses or frees a device group,
// for all selected rows at once; the mode is a choice in place; F2 on a used cell edits its weight.
// What a click would do is shown before it is made. The context menu has what searches keep to.
#pragma once

#include <QSortFilterProxyModel>
#include <QWidget>

#include "views/models/placement_model.h"

class QLabel;
class QLineEdit;
class QTableView;

namespace strato {

class PlacementDelegate;
class PlacementPreview;

class PlacementView : public QWidget {
  Q_OBJECT
 public:
  explicit PlacementView(Session& session, QWidget* parent = nullptr);

  QTableView* table() { return table_; }
  PlacementModel* model() { return model_; }
  PlacementPreview& preview() { return *preview_; }
  void focus_filter();

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  void build();
  void resize_columns();
  void tint_selection();
  void show_selection();  // shared selection -> rows
  void take_selection();  // rows -> shared selection
  void update_hint();
  std::vector<GroupId> selected_groups() const;
  std::vector<GroupId> groups_at(const QModelIndex& source) const;
  void toggle(const QModelIndex& index);
  bool press(const QModelIndex& index, Qt::KeyboardModifiers modifiers);
  bool release(const QModelIndex& index);
  void context_menu(const QPoint& position);
  void choose_mode(int mode);
  void edit_shares(bool proportional);
  void use_only(DeviceGroupId group);

  Session& session_;
  PlacementModel* model_;
  QSortFilterProxyModel* proxy_;
  QTableView* table_;
  QLineEdit* filter_;
  QLabel* hint_;
  PlacementDelegate* delegate_;
  PlacementPreview* preview_ = nullptr;
  QPersistentModelIndex pressed_;
  bool syncing_ = false;
};

}  // namespace strato
