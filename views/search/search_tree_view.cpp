#include "views/search/search_tree_view.h"

#include <QAction>
#include <QHeaderView>
#include <QLabel>
#include <QMenu>
#include <QSplitter>
#include <QStackedWidget>
#include <QTreeView>
#include <QVBoxLayout>
#include <algorithm>

#include "core/base/error.h"
#include "core/search/constraints/bound_constraints.h"
#include "core/search/tree/search_tree.h"
#include "views/models/strategy_edits.h"
#include "views/search/icicle_widget.h"
#include "views/search/puct_table.h"
#include "views/search/replay_panel.h"
#include "views/search/search_tree_delegate.h"
#include "views/search/steer_bar.h"
#include "views/search/step_story.h"
#include "views/style/style.h"

namespace strato {
namespace {

constexpr int kMostPreviewed = 6;  // decisions told in the line below
constexpr int kTallReplay = 520;   // px: the overview and the table of the choice above each other

QLabel* make_line(QWidget* parent) {
  auto* label = new QLabel(parent);
  label->setContentsMargins(2 * style::kGrid, style::kGrid, 2 * style::kGrid, style::kGrid);
  label->setWordWrap(true);
  label->hide();
  return label;
}

// Options that another planner has do not matter here.
TreeSearchOptions options_of(const PlannerOptions& options) {
  try {
    return TreeSearchOptions::from(options);
  } catch (const InputError&) {
    return {};
  }
}

}  // namespace

SearchTreeView::SearchTreeView(Session& session, QWidget* parent)
    : QWidget(parent),
      session_(session),
      bar_(new SteerBar(session, model_, *this)),
      pages_(new QStackedWidget(this)),
      splitter_(new QSplitter(Qt::Horizontal, this)),
      beside_(new QSplitter(Qt::Vertical, this)),
      view_(new QTreeView(this)),
      overview_(new IcicleWidget(model_, this)),
      puct_(new PuctTable(model_, this)),
      replay_(new ReplayPanel(this)),
      empty_(new QLabel(this)),
      preview_(make_line(this)),
      note_(make_line(this)) {
  build_tree();
  build_layout();
  connect_parts();
  update_tree();
}

void SearchTreeView::build_tree() {
  view_->setModel(&model_);
  view_->setItemDelegate(new SearchTreeDelegate(model_, view_));
  view_->setUniformRowHeights(true);
  view_->setFrameShape(QFrame::NoFrame);
  view_->setAccessibleName(tr("Search tree"));
  view_->setTextElideMode(Qt::ElideRight);
  view_->setExpandsOnDoubleClick(false);
  view_->setContextMenuPolicy(Qt::CustomContextMenu);
  view_->setIndentation(2 * style::kGrid + 2);
  QHeaderView* header = view_->header();
  header->setStretchLastSection(false);
  header->setMinimumSectionSize(40);
  header->setSectionResizeMode(SearchTreeModel::Action, QHeaderView::Stretch);
  for (int c = SearchTreeModel::Visits; c < SearchTreeModel::ColumnCount; ++c) {
    header->resizeSection(c, c == SearchTreeModel::StepTime ? 72 : 54);
  }
  header->resizeSection(SearchTreeModel::Group, 104);
}

void SearchTreeView::build_layout() {
  beside_->addWidget(overview_);
  beside_->addWidget(puct_);
  beside_->setChildrenCollapsible(false);
  puct_->hide();
  splitter_->addWidget(view_);
  splitter_->addWidget(beside_);
  splitter_->setStretchFactor(0, 5);
  splitter_->setStretchFactor(1, 2);
  splitter_->setSizes({700, 280});
  splitter_->setChildrenCollapsible(false);
  empty_->setAlignment(Qt::AlignCenter);
  empty_->setWordWrap(true);
  empty_->setContentsMargins(24, 24, 24, 24);
  empty_->setForegroundRole(QPalette::PlaceholderText);
  pages_->addWidget(empty_);
  pages_->addWidget(splitter_);
  preview_->setTextFormat(Qt::PlainText);
  note_->setTextFormat(Qt::RichText);
  replay_->hide();
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(bar_);
  column->addWidget(note_);
  column->addWidget(pages_, 1);
  column->addWidget(preview_);
  column->addWidget(replay_);
  setFocusProxy(view_);
}

void SearchTreeView::connect_parts() {
  // Not the current row: a tree that gets the keys has one that nobody chose.
  connect(view_->selectionModel(), &QItemSelectionModel::selectionChanged, this,
          [this](const QItemSelection& now) {
            if (!now.isEmpty()) preview(model_.vertex_at(now.indexes().front()));
          });
  connect(view_, &QTreeView::activated, this,
          [this](const QModelIndex& index) { open(model_.vertex_at(index)); });
  connect(view_, &QTreeView::doubleClicked, this,
          [this](const QModelIndex& index) { open(model_.vertex_at(index)); });
  connect(view_, &QWidget::customContextMenuRequested, this, &SearchTreeView::context_menu);
  connect(overview_, &IcicleWidget::vertex_clicked, this, &SearchTreeView::choose);
  connect(overview_, &IcicleWidget::vertex_opened, this, &SearchTreeView::open);
  connect(overview_, &IcicleWidget::cursor_info, this, &SearchTreeView::cursor_info);
  connect(bar_->replay_action(), &QAction::toggled, this, &SearchTreeView::replay);
  connect(replay_, &ReplayPanel::close_wanted, this,
          [this] { bar_->replay_action()->setChecked(false); });
  connect(replay_, &ReplayPanel::stepped, this, &SearchTreeView::show_step);
  connect(&session_, &Session::tree_changed, this, &SearchTreeView::update_tree);
  connect(&session_, &Session::problem_changed, this, &SearchTreeView::update_tree);
  connect(&session_, &Session::search_changed, this, [this] {
    if (!model_.tree()) update_tree();
  });
  connect(&session_, &Session::compared_changed, this, &SearchTreeView::update_comparison);
}

void SearchTreeView::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  update_columns();
}

