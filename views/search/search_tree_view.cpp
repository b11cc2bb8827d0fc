#include "views/search/search_tree_view.h"

#include <QHeaderView>
#include <QLabel>
#include <QScrollBar>
#include <QSplitter>
#include <QStackedWidget>
#include <QTreeView>
#include <QVBoxLayout>

#include "views/search/icicle_widget.h"
#include "views/style/style.h"

namespace strato {
namespace {
constexpr int kMostPreviewed = 6;  // decisions told in the line below
}

SearchTreeView::SearchTreeView(Session& session, QWidget* parent)
    : QWidget(parent), session_(session) {
  view_ = new QTreeView(this);
  view_->setModel(&model_);
  view_->setUniformRowHeights(true);
  view_->setFrameShape(QFrame::NoFrame);
  view_->setAccessibleName(tr("Search tree"));
  view_->setTextElideMode(Qt::ElideRight);
  view_->setExpandsOnDoubleClick(false);
  view_->header()->setStretchLastSection(false);
  view_->header()->setSectionResizeMode(SearchTreeModel::Action, QHeaderView::Stretch);
  for (int c = SearchTreeModel::Visits; c < SearchTreeModel::ColumnCount; ++c) {
    view_->header()->resizeSection(c, c == SearchTreeModel::StepTime ? 72 : 50);
  }
  view_->header()->setMinimumSectionSize(40);
  view_->header()->resizeSection(SearchTreeModel::Group, 104);
  view_->setIndentation(12);
  overview_ = new IcicleWidget(model_, this);
  splitter_ = new QSplitter(Qt::Horizontal, this);
  splitter_->addWidget(view_);
  splitter_->addWidget(overview_);
  splitter_->setStretchFactor(0, 5);
  splitter_->setStretchFactor(1, 2);
  splitter_->setSizes({700, 280});
  splitter_->setChildrenCollapsible(false);
  empty_ = new QLabel(tr("No search yet.\nPress Search (F5): the ways that it tried, and how "
                         "good they were, appear here."),
                      this);
  empty_->setAlignment(Qt::AlignCenter);
  empty_->setWordWrap(true);
  empty_->setContentsMargins(24, 24, 24, 24);
  empty_->setForegroundRole(QPalette::PlaceholderText);
  pages_ = new QStackedWidget(this);
  pages_->addWidget(empty_);
  pages_->addWidget(splitter_);
  preview_ = new QLabel(this);
  preview_->setContentsMargins(8, 4, 8, 4);
  preview_->setWordWrap(true);
  preview_->hide();
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(pages_, 1);
  column->addWidget(preview_);
  setFocusProxy(view_);

  connect(view_->selectionModel(), &QItemSelectionModel::currentChanged, this,
          [this](const QModelIndex& index) {
            if (index.isValid()) preview(model_.vertex_at(index));
          });
  connect(view_, &QTreeView::activated, this,
          [this](const QModelIndex& index) { open(model_.vertex_at(index)); });
  connect(view_, &QTreeView::doubleClicked, this,
          [this](const QModelIndex& index) { open(model_.vertex_at(index)); });
  connect(overview_, &IcicleWidget::vertex_clicked, this, &SearchTreeView::choose);
  connect(overview_, &IcicleWidget::vertex_opened, this, &SearchTreeView::open);
  connect(overview_, &IcicleWidget::cursor_info, this, &SearchTreeView::cursor_info);
  connect(&session, &Session::tree_changed, this, &SearchTreeView::update_tree);
  connect(&session, &Session::problem_changed, this, &SearchTreeView::update_tree);
  update_tree();
}

void SearchTreeView::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  splitter_->setOrientation(width() >= 720 ? Qt::Horizontal : Qt::Vertical);
  view_->setColumnHidden(SearchTreeModel::Prior, width() < 900);  // the decision needs its room
}

void SearchTreeView::update_tree() { show_tree(session_.tree(), session_.snapshot().problem); }

