#include "views/launch/history_page.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QShortcut>
#include <QSortFilterProxyModel>
#include <QStackedWidget>
#include <QTableView>
#include <QVBoxLayout>

#include "views/style/list_table.h"
#include "views/style/style.h"
#include "views/style/text.h"

namespace strato {

HistoryPage::HistoryPage(Session& session, LaunchModel& model, QWidget* parent)
    : QWidget(parent),
      session_(session),
      model_(model),
      launches_(new StoredLaunchesModel(session, this)),
      sorted_(new QSortFilterProxyModel(this)),
      pages_(new QStackedWidget(this)),
      hint_(new QLabel(this)),
      note_(new QLabel(this)),
      table_(new QTableView(this)),
      follow_(new QPushButton(tr("&Follow Again"), this)),
      remove_(new QPushButton(tr("&Delete"), this)) {
  hint_->setAlignment(Qt::AlignCenter);
  hint_->setWordWrap(true);
  hint_->setMargin(6 * style::kGrid);
  pages_->addWidget(hint_);
  pages_->addWidget(build_list());
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->addWidget(pages_);
  connect(launches_, &QAbstractItemModel::modelReset, this, &HistoryPage::refresh);
  connect(&session_, &Session::workspace_changed, this, &HistoryPage::refresh);
  connect(table_, &QTableView::clicked, this, &HistoryPage::show_chosen);
  connect(table_, &QTableView::activated, this, &HistoryPage::show_chosen);
  connect(table_->selectionModel(), &QItemSelectionModel::selectionChanged, this,
          &HistoryPage::refresh);
  connect(follow_, &QPushButton::clicked, this, &HistoryPage::follow);
  connect(remove_, &QPushButton::clicked, this, &HistoryPage::remove_chosen);
  connect(new QShortcut(QKeySequence::Delete, table_, nullptr, nullptr, Qt::WidgetShortcut),
          &QShortcut::activated, this, &HistoryPage::remove_chosen);
  tint();
  refresh();
}

QWidget* HistoryPage::build_list() {
  sorted_->setSourceModel(launches_);
  sorted_->setSortRole(StoredLaunchesModel::SortRole);
  table_->setModel(sorted_);
  table_->setSortingEnabled(true);
  QHeaderView* header = table_->horizontalHeader();
  header->setSortIndicatorClearable(true);
  header->setSortIndicator(-1, Qt::AscendingOrder);
  header->setSectionResizeMode(StoredLaunchesModel::Plan, QHeaderView::Stretch);
  const int digit = fontMetrics().horizontalAdvance(QLatin1Char('0'));
  for (int column = 0; column < StoredLaunchesModel::ColumnCount; ++column)
    table_->setColumnWidth(column, (column == StoredLaunchesModel::When ? 19 : 12) * digit);
  style::as_list(*table_);
  table_->setTextElideMode(Qt::ElideMiddle);
  table_->setTabKeyNavigation(false);
  table_->setAccessibleName(tr("Launches of the workspace"));
  follow_->setToolTip(tr("Reads what the job has done meanwhile, and follows it to its end"));
  remove_->setToolTip(
      tr("From the workspace; undo brings it back. What it took is lost without it"));
  note_->setTextFormat(Qt::PlainText);
  note_->setWordWrap(true);
  auto* row = new QHBoxLayout;
  row->setContentsMargins(2 * style::kGrid, style::kGrid, 2 * style::kGrid, 0);
  row->setSpacing(2 * style::kGrid);
  row->addWidget(note_, 1);
  row->addWidget(follow_);
  row->addWidget(remove_);
  auto* filled = new QWidget(this);
  auto* column = new QVBoxLayout(filled);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(style::kGrid);
  column->addLayout(row);
  column->addWidget(table_, 1);
  return filled;
}

int HistoryPage::chosen() const {
  const QModelIndexList rows = table_->selectionModel()->selectedRows();
  return rows.isEmpty() ? -1 : sorted_->mapToSource(rows.front()).row();
}

void HistoryPage::show_chosen() {
  if (const int row = chosen(); row >= 0) model_.show_stored(launches_->launch(row).id);
}

// The one that is chosen, else the latest that was left running.
void HistoryPage::follow() {
  int row = chosen();
  if (row < 0 || launches_->launch(row).state != LaunchState::Running)
    row = launches_->left_running();
  if (row >= 0) model_.follow_stored(launches_->launch(row).id);
}

void HistoryPage::remove_chosen() {
  const int row = chosen();
  if (row < 0 || !remove_->isEnabled()) return;
  const QString plan = launches_->plan(row);
  session_.remove_launch(launches_->launch(row).id);
  emit session_.message(tr("The launch of %1 is deleted; undo brings it back").arg(plan));
}

void HistoryPage::refresh() {
  hint_->setText(session_.workspace()
                     ? tr("Launches are kept here, with what they took.\nLaunch starts the first "
                          "of this workspace.")
                     : tr("Open a workspace: it keeps launches, with what they took."));
  pages_->setCurrentIndex(launches_->rowCount() > 0 ? 1 : 0);
  const int left = launches_->left_running();
  const bool free = left >= 0 && !model_.running();
  follow_->setVisible(free);
  note_->setText(free ? tr("%1 of %2 was left running: it may have ended by now.")
                            .arg(text(launches_->launch(left).job), launches_->plan(left))
                      : tr("A click shows a launch again, in all views."));
  const int row = chosen();
  remove_->setEnabled(row >= 0 &&
                      !(model_.running() && model_.stored_row() == launches_->launch(row).id));
}

void HistoryPage::tint() {
  QPalette quiet = palette();
  quiet.setColor(QPalette::WindowText, style::muted_text(quiet));
  for (QLabel* label : {hint_, note_}) label->setPalette(quiet);
}

void HistoryPage::changeEvent(QEvent* event) {
  if (event->type() == QEvent::PaletteChange) tint();
  QWidget::changeEvent(event);
}

}  // namespace strato
