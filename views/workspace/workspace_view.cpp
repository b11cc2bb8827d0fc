#include "views/workspace/workspace_view.h"

#include <QAction>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPersistentModelIndex>
#include <QTreeView>
#include <QVBoxLayout>
#include <algorithm>

#include "views/style/style.h"
#include "views/workspace/item_panel.h"
#include "views/workspace/strategy_pictures.h"
#include "views/workspace/workspace_filter.h"
#include "views/workspace/workspace_lines.h"

namespace strato {

using Kind = WorkspaceModel::Kind;

WorkspaceView::WorkspaceView(Session& session, QWidget* parent)
    : QWidget(parent),
      session_(session),
      model_(new WorkspaceModel(session, this)),
      filtered_(new WorkspaceFilter(this)),
      pictures_(new StrategyPictures(this)),
      filter_(new QLineEdit(this)),
      tree_(new QTreeView(this)),
      empty_(new QLabel(this)),
      panel_(new ItemPanel(session, *model_, *pictures_, this)) {
  filtered_->setSourceModel(model_);
  filter_->setPlaceholderText(tr("Filter"));
  filter_->setToolTip(
      tr("Words of a name, a planner, a time, a note or a file; tag:word for a tag"));
  filter_->setClearButtonEnabled(true);
  filter_->setAccessibleName(tr("Filter of the workspace"));
  tree_->setModel(filtered_);
  tree_->setItemDelegate(new WorkspaceLines(*pictures_, tree_));
  tree_->setFrameShape(QFrame::NoFrame);
  tree_->setHeaderHidden(true);
  tree_->setUniformRowHeights(true);
  tree_->setTextElideMode(Qt::ElideLeft);  // ends of names tell them apart
  tree_->setIndentation(3 * style::kGrid);
  tree_->setEditTriggers(QAbstractItemView::EditKeyPressed);
  tree_->setSelectionMode(QAbstractItemView::ExtendedSelection);
  tree_->setContextMenuPolicy(Qt::CustomContextMenu);
  tree_->setExpandsOnDoubleClick(false);
  tree_->header()->setStretchLastSection(false);
  tree_->header()->setSectionResizeMode(WorkspaceModel::Name, QHeaderView::Stretch);
  tree_->header()->setSectionResizeMode(WorkspaceModel::Step, QHeaderView::ResizeToContents);
  tree_->setAccessibleName(tr("Workspace"));
  empty_->setWordWrap(true);
  empty_->setAlignment(Qt::AlignTop);
  empty_->setMargin(3 * style::kGrid);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(style::kGrid);
  layout->addWidget(filter_);
  layout->addWidget(tree_, 1);
  layout->addWidget(empty_, 1);
  layout->addWidget(panel_);
  build_actions();
  connect(tree_, &QTreeView::activated, this, &WorkspaceView::open);
  connect(tree_, &QWidget::customContextMenuRequested, this, &WorkspaceView::context_menu);
  connect(tree_->selectionModel(), &QItemSelectionModel::currentChanged, this,
          &WorkspaceView::chosen);
  connect(filtered_, &QAbstractItemModel::modelAboutToBeReset, this, &WorkspaceView::remember);
  connect(filtered_, &QAbstractItemModel::modelReset, this, &WorkspaceView::restore);
  connect(model_, &WorkspaceModel::shown_changed, this, &WorkspaceView::mark_shown);
  connect(filter_, &QLineEdit::textChanged, this, &WorkspaceView::filter_changed);
  connect(&session_, &Session::workspace_changed, this, [this] {  // perhaps another one
    pictures_->set_workspace(session_.workspace() ? session_.workspace()->file()
                                                  : std::filesystem::path());
    chosen();
  });
  connect(panel_, &ItemPanel::wanted, this,
          [this](int kind, qint64 row) { choose(static_cast<Kind>(kind), row); });
  connect(panel_, &ItemPanel::left, tree_, [this] { tree_->setFocus(); });
  connect(pictures_, &StrategyPictures::made, tree_->viewport(), qOverload<>(&QWidget::update));
  restore();
}

void WorkspaceView::build_actions() {
  const auto add = [this](const QString& text, const QKeySequence& keys, auto act) {
    auto* action = new QAction(text, this);
    action->setShortcut(keys);
    action->setShortcutContext(Qt::WidgetShortcut);
    connect(action, &QAction::triggered, this, act);
    tree_->addAction(action);
    return action;
  };
  tags_ = add(tr("Tags…"), Qt::Key_T, [this] { panel_->write_tags(); });
  note_ = add(tr("Note…"), Qt::Key_N, [this] { panel_->write_note(); });
  origin_ = add(tr("Show What It Came From"), Qt::Key_Backspace, [this] { show_origin(); });
  chart_ = add(tr("Convergence of Runs in One Chart"), Qt::Key_C,
               [this] { emit convergence_wanted(runs_to_chart()); });
}

// Sections and runs; edits of edits open by hand. Rows are few, so this stays cheap.
void WorkspaceView::expand_sections() {
  for (int section = 0; section < filtered_->rowCount(); ++section) {
    const QModelIndex index = filtered_->index(section, 0);
    tree_->expand(index);
    tree_->setFirstColumnSpanned(section, {}, true);
    for (int row = 0; row < std::min(filtered_->rowCount(index), 20); ++row) {
      tree_->expand(filtered_->index(row, 0, index));
    }
  }
  const bool some = model_->rowCount() > 0;
  const bool none_left = some && filtered_->rowCount() == 0;
  empty_->setText(none_left ? tr("Nothing here has these words.")
                            : tr("Runs and edits are kept here once a workspace is open."));
  filter_->setVisible(some);
  tree_->setVisible(some && !none_left);
  empty_->setVisible(!some || none_left);
  chart_->setEnabled(some);
}

void WorkspaceView::filter_changed() {
  filtered_->look_for(filter_->text());
  expand_sections();
}

// --- the tree read again: what was chosen and opened stays so
// -------------------------------------------------------------------------------------------

WorkspaceView::Name WorkspaceView::name_of(const QModelIndex& index) {
  if (!index.isValid()) return {-1, -1};
  return {index.data(WorkspaceModel::KindRole).toInt(),
          index.data(WorkspaceModel::RowRole).toLongLong()};
}

void WorkspaceView::visit(const std::function<void(const QModelIndex&)>& see) const {
  QModelIndexList waiting{QModelIndex()};
  while (!waiting.isEmpty()) {
    const QModelIndex parent = waiting.takeLast();
    for (int row = 0; row < filtered_->rowCount(parent); ++row) {
      const QModelIndex index = filtered_->index(row, 0, parent);
      see(index);
      if (filtered_->rowCount(index) > 0) waiting << index;
    }
  }
}

void WorkspaceView::remember() {
  current_ = name_of(tree_->currentIndex());
  opened_.clear();
  known_.clear();
  selected_.clear();
  for (const QModelIndex& index : tree_->selectionModel()->selectedRows())
    selected_ << name_of(index);
  visit([this](const QModelIndex& index) {
    if (filtered_->rowCount(index) == 0) return;
    known_ << name_of(index);
    if (tree_->isExpanded(index)) opened_ << name_of(index);
  });
}

void WorkspaceView::restore() {
  pictures_->set_workspace(session_.workspace() ? session_.workspace()->file()
                                                : std::filesystem::path());
  expand_sections();
  QModelIndex current;
  QItemSelection selected;
  visit([&](const QModelIndex& index) {
    const Name name = name_of(index);
    if (opened_.contains(name)) tree_->expand(index);
    if (known_.contains(name) && !opened_.contains(name)) tree_->collapse(index);
    if (name == current_) current = index;
    if (selected_.contains(name)) selected.select(index, index);
  });
  QItemSelectionModel& selection = *tree_->selectionModel();
  selection.select(selected, QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
  if (current.isValid()) selection.setCurrentIndex(current, QItemSelectionModel::NoUpdate);
  chosen();
}

void WorkspaceView::chosen() {
  const QModelIndex index = tree_->currentIndex().siblingAtColumn(0);
  const Name name = name_of(index);
  const bool some = index.isValid() && name.first != static_cast<int>(Kind::Section);
  panel_->show_item(some ? static_cast<Kind>(name.first) : Kind::Section, name.second);
  for (QAction* action : {tags_, note_}) action->setEnabled(some);
  origin_->setEnabled(some && !model_->lineage(filtered_->mapToSource(index)).empty());
}

bool WorkspaceView::choose(Kind kind, std::int64_t row) {
  const QModelIndex source = model_->find(kind, row);
  if (!source.isValid()) return false;
  if (!filtered_->mapFromSource(source).isValid()) filter_->clear();
  go_to(filtered_->mapFromSource(source));
  return true;
}

void WorkspaceView::go_to(const QModelIndex& index) {
  for (QModelIndex above = index.parent(); above.isValid(); above = above.parent())
    tree_->expand(above);
  tree_->selectionModel()->setCurrentIndex(  // alone, also with Ctrl held, as while undoing
      index, QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
  tree_->scrollTo(index);
}

// What the words above hide stays hidden.
void WorkspaceView::mark_shown() {
  const QModelIndex index = filtered_->mapFromSource(model_->shown());
  if (index.isValid()) go_to(index);
}

void WorkspaceView::show_origin() {
  const auto line = model_->lineage(filtered_->mapToSource(tree_->currentIndex()));
  if (!line.empty()) choose(line.back().kind, line.back().row);
}

std::vector<RunRow> WorkspaceView::runs_to_chart() const {
  std::vector<RunRow> some, all;
  const QModelIndexList chosen = tree_->selectionModel()->selectedRows();
  const bool only_marked = chosen == QModelIndexList{filtered_->mapFromSource(model_->shown())};
  visit([&](const QModelIndex& index) {
    const auto [kind, row] = name_of(index);
    if (kind != static_cast<int>(Kind::Run)) return;
    all.push_back(row);
    if (!only_marked && chosen.contains(index)) some.push_back(row);
  });
  return some.empty() ? all : some;
}

void WorkspaceView::open(const QModelIndex& index) {
  const auto row = index.data(WorkspaceModel::RowRole).toLongLong();
  switch (static_cast<Kind>(index.data(WorkspaceModel::KindRole).toInt())) {
    case Kind::Run:
      session_.show_run(row);
      break;
    case Kind::Strategy:
      session_.show_strategy(row);
      break;
    case Kind::Model:
      session_.show_model(row);
      break;
    case Kind::Cluster:
      session_.show_cluster(row);
      break;
    case Kind::Section:
      tree_->setExpanded(index, !tree_->isExpanded(index));
      break;
  }
}

void WorkspaceView::context_menu(const QPoint& position) {
  const QPersistentModelIndex index = tree_->indexAt(position).siblingAtColumn(0);
  if (!index.isValid()) return;
  const auto kind = static_cast<Kind>(index.data(WorkspaceModel::KindRole).toInt());
  if (kind == Kind::Section) return;
  QMenu menu(this);
  menu.addAction(tr("Show"), this, [=, this] { open(index); });
  menu.addAction(origin_);
  if (kind == Kind::Strategy) {
    menu.addAction(tr("Rename"), QKeySequence(Qt::Key_F2), this, [=, this] { tree_->edit(index); });
  }
  menu.addActions({tags_, note_});
  if (kind == Kind::Run) {
    menu.addSeparator();
    menu.addAction(chart_);
    const auto row = index.data(WorkspaceModel::RowRole).toLongLong();
    menu.addAction(tr("Delete run (its strategies stay)"), this,
                   [=, this] { session_.remove_run(row); });
  }
  menu.addSeparator();
  menu.addAction(tr("Export what is shown…"), this, &WorkspaceView::export_wanted);
  menu.exec(tree_->viewport()->mapToGlobal(position));
}

}  // namespace strato