// A running search sends a new tree a few times a second: what is open, chosen and in view stays
// so.
void SearchTreeView::show_tree(std::shared_ptr<const SearchTree> tree,
                               std::shared_ptr<const Problem> problem) {
  if (!problem) tree = nullptr;
  std::set<SearchTreeModel::Path> open;
  SearchTreeModel::Path current;
  const bool had_tree = model_.tree() != nullptr;
  if (had_tree) {
    collect_open({}, open);
    current = model_.path_to(model_.vertex_at(view_->currentIndex()));
  }
  const int scroll = view_->verticalScrollBar()->value();
  model_.show(std::move(tree), std::move(problem));
  overview_->tree_changed();
  pages_->setCurrentIndex(model_.tree() ? 1 : 0);
  if (!model_.tree()) {
    preview_->hide();
  } else if (had_tree) {
    restore(open, current, scroll);
  } else {
    expand_best_path();
  }
}

void SearchTreeView::collect_open(const QModelIndex& parent,
                                  std::set<SearchTreeModel::Path>& open) const {
  for (int row = 0; row < model_.rowCount(parent); ++row) {
    const QModelIndex child = model_.index(row, 0, parent);
    if (!view_->isExpanded(child)) continue;
    open.insert(model_.path_to(model_.vertex_at(child)));
    collect_open(child, open);
  }
}

void SearchTreeView::restore(const std::set<SearchTreeModel::Path>& open,
                             const SearchTreeModel::Path& current, int scroll) {
  for (const SearchTreeModel::Path& path :
       open) {  // shorter paths sort before those that they begin
    if (const std::int32_t vertex = model_.find(path); vertex > 0)
      view_->expand(model_.index_of(vertex));
  }
  if (!current.empty()) {
    if (const std::int32_t vertex = model_.find(current); vertex > 0) choose(vertex);
  }
  view_->verticalScrollBar()->setValue(scroll);
}

void SearchTreeView::expand_best_path() {
  for (const std::int32_t vertex : model_.tree()->best_path()) {
    if (vertex > 0) view_->expand(model_.index_of(vertex));
  }
}

void SearchTreeView::choose(std::int32_t vertex) {
  const QModelIndex index = model_.index_of(vertex);
  view_->setCurrentIndex(index);
  view_->scrollTo(index);
  preview(vertex);
}

// One line under the tree: what this vertex has decided so far. Its groups light up everywhere.
void SearchTreeView::preview(std::int32_t vertex) {
  overview_->set_current(vertex);
  if (!model_.tree() || vertex < 0) return;
  QStringList decisions;
  std::vector<GroupId> groups;
  for (std::int32_t v = vertex; v > 0;
       v = model_.tree()->vertices[static_cast<std::size_t>(v)].parent) {
    decisions.prepend(model_.action_text(v));
    const auto depth =
        static_cast<std::size_t>(model_.tree()->vertices[static_cast<std::size_t>(v)].depth - 1);
    if (depth < model_.tree()->order.size()) groups.push_back(model_.tree()->order[depth]);
  }
  const auto hidden = decisions.size() - kMostPreviewed;
  if (hidden > 0) {
    decisions = decisions.mid(0, kMostPreviewed);
    decisions << tr("and %1 more").arg(hidden);
  }
  const SearchTree::Vertex& v = model_.tree()->vertices[static_cast<std::size_t>(vertex)];
  QString text = decisions.isEmpty() ? tr("Nothing is decided here yet.")
                                     : decisions.join(QStringLiteral(" · "));
  if (v.step_time_ns > 0 && v.reward > -1)
    text += tr("  =  %1").arg(style::time(Nanos(v.step_time_ns)));
  preview_->setText(text);
  preview_->setVisible(true);
  if (!groups.empty() && groups.front().index() < session_.snapshot().strategy.groups.size()) {
    session_.selection().select_group(groups.front());  // the last decided
  }
}

void SearchTreeView::open(std::int32_t vertex) {
  const auto& problem = session_.snapshot().problem;
  if (!model_.tree() || !problem || vertex < 0) return;
  const Strategy partial = model_.tree()->strategy_at(vertex, problem->grouping->size());
  session_.show_found(complete(partial, *problem->cluster),
                      tr("search tree, depth %1")
                          .arg(model_.tree()->vertices[static_cast<std::size_t>(vertex)].depth));
}

}  // namespace strato