void SearchTreeView::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  if (std::exchange(stale_, false)) update_tree();
}

// The decision needs its room: columns that are not needed now make it.
void SearchTreeView::update_columns() {
  const bool compares = model_.compares(), wide = width() >= 720;
  splitter_->setOrientation(wide ? Qt::Horizontal : Qt::Vertical);
  beside_->setOrientation(wide ? Qt::Vertical : Qt::Horizontal);
  // In a small replay the rows tell N and Q, and the table of the choice gets the overview's place.
  const bool replays = replay_->active();
  overview_->setVisible(!replays || (wide && height() >= kTallReplay));
  view_->setColumnHidden(SearchTreeModel::Prior, width() < 900 || compares);
  view_->setColumnHidden(SearchTreeModel::StepTime,
                         width() < 1000 && (compares || (replays && wide)));
  view_->setColumnHidden(SearchTreeModel::OtherVisits, !compares);
  view_->setColumnHidden(SearchTreeModel::OtherValue, !compares);
}

void SearchTreeView::update_tree() {
  if (replay_->active() && session_.tree() && model_.problem() == session_.snapshot().opened) {
    bar_->refresh();
    return;  // a replay shows the tree that it began with
  }
  if (!isVisible() && session_.search().state != SearchPhase::Idle) {
    stale_ = true;
    return;
  }
  if (session_.compared()) return update_comparison();
  const auto& problem = session_.snapshot().opened;
  show_tree(problem ? session_.tree() : nullptr, problem);
}

