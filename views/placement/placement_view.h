// Op groups times device groups: who computes what. A click on a cell uses or frees a device group,
// for all selected rows at once; the mode is a choice in place; F2 on a used cell edits its weight.
#pragma once

#include <QSortFilterProxyModel>
#include <QWidget>

#include "views/models/placement_model.h"

class QLabel;
class QLineEdit;
class QTableView;

namespace strato {

class PlacementDelegate;

class PlacementView : public QWidget {
  Q_OBJECT
 public:
  explicit PlacementView(Session& session, QWidget* parent = nullptr);

  QTableView* table() { return table_; }
  PlacementModel* model() { return model_; }
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
  QPersistentModelIndex pressed_;
  bool syncing_ = false;
};

}  // namespace strato
