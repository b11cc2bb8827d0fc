#include "views/compare/plans_page.h"

#include <QComboBox>
#include <QEvent>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QItemSelectionModel>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QSplitter>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "views/compare/change_delegate.h"
#include "views/compare/change_table.h"
#include "views/style/list_table.h"
#include "views/style/style.h"
#include "views/style/text.h"

namespace strato {

PlansPage::PlansPage(Session& session, SecondPlan& offers, QWidget* parent)
    : QWidget(parent), session_(session), offers_(&offers), plans_(session) {
  auto* splitter = new QSplitter(Qt::Vertical, this);
  splitter->setChildrenCollapsible(false);
  table_ = build_table(plan_table_, plan_filter_, tr("Plans side by side"));
  table_->setSelectionMode(QAbstractItemView::ExtendedSelection);
  rows_view_ = build_table(row_table_, row_filter_, tr("What the plans decide"));
  plan_filter_->show_all(true);
  splitter->addWidget(table_);
  splitter->addWidget(rows_view_);
  splitter->setStretchFactor(0, 1);
  splitter->setStretchFactor(1, 2);
  note_ = new QLabel(this);
  note_->setWordWrap(true);
  note_->setTextFormat(Qt::PlainText);
  note_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  note_->setContentsMargins(3 * style::kGrid, 0, 3 * style::kGrid, style::kGrid);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(build_bar());
  column->addWidget(note_);
  column->addWidget(splitter, 1);
  connect(&plans_, &PlanSet::changed, this, &PlansPage::refresh);
  connect(table_->selectionModel(), &QItemSelectionModel::selectionChanged, this,
          &PlansPage::refresh_buttons);
  connect(table_, &QTableView::activated, this, &PlansPage::compare);
  connect(rows_view_, &QTableView::clicked, this, &PlansPage::select_row);
  connect(rows_view_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
          &PlansPage::select_row);
  refresh();
}

QWidget* PlansPage::build_bar() {
  auto* bar = new QWidget(this);
  add_menu_ = new QMenu(bar);
  connect(add_menu_, &QMenu::aboutToShow, this, &PlansPage::fill_menu);
  add_ = new QToolButton(bar);
  add_->setText(tr("&Add a Plan"));
  add_->setShortcut(QKeySequence(tr("Alt+A")));
  add_->setPopupMode(QToolButton::InstantPopup);
  add_->setMenu(add_menu_);
  remove_ = new QPushButton(tr("Re&move"), bar);
  remove_->setToolTip(tr("Takes the selected plans out of these tables, and out of nothing else"));
  compare_ = new QPushButton(tr("Step T&ime"), bar);
  compare_->setToolTip(
      tr("What makes the difference between the two selected plans, or between the "
         "selected one and the plan that is shown"));
  what_ = new QComboBox(bar);
  what_->addItems({tr("Op groups"), tr("Variables")});
  what_->setAccessibleName(tr("What is compared"));
  auto* row = new QHBoxLayout(bar);
  row->setContentsMargins(3 * style::kGrid, style::kGrid, 3 * style::kGrid, style::kGrid);
  row->setSpacing(2 * style::kGrid);
  for (QWidget* widget : std::initializer_list<QWidget*>{add_, remove_, compare_})
    row->addWidget(widget);
  row->addStretch();
  row->addWidget(what_);
  connect(remove_, &QPushButton::clicked, this, &PlansPage::remove);
  connect(compare_, &QPushButton::clicked, this, &PlansPage::compare);
  connect(what_, &QComboBox::currentIndexChanged, this, &PlansPage::show_rows);
  return bar;
}

QTableView* PlansPage::build_table(ChangeTable*& table, ChangeFilter*& filter,
                                   const QString& name) {
  table = new ChangeTable(this);
  filter = new ChangeFilter(this);
  filter->setSourceModel(table);
  auto* view = new QTableView(this);
  view->setModel(filter);
  style::as_list(*view);
  view->setItemDelegate(new ChangeDelegate(view));
  view->setAccessibleName(name);
  view->setSortingEnabled(true);
  view->sortByColumn(-1, Qt::DescendingOrder);
  view->setTextElideMode(Qt::ElideRight);
  return view;
}

// What can be chosen is looked up when the menu is opened.
void PlansPage::fill_menu() {
  add_menu_->clear();
  QString section;
  if (offers_) {
    for (const SecondPlan::Offer& offer : offers_->offers()) {
      if (offer.section != section) add_menu_->addSection(section = offer.section);
      QAction* action = add_menu_->addAction(offer.text);
      action->setEnabled(plans_.find(offer.choice) == nullptr);
      connect(action, &QAction::triggered, this,
              [this, choice = offer.choice] { plans_.add(choice, offers_); });
    }
  }
  add_menu_->addSeparator();
  connect(add_menu_->addAction(tr("Plan File…")), &QAction::triggered, this,
          &PlansPage::file_wanted);
}

void PlansPage::show_all(bool all) { row_filter_->show_all(all); }

void PlansPage::refresh() {
  if (shown_ != plans_.shown()) {
    shown_ = plans_.shown();
    plan_table_->show(plan_rows(shown_ ? shown_->matrix : PlanMatrix()));
    QHeaderView* header = table_->horizontalHeader();
    for (int column = 0; column < plan_filter_->columnCount(); ++column)
      header->setSectionResizeMode(
          column, column == 0 ? QHeaderView::Stretch : QHeaderView::ResizeToContents);
    const bool same_model = !shown_ || shown_->matrix.same_model;
    const bool same_cluster = !shown_ || shown_->matrix.same_cluster;
    table_->setColumnHidden(7, same_model);
    table_->setColumnHidden(8, same_cluster);
    const bool priced =
        shown_ && std::ranges::any_of(shown_->matrix.plans, [](const MatrixPlan& plan) {
          return plan.price.has_value();
        });
    table_->setColumnHidden(6, !priced);
    show_rows();
  }
  QStringList lines = plans_.problems();
  QPalette colours = palette();
  colours.setColor(QPalette::WindowText, lines.isEmpty()
                                             ? style::muted_text(palette())
                                             : style::infeasible(style::is_dark(palette())));
  if (lines.isEmpty() && plans_.members().empty())
    lines << tr(
        "Add plans to see them beside the one that is shown: data parallelism, runs, "
        "strategies, plan files.");
  note_->setPalette(colours);
  note_->setText(lines.join(QLatin1Char('\n')));
  note_->setVisible(!lines.isEmpty());
  refresh_buttons();
}

void PlansPage::show_rows() {
  const PlanMatrix none;
  const PlanMatrix& matrix = shown_ ? shown_->matrix : none;
  const bool groups = what_->currentIndex() == 0;
  row_table_->show(matrix_rows(matrix, groups ? matrix.groups : matrix.variables));
  QHeaderView* header = rows_view_->horizontalHeader();
  header->setSectionResizeMode(QHeaderView::Stretch);
}

std::vector<std::size_t> PlansPage::selected() const {
  QModelIndexList rows = table_->selectionModel()->selectedRows();
  std::ranges::sort(rows, {}, [](const QModelIndex& index) { return index.row(); });
  std::vector<std::size_t> plans;
  for (const QModelIndex& row : rows)
    plans.push_back(static_cast<std::size_t>(plan_filter_->mapToSource(row).row()));
  return plans;
}

std::optional<SecondChoice> PlansPage::choice_of(std::size_t plan) const {
  if (!shown_ || plan >= shown_->choices.size()) return std::nullopt;
  return shown_->choices[plan];
}

void PlansPage::refresh_buttons() {
  const std::vector<std::size_t> plans = selected();
  add_->setEnabled(session_.snapshot().problem && plans_.members().size() < PlanSet::kMost);
  compare_->setEnabled(plans.size() == 2 || (plans.size() == 1 && choice_of(plans[0])));
  remove_->setEnabled(
      std::ranges::any_of(plans, [&](std::size_t plan) { return choice_of(plan).has_value(); }));
}

// The waterfall's first plan is never the one shown: that is what others are compared with.
void PlansPage::compare() {
  std::vector<std::size_t> plans = selected();
  if (plans.empty() || plans.size() > 2) return;
  std::optional<SecondChoice> from = choice_of(plans.front()), to;
  if (plans.size() == 2) to = choice_of(plans.back());
  if (!from) std::swap(from, to);
  if (from) emit pair_chosen(from, to);
}

void PlansPage::remove() {
  std::vector<SecondChoice> gone;
  for (const std::size_t plan : selected())
    if (const auto choice = choice_of(plan)) gone.push_back(*choice);
  for (const SecondChoice& choice : gone) plans_.remove(choice);
}

void PlansPage::select_row(const QModelIndex& index) {
  if (!index.isValid() || !plans_.has_ids_of_session()) return;
  const ChangeRow& row = row_table_->at(row_filter_->mapToSource(index).row());
  if (row.group.valid()) {
    session_.selection().select_group(row.group);
  } else if (row.op.valid()) {
    session_.selection().select_op(row.op, session_.snapshot().problem->grouping->group_of(row.op));
  }
}

void PlansPage::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  plans_.set_active(true);
}

void PlansPage::hideEvent(QHideEvent* event) {
  plans_.set_active(false);
  QWidget::hideEvent(event);
}

void PlansPage::changeEvent(QEvent* event) {
  if (event->type() == QEvent::PaletteChange) refresh();
  QWidget::changeEvent(event);
}

}  // namespace strato