void SearchTreeView::show_tree(std::shared_ptr<const SearchTree> tree,
                               std::shared_ptr<const Problem> problem) {
  if (replay_->active()) bar_->replay_action()->setChecked(false);
  const bool had_tree = model_.tree() != nullptr;
  model_.show(std::move(tree), std::move(problem));
  overview_->tree_changed();
  pages_->setCurrentIndex(model_.tree() ? 1 : 0);
  bar_->setVisible(model_.tree() != nullptr);
  if (model_.tree()) {
    if (!had_tree || !view_->isExpanded(model_.index(0, 0))) expand_best_path();
    const QModelIndex chosen = view_->selectionModel()->selectedRows().value(0);
    bar_->set_current(model_.vertex_at(chosen));
    overview_->set_current(chosen.isValid() ? model_.vertex_at(chosen) : -1);
  } else {
    preview_->hide();
    empty_->setText(session_.search().tree_error.isEmpty()
                        ? tr("No search yet.\nPress Search (F5): the ways that it tried, and how "
                             "good they were, appear here.")
                        : tr("The tree of %1 cannot be shown.\n%2")
                              .arg(session_.search().run, session_.search().tree_error));
  }
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
  bar_->set_current(vertex);
  if (replay_->active()) show_choice(vertex);
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
  if (hidden > 0) {  // the last ones are what this vertex is about
    decisions = decisions.mid(hidden);
    decisions.prepend(tr("%1 above").arg(hidden));
  }
  const SearchTree::Vertex& v = model_.tree()->vertices[static_cast<std::size_t>(vertex)];
  QString text = decisions.isEmpty() ? tr("Nothing is decided here yet.")
                                     : decisions.join(QStringLiteral(" · "));
  if (v.step_time_ns > 0 && v.reward > -1)
    text += tr("  =  %1").arg(style::time(Nanos(v.step_time_ns)));
  preview_->setText(text);
  preview_->setVisible(!replay_->active());
  const Snapshot& shown = session_.snapshot();
  if (!groups.empty() && shown.opened && groups.front().index() < shown.opened->grouping->size()) {
    session_.selection().select_groups(groups_with_ops_of(  // the last decided
        std::span(groups).first(1), *shown.opened->grouping, *shown.problem->grouping));
  }
}

void SearchTreeView::open(std::int32_t vertex) {
  const auto& problem = session_.snapshot().opened;
  if (!model_.tree() || !problem || vertex < 0) return;
  const Strategy partial = model_.tree()->strategy_at(vertex, problem->grouping->size());
  Strategy found = complete(partial, *problem->cluster);
  try {  // as it was scored
    const auto constraints =
        bind_constraints(session_.search_options().constraints.get(), *problem);
    if (constraints) found = constraints->repaired(found);
  } catch (const InputError&) {  // of another problem: nobody kept to them
  }
  session_.show_found(found,
                      tr("search tree, depth %1")
                          .arg(model_.tree()->vertices[static_cast<std::size_t>(vertex)].depth));
}

void SearchTreeView::context_menu(const QPoint& position) {
  const QModelIndex index = view_->indexAt(position);
  if (!index.isValid()) return;
  const std::int32_t vertex = model_.vertex_at(index);
  QMenu menu(this);
  menu.addAction(tr("Show this strategy"), this, [this, vertex] { open(vertex); });
  menu.addSeparator();
  bar_->fill(menu);
  menu.exec(view_->viewport()->mapToGlobal(position));
}

// --- replay

void SearchTreeView::replay(bool on) {
  if (on == replay_->active()) return;
  if (on && !model_.tree()) return bar_->replay_action()->setChecked(false);
  if (on && model_.compares()) session_.stop_comparing();
  puct_->setVisible(on);
  replay_->setVisible(on);
  if (on) {
    preview_->hide();
    sizes_before_replay_ = splitter_->sizes();
    if (splitter_->orientation() == Qt::Horizontal) splitter_->setSizes({width() - 370, 370});
    options_ = options_of(session_.search_options());
    replay_->begin(model_.tree());
    replay_->setFocus();
    update_columns();
    return;
  }
  replay_->end();
  opened_by_step_.clear();
  model_.show_moment(nullptr);
  update_columns();
  splitter_->setSizes(sizes_before_replay_);
  view_->setFocus();
  update_tree();  // what came meanwhile
}

void SearchTreeView::show_step() {
  const TreeReplay &before = replay_->before(), &after = replay_->after();
  const bool told = after.steps() > 0;
  model_.show_moment(told ? &after : nullptr);
  puct_->setVisible(told);
  const std::vector<std::int32_t> path = after.path();
  open_step_path(path);
  overview_->moment_changed();
  if (!told) {
    replay_->tell(
        tr("This tree was stored without its history: continue or repeat the search to "
           "watch it."));
  } else {
    replay_->tell(step_story(before, after, model_, options_));
  }
  show_choice(path.size() > 1 ? path[path.size() - 2] : 0);
}

