#include "views/placement/placement_view.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QMimeData>
#include <QMouseEvent>
#include <QTableView>
#include <QVBoxLayout>
#include <algorithm>
#include <memory>

#include "views/drag/drag_start.h"
#include "views/models/drop_place.h"
#include "views/placement/constraint_menu.h"
#include "views/placement/placement_delegate.h"
#include "views/placement/placement_header.h"
#include "views/placement/placement_preview.h"
#include "views/style/list_table.h"
#include "views/style/mixed.h"
#include "views/style/row_ranges.h"
#include "views/style/style.h"

namespace strato {
namespace {

// Drags of its rows begin as those of other views do: from the view around it, since a table
// refuses its own rows where they come from, and under a chip that leaves the columns to be seen.
class PlacementTable final : public QTableView {
 public:
  PlacementTable(PlacementView& view, Session& session) : QTableView(&view), session_(session) {}

 protected:
  void startDrag(Qt::DropActions) override {
    const std::unique_ptr<QMimeData> data(model()->mimeData(selectedIndexes()));
    const auto& problem = session_.snapshot().problem;
    if (data && problem) carry(*parentWidget(), dragged(*data, *problem), *problem);
  }

 private:
  Session& session_;
};

}  // namespace

PlacementView::PlacementView(Session& session, QWidget* parent)
    : QWidget(parent),
      session_(session),
      model_(new PlacementModel(session, this)),
      proxy_(new QSortFilterProxyModel(this)),
      table_(new PlacementTable(*this, session)),
      filter_(new QLineEdit(this)),
      hint_(new QLabel(this)),
      delegate_(new PlacementDelegate(session, this)) {
  proxy_->setSourceModel(model_);
  proxy_->setSortRole(PlacementModel::SortRole);
  proxy_->setFilterKeyColumn(PlacementModel::Name);
  proxy_->setFilterCaseSensitivity(Qt::CaseInsensitive);
  proxy_->setDynamicSortFilter(false);  // rows stay under the hand that edits them
  build();
  connect(filter_, &QLineEdit::textChanged, proxy_, &QSortFilterProxyModel::setFilterFixedString);
  connect(model_, &QAbstractItemModel::modelReset, this, &PlacementView::resize_columns);
  connect(table_->selectionModel(), &QItemSelectionModel::selectionChanged, this,
          &PlacementView::take_selection);
  connect(&session_.selection(), &Selection::changed, this, &PlacementView::show_selection);
  connect(delegate_, &PlacementDelegate::mode_chosen, this, &PlacementView::choose_mode);
  connect(table_, &QWidget::customContextMenuRequested, this, &PlacementView::context_menu);
  preview_ = new PlacementPreview(
      session_, *model_, *table_,
      [this](const QModelIndex& index) -> std::optional<PlacementPreview::Target> {
        const QModelIndex source = proxy_->mapToSource(index);
        const DeviceGroupId device_group = model_->device_group_at(source.column());
        if (!device_group.valid()) return std::nullopt;
        return PlacementPreview::Target{groups_at(source), device_group,
                                        source.data(PlacementModel::UsedRole).toInt() == 0};
      });
  connect(preview_, &PlacementPreview::changed, this, &PlacementView::update_hint);
  tint_selection();
  resize_columns();
  update_hint();
}

void PlacementView::build() {
  filter_->setPlaceholderText(tr("Filter groups"));
  filter_->setClearButtonEnabled(true);
  filter_->setMaximumWidth(220);
  table_->setModel(proxy_);
  table_->setItemDelegate(delegate_);
  table_->setHorizontalHeader(new PlacementHeader(session_, table_));
  table_->setSortingEnabled(true);
  table_->horizontalHeader()->setSortIndicator(PlacementModel::Time, Qt::DescendingOrder);
  style::as_list(*table_);
  table_->setSelectionMode(QAbstractItemView::ExtendedSelection);
  table_->setEditTriggers(QAbstractItemView::EditKeyPressed);
  table_->setContextMenuPolicy(Qt::CustomContextMenu);
  table_->setMouseTracking(true);
  table_->setDragDropMode(QAbstractItemView::DragDrop);
  table_->setDefaultDropAction(Qt::MoveAction);
  table_->setDropIndicatorShown(false);
  table_->viewport()->installEventFilter(this);
  table_->installEventFilter(this);
  table_->setAccessibleName(tr("Placement matrix"));
  auto* top = new QHBoxLayout;
  top->setContentsMargins(2 * style::kGrid, style::kGrid, 2 * style::kGrid, style::kGrid);
  top->setSpacing(3 * style::kGrid);
  top->addWidget(filter_, 1);
  top->addWidget(hint_, 3);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addLayout(top);
  layout->addWidget(table_);
}

void PlacementView::focus_filter() {
  filter_->setFocus();
  filter_->selectAll();
}

// Names get what the others leave; where that is too little, figures that the inspector shows, too,
// make room.
void PlacementView::resize_columns() {
  if (model_->rowCount() == 0) return;
  const int digit = fontMetrics().horizontalAdvance(QLatin1Char('0'));
  const int widths[] = {16 * digit, 6 * digit, 14 * digit, 10 * digit, 15 * digit};
  const auto width_of = [&](int column) {
    return column < PlacementModel::FirstDeviceGroup ? widths[column] : 8 * digit;
  };
  int rest = table_->viewport()->width();
  for (int column = 1; column < model_->columnCount(); ++column) rest -= width_of(column);
  for (const int spare : {PlacementModel::Ops, PlacementModel::Parameters}) {
    const bool hidden = rest < widths[0];
    table_->setColumnHidden(spare, hidden);
    if (hidden) rest += widths[spare];
  }
  for (int column = 1; column < model_->columnCount(); ++column) {
    table_->setColumnWidth(column, width_of(column));
  }
  table_->setColumnWidth(0, std::clamp(rest, widths[0], 48 * digit));
}

// The view fills selected rows by itself: lightly, so that the patches keep their colours.
void PlacementView::tint_selection() {
  QPalette palette = this->palette();
  const QColor base = palette.color(QPalette::Base),
               accent = style::selection(style::is_dark(palette));
  palette.setColor(QPalette::Highlight, mixed(base, accent, 1 / 6.0));
  palette.setColor(QPalette::HighlightedText, palette.color(QPalette::Text));
  table_->setPalette(palette);
}

void PlacementView::changeEvent(QEvent* event) {
  if (event->type() == QEvent::PaletteChange) tint_selection();
  QWidget::changeEvent(event);
}

std::vector<GroupId> PlacementView::selected_groups() const {
  std::vector<GroupId> groups;
  for (const QModelIndex& row : table_->selectionModel()->selectedRows()) {
    groups.push_back(model_->group_at(proxy_->mapToSource(row).row()));
  }
  std::sort(groups.begin(), groups.end());
  return groups;
}

void PlacementView::take_selection() {
  update_hint();
  if (!syncing_) {
    syncing_ = true;
    session_.selection().select_groups(selected_groups());
    syncing_ = false;
  }
}

void PlacementView::show_selection() {
  if (syncing_) return;
  syncing_ = true;
  std::vector<int> rows;
  QModelIndex first;
  for (const GroupId group : session_.selection().groups()) {
    const QModelIndex index = proxy_->mapFromSource(model_->index(group.value(), 0));
    if (!index.isValid()) continue;
    if (!first.isValid()) first = index;
    rows.push_back(index.row());
  }
  table_->selectionModel()->select(row_ranges(std::move(rows), *proxy_),
                                   QItemSelectionModel::ClearAndSelect);
  if (first.isValid()) {
    table_->selectionModel()->setCurrentIndex(first, QItemSelectionModel::NoUpdate);
    table_->scrollTo(first);
  }
  syncing_ = false;
  update_hint();
}

void PlacementView::update_hint() {
  const auto count = table_->selectionModel()->selectedRows().size();
  QPalette palette = this->palette();
  palette.setColor(QPalette::WindowText, style::muted_text(palette));
  hint_->setPalette(palette);
  const QString effect = preview_ != nullptr ? preview_->text() : QString();
  hint_->setText(!effect.isEmpty() ? effect
                 : count > 1 ? tr("%1 groups selected: a click changes all of them").arg(count)
                             : tr("Click a cell to use or leave devices · F2 weight"));
}

void PlacementView::toggle(const QModelIndex& index) {
  const QModelIndex source = proxy_->mapToSource(index);
  const DeviceGroupId device_group = model_->device_group_at(source.column());
  if (!device_group.valid()) return;
  const bool used = source.data(PlacementModel::UsedRole).toInt() > 0;
  model_->toggle(groups_at(source), device_group, !used);
}

// What a click there changes: the selection when it is of it, else its row.
std::vector<GroupId> PlacementView::groups_at(const QModelIndex& source) const {
  std::vector<GroupId> groups = selected_groups();
  const GroupId clicked = model_->group_at(source.row());
  if (std::find(groups.begin(), groups.end(), clicked) == groups.end()) groups = {clicked};
  return groups;
}

// A plain press on a cell of a selected row keeps the selection, so that the click changes all of
// it.
bool PlacementView::press(const QModelIndex& index, Qt::KeyboardModifiers modifiers) {
  pressed_ = QPersistentModelIndex();
  if (!index.isValid() || modifiers != Qt::NoModifier ||
      index.column() < PlacementModel::ModeOfGroup) {
    return false;
  }
  pressed_ = index;
  if (!table_->selectionModel()->isRowSelected(index.row())) return false;
  table_->selectionModel()->setCurrentIndex(index, QItemSelectionModel::NoUpdate);
  return true;
}

bool PlacementView::release(const QModelIndex& index) {
  const bool same = pressed_.isValid() && index == pressed_;
  pressed_ = QPersistentModelIndex();
  if (!same) return false;
  if (index.column() == PlacementModel::ModeOfGroup) {
    table_->edit(index);
    if (auto* combo = table_->indexWidget(index)) combo->setFocus();
  } else {
    toggle(index);
  }
  return true;
}

bool PlacementView::eventFilter(QObject* watched, QEvent* event) {
  if (watched == table_->viewport()) {
    if (event->type() == QEvent::Resize) resize_columns();
    const bool pressed =
        event->type() == QEvent::MouseButtonPress || event->type() == QEvent::MouseButtonDblClick;
    if (pressed || event->type() == QEvent::MouseButtonRelease) {
      const auto* mouse = static_cast<QMouseEvent*>(event);
      if (mouse->button() != Qt::LeftButton) return false;
      const QModelIndex index = table_->indexAt(mouse->position().toPoint());
      if (pressed) return press(index, mouse->modifiers());
      release(index);
    }
  } else if (watched == table_ && event->type() == QEvent::KeyPress &&
             static_cast<QKeyEvent*>(event)->key() == Qt::Key_Space) {
    toggle(table_->currentIndex());
    return true;
  }
  return QWidget::eventFilter(watched, event);
}

void PlacementView::choose_mode(int mode) {
  std::vector<GroupId> groups = selected_groups();
  const GroupId current = model_->group_at(proxy_->mapToSource(table_->currentIndex()).row());
  if (std::find(groups.begin(), groups.end(), current) == groups.end()) groups = {current};
  model_->set_mode(groups, static_cast<Mode>(mode));
}

void PlacementView::edit_shares(bool proportional) {
  const std::vector<GroupId> groups = selected_groups();
  const Snapshot& snapshot = session_.snapshot();
  const QString name = names_of(groups, *snapshot.problem->grouping);
  if (proportional) {
    session_.edit(with_proportional_shares(snapshot.strategy, groups, *snapshot.problem),
                  tr("%1: shares by speed").arg(name));
  } else {
    session_.edit(with_equal_shares(snapshot.strategy, groups), tr("%1: equal shares").arg(name));
  }
}

void PlacementView::use_only(DeviceGroupId group) {
  if (const auto& problem = session_.snapshot().problem)
    drop_on(session_, {selected_groups(), {}}, place_of(*problem->cluster, group));
}

void PlacementView::context_menu(const QPoint& position) {
  const QModelIndex index = table_->indexAt(position);
  if (!index.isValid() || selected_groups().empty()) return;
  const DeviceGroupId group = model_->device_group_at(proxy_->mapToSource(index).column());
  QMenu menu(this);
  if (group.valid()) {
    const QString name =
        QString::fromStdString(session_.snapshot().problem->cluster->groups()[group].name);
    menu.addAction(tr("Use only %1").arg(name), this, [=, this] { use_only(group); });
    QAction* weight = menu.addAction(tr("Change weight on %1…").arg(name), this,
                                     [=, this] { table_->edit(index); });
    weight->setEnabled(index.flags() & Qt::ItemIsEditable);
    menu.addSeparator();
  }
  QMenu* modes = menu.addMenu(tr("Mode"));
  for (int mode = 0; mode <= static_cast<int>(Mode::ModelParallel); ++mode) {
    const auto label = label_of(static_cast<Mode>(mode));
    modes->addAction(QString::fromUtf8(label.data(), static_cast<qsizetype>(label.size())), this,
                     [=, this] { choose_mode(mode); });
  }
  menu.addAction(tr("Equal shares"), this, [this] { edit_shares(false); });
  menu.addAction(tr("Shares by speed"), this, [this] { edit_shares(true); });
  add_constraint_actions(menu, session_, selected_groups(), group);
  menu.exec(table_->viewport()->mapToGlobal(position));
}

}  // namespace strato
