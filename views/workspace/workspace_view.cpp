#include "views/workspace/workspace_view.h"

#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QTreeView>
#include <QVBoxLayout>

#include "views/style/style.h"
#include "views/workspace/workspace_filter.h"

namespace strato {

WorkspaceView::WorkspaceView(Session& session, QWidget* parent)
    : QWidget(parent),
      session_(session),
      model_(new WorkspaceModel(session, this)),
      filtered_(new WorkspaceFilter(this)),
      filter_(new QLineEdit(this)),
      tree_(new QTreeView(this)),
      empty_(new QLabel(this)) {
  filtered_->setSourceModel(model_);
  filter_->setPlaceholderText(QStringLiteral("Filter"));
  filter_->setToolTip(QStringLiteral("Words of a name, a planner, a time, a note or a file"));
  filter_->setClearButtonEnabled(true);
  filter_->setAccessibleName(QStringLiteral("Filter of the workspace"));
  tree_->setModel(filtered_);
  tree_->setFrameShape(QFrame::NoFrame);
  tree_->setHeaderHidden(true);
  tree_->setUniformRowHeights(true);
  tree_->setIndentation(3 * style::kGrid);
  tree_->setEditTriggers(QAbstractItemView::EditKeyPressed);
  tree_->setContextMenuPolicy(Qt::CustomContextMenu);
  tree_->setExpandsOnDoubleClick(false);
  tree_->header()->setStretchLastSection(false);
  tree_->header()->setSectionResizeMode(WorkspaceModel::Name, QHeaderView::Stretch);
  tree_->header()->setSectionResizeMode(WorkspaceModel::Step, QHeaderView::ResizeToContents);
  tree_->setAccessibleName(QStringLiteral("Workspace"));
  empty_->setWordWrap(true);
  empty_->setAlignment(Qt::AlignTop);
  empty_->setMargin(3 * style::kGrid);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(style::kGrid);
  layout->addWidget(filter_);
  layout->addWidget(tree_);
  layout->addWidget(empty_);
  connect(tree_, &QTreeView::activated, this, &WorkspaceView::open);
  connect(tree_, &QWidget::customContextMenuRequested, this, &WorkspaceView::context_menu);
  connect(filtered_, &QAbstractItemModel::modelReset, this, &WorkspaceView::expand_sections);
  connect(filter_, &QLineEdit::textChanged, this, &WorkspaceView::filter_changed);
  expand_sections();
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
  empty_->setText(none_left
                      ? QStringLiteral("Nothing here has these words.")
                      : QStringLiteral("Runs and edits are kept here once a workspace is open."));
  filter_->setVisible(some);
  tree_->setVisible(some && !none_left);
  empty_->setVisible(!some || none_left);
}

void WorkspaceView::filter_changed() {
  filtered_->look_for(filter_->text());
  expand_sections();
}

void WorkspaceView::open(const QModelIndex& index) {
  const auto row = index.data(WorkspaceModel::RowRole).toLongLong();
  switch (static_cast<WorkspaceModel::Kind>(index.data(WorkspaceModel::KindRole).toInt())) {
    case WorkspaceModel::Kind::Run:
      session_.show_run(row);
      break;
    case WorkspaceModel::Kind::Strategy:
      session_.show_strategy(row);
      break;
    case WorkspaceModel::Kind::Model:
      session_.show_model(row);
      break;
    case WorkspaceModel::Kind::Cluster:
      session_.show_cluster(row);
      break;
    case WorkspaceModel::Kind::Section:
      tree_->setExpanded(index, !tree_->isExpanded(index));
      break;
  }
}

void WorkspaceView::context_menu(const QPoint& position) {
  const QModelIndex index = tree_->indexAt(position).siblingAtColumn(0);
  if (!index.isValid()) return;
  const auto kind = static_cast<WorkspaceModel::Kind>(index.data(WorkspaceModel::KindRole).toInt());
  if (kind == WorkspaceModel::Kind::Section) return;
  QMenu menu(this);
  menu.addAction(QStringLiteral("Show"), this, [=, this] { open(index); });
  if (kind == WorkspaceModel::Kind::Strategy) {
    menu.addAction(QStringLiteral("Rename"), QKeySequence(Qt::Key_F2), this,
                   [=, this] { tree_->edit(index); });
  }
  if (kind == WorkspaceModel::Kind::Run) {
    const auto row = index.data(WorkspaceModel::RowRole).toLongLong();
    menu.addAction(QStringLiteral("Delete run (its strategies stay)"), this,
                   [=, this] { session_.remove_run(row); });
  }
  menu.addSeparator();
  menu.addAction(QStringLiteral("Export what is shown…"), this, &WorkspaceView::export_wanted);
  menu.exec(tree_->viewport()->mapToGlobal(position));
}

}  // namespace strato