// What selection compared at a vertex when this step began.
void SearchTreeView::show_choice(std::int32_t vertex) {
  const std::vector<std::int32_t> path = replay_->after().path();
  const auto on_path = std::ranges::find(path, vertex);
  const bool went_on = on_path != path.end() && on_path + 1 != path.end();
  puct_->show_choice(replay_->before(), vertex, went_on ? on_path[1] : -1, options_);
}

// Opens the way to the step's vertex, and closes what only the last steps have opened.
void SearchTreeView::open_step_path(const std::vector<std::int32_t>& path) {
  std::vector<QPersistentModelIndex> opened;
  for (std::size_t i = 1; i + 1 < path.size(); ++i) {
    const QModelIndex index = model_.index_of(path[i]);
    const bool by_step =
        std::ranges::find(opened_by_step_, QPersistentModelIndex(index)) != opened_by_step_.end();
    if (view_->isExpanded(index) && !by_step) continue;
    view_->expand(index);
    opened.emplace_back(index);
  }
  for (auto old = opened_by_step_.rbegin(); old != opened_by_step_.rend(); ++old) {
    if (std::ranges::find(opened, *old) == opened.end()) view_->collapse(*old);
  }
  opened_by_step_ = std::move(opened);
  if (path.size() > 1) {
    view_->scrollTo(model_.index_of(path.back()), QAbstractItemView::PositionAtCenter);
  }
}

// --- comparison

void SearchTreeView::update_comparison() {
  const auto& compared = session_.compared();
  if (!compared || !session_.tree()) {
    const bool compared_before = model_.compares();
    model_.compare(nullptr);
    note_->hide();
    update_columns();
    if (compared_before) update_tree();
    return;
  }
  if (replay_->active()) bar_->replay_action()->setChecked(false);
  model_.show(session_.tree(), session_.snapshot().opened);
  model_.compare(std::make_shared<const TreePair>(pair_trees(*session_.tree(), *compared->tree)));
  overview_->tree_changed();
  for (const std::int32_t vertex : model_.pair()->best) view_->expand(model_.index_of(vertex));
  for (const std::int32_t vertex : model_.pair()->other_best)
    view_->expand(model_.index_of(vertex));
  note_->setText(comparison_text());
  note_->show();
  update_columns();
  if (model_.pair()->parts > 0) choose(model_.pair()->parts);
}

// Whose columns these are, and where the best paths part.
QString SearchTreeView::comparison_text() const {
  const TreePair& pair = *model_.pair();
  const auto place = [&](const std::vector<std::int32_t>& path) {
    const auto at = std::ranges::find(path, pair.parts);
    const bool goes_on = at != path.end() && at + 1 != path.end();
    return goes_on ? QStringLiteral("<b>%1</b>").arg(model_.choice_text(at[1]).toHtmlEscaped())
                   : tr("nothing more");
  };
  const QString here = session_.search().run.toHtmlEscaped(),
                there = session_.compared()->name.toHtmlEscaped();
  QString text = tr("Visits and Value: %1 · with ′: %2. ").arg(here, there);
  const auto depth =
      static_cast<std::size_t>(model_.tree()->vertices[static_cast<std::size_t>(pair.parts)].depth);
  const bool same = pair.best == pair.other_best;
  if (same) {
    text += tr("Both best paths are the same.");
  } else if (depth < model_.tree()->order.size()) {
    text += tr("The best paths part at decision %1, %2: %3 takes %4, %5 takes %6.")
                .arg(depth + 1)
                .arg(model_.name_of_group(model_.tree()->order[depth]).toHtmlEscaped(), here,
                     place(pair.best), there, place(pair.other_best));
  }
  if (pair.differs_from_depth >= 0) {
    text += tr(" From decision %1 on they decide groups in another order.")
                .arg(pair.differs_from_depth + 1);
  }
  return text;
}

}  // namespace strato
