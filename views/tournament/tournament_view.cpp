#include "views/tournament/tournament_view.h"

#include <QCheckBox>
#include <QComboBox>
#include <QEvent>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QSortFilterProxyModel>
#include <QStackedWidget>
#include <QTableView>
#include <QVBoxLayout>
#include <algorithm>

#include "views/models/budget.h"
#include "views/models/run_words.h"
#include "views/style/fitting_name.h"
#include "views/style/list_table.h"
#include "views/style/style.h"
#include "views/tournament/tournament_delegate.h"

namespace strato {
namespace {

QLabel* make_label(QWidget* parent) {
  auto* label = new QLabel(parent);
  label->setTextFormat(Qt::PlainText);
  return label;
}

// In digits; a column that comes later in kSpare goes first when there is no room.
int width_in_digits(int column) {
  switch (column) {
    case TournamentModel::Rank:
      return 4;
    case TournamentModel::PlannerName:
      return 21;
    case TournamentModel::Speedup:
      return 23;
    case TournamentModel::AboveBound:
    case TournamentModel::Evaluations:
      return 13;
    case TournamentModel::Note:
      return 12;
    default:
      return 11;
  }
}
constexpr int kSpare[] = {TournamentModel::TimeToBest, TournamentModel::Evaluations,
                          TournamentModel::Took, TournamentModel::AboveBound};

}  // namespace

TournamentView::TournamentView(Session& session, QWidget* parent)
    : TournamentView(
          session, session.plugins().list(PluginKind::Planner),
          [&session](std::string_view name) { return session.plugins().planner(name); }, parent) {}

TournamentView::TournamentView(Session& session, const std::vector<PluginInfo>& planners,
                               PlannerFactory make, QWidget* parent)
    : QWidget(parent),
      session_(session),
      model_(new TournamentModel(session, planners, std::move(make), this)),
      proxy_(new QSortFilterProxyModel(this)),
      planners_(new PlannerMenu(planners, this)),
      budget_(new QComboBox(this)),
      floor_(new QCheckBox(this)),
      run_(new QPushButton(this)),
      progress_(new QProgressBar(this)),
      status_(make_label(this)),
      legend_(make_label(this)),
      words_(make_label(this)),
      hint_(make_label(this)),
      pages_(new QStackedWidget(this)),
      table_(new QTableView(this)),
      delegate_(new TournamentDelegate(*model_, this)) {
  build();
  connect(planners_, &PlannerMenu::chosen_changed, this, &TournamentView::refresh);
  connect(run_, &QPushButton::clicked, this, &TournamentView::run_or_stop);
  connect(model_, &TournamentModel::changed, this, &TournamentView::refresh);
  connect(model_, &TournamentModel::ticked, this, [this] { status_->setText(status_text()); });
  connect(model_, &QAbstractItemModel::dataChanged, this, &TournamentView::refresh_words);
  connect(&session_, &Session::problem_changed, this, &TournamentView::refresh);
  connect(&session_, &Session::strategy_changed, this, &TournamentView::mark_shown);
  connect(table_->selectionModel(), &QItemSelectionModel::selectionChanged, this,
          &TournamentView::show_current);
  connect(table_, &QTableView::activated, this, &TournamentView::keep);
  refresh();
}

QWidget* TournamentView::build_bar() {
  budget_->setEditable(true);
  budget_->setInsertPolicy(QComboBox::NoInsert);
  budget_->addItems({QStringLiteral("200 iterations"), QStringLiteral("800 iterations"),
                     QStringLiteral("5 s"), QStringLiteral("30 s"), QStringLiteral("2 min")});
  budget_->setCurrentIndex(0);
  budget_->setToolTip(tr("For each planner that searches: iterations or time"));
  budget_->setFixedWidth(fontMetrics().horizontalAdvance(QStringLiteral("000 iterations")) + 44);
  floor_->setText(tr("Own results"));
  floor_->setToolTip(
      tr("What each planner finds by itself, even where plain data parallelism is "
         "better; otherwise nobody returns worse than the simple baselines"));
  progress_->setTextVisible(false);
  progress_->setFixedWidth(120);
  progress_->setMaximumHeight(fontMetrics().height() - 2);
  auto* bar = new QWidget(this);
  auto* row = new QHBoxLayout(bar);
  row->setContentsMargins(2 * style::kGrid, style::kGrid, 2 * style::kGrid, style::kGrid);
  row->setSpacing(2 * style::kGrid);
  for (QWidget* widget : std::initializer_list<QWidget*>{planners_, budget_, floor_, run_})
    row->addWidget(widget);
  row->addWidget(progress_);
  row->addWidget(status_, 1);
  return bar;
}

void TournamentView::build_table() {
  proxy_->setSourceModel(model_);
  proxy_->setSortRole(TournamentModel::SortRole);
  table_->setModel(proxy_);
  table_->setItemDelegate(delegate_);
  table_->setSortingEnabled(true);
  QHeaderView* header = table_->horizontalHeader();
  header->setSortIndicatorClearable(true);
  header->setSortIndicator(-1, Qt::AscendingOrder);
  header->setStretchLastSection(true);
  header->setMinimumSectionSize(24);
  style::as_list(*table_);
  table_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  table_->setTextElideMode(Qt::ElideRight);
  table_->setAccessibleName(tr("Tournament of planners"));
  tint();
}

QWidget* TournamentView::build_empty_page() {
  auto* page = new QWidget(this);
  auto* column = new QVBoxLayout(page);
  hint_->setAlignment(Qt::AlignCenter);
  hint_->setWordWrap(true);
  column->addStretch(1);
  column->addWidget(hint_);
  column->addStretch(2);
  return page;
}

void TournamentView::build() {
  build_table();
  words_->setWordWrap(true);
  words_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  words_->setAlignment(Qt::AlignLeft | Qt::AlignTop);
  words_->setFixedHeight(2 * fontMetrics().lineSpacing());
  for (QLabel* label : {legend_, words_})
    label->setContentsMargins(2 * style::kGrid, 0, 2 * style::kGrid, 0);
  auto* filled = new QWidget(this);
  auto* rows = new QVBoxLayout(filled);
  rows->setContentsMargins(0, 0, 0, style::kGrid);
  rows->setSpacing(style::kGrid);
  rows->addWidget(legend_);
  rows->addWidget(table_, 1);
  rows->addWidget(words_);
  pages_->addWidget(build_empty_page());
  pages_->addWidget(filled);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(build_bar());
  column->addWidget(pages_, 1);
}

void TournamentView::set_budget(const QString& text) { budget_->setEditText(text); }

void TournamentView::run_or_stop() {
  if (model_->running()) return model_->stop();
  PlannerOptions options;
  if (!parse_budget(budget_->currentText(), options)) {
    emit session_.message(tr("Write the budget as \"800 iterations\", \"30 s\" or \"2 min\""));
    return budget_->setFocus();
  }
  options.floor = !floor_->isChecked();
  told_.clear();
  model_->run(planners_->chosen(), options);
  resize_columns();
}

QString TournamentView::status_text() const {
  const TournamentProgress progress = model_->progress();
  if (progress.cells == 0) return {};
  const QString counted = tr("%1 of %2").arg(progress.done).arg(progress.cells);
  const QString time = style::time(nanos_from_seconds(progress.elapsed_seconds));
  if (model_->stopping()) return tr("%1, stopping…").arg(counted);
  return QStringLiteral("%1, %2").arg(counted, time);
}

QString TournamentView::legend_text() const {
  const auto& marks = model_->marks();
  if (!marks) return tr("%1 on %2").arg(model_words(session_), session_.cluster_name());
  return tr("%1 on %2.  │ data parallel %3 (1×)   ┊ lower bound %4 (%5)")
      .arg(model_words(session_), session_.cluster_name(), style::time(marks->data_parallel),
           style::time(marks->lower_bound), style::factor(marks->bound_speedup));
}

void TournamentView::refresh() {
  const bool open = session_.snapshot().opened != nullptr, running = model_->running();
  const bool filled = model_->rowCount() > 0;
  run_->setText(running ? tr("Stop") : tr("Run"));
  run_->setToolTip(running ? tr("What runs ends with the best that it has")
                           : tr("The planners side by side, as many at a time as there are cores"));
  run_->setEnabled(running ? !model_->stopping() : open && !planners_->chosen().empty());
  for (QWidget* widget : std::initializer_list<QWidget*>{planners_, budget_, floor_})
    widget->setEnabled(!running);
  const TournamentProgress progress = model_->progress();
  progress_->setVisible(running);
  progress_->setRange(0, std::max(1, static_cast<int>(progress.cells)));
  progress_->setValue(static_cast<int>(progress.done));
  status_->setText(status_text());
  legend_->setText(legend_text());
  hint_->setText(!open ? tr("Open a model and a cluster: planners compete on them.")
                 : planners_->chosen().empty()
                     ? tr("Choose above which planners take part.")
                     : tr("Which planner is best here? Run compares the %1 chosen ones on %2 on "
                          "%3.\nA click on a row then shows its strategy in all views.")
                           .arg(planners_->chosen().size())
                           .arg(style::with_readable_words(model_words(session_)),
                                style::with_readable_words(session_.cluster_name())));
  pages_->setCurrentIndex(filled ? 1 : 0);
  mark_shown();
  refresh_words();
}

int TournamentView::current_row() const {
  const QModelIndexList rows = table_->selectionModel()->selectedRows();
  return rows.isEmpty() ? -1 : proxy_->mapToSource(rows.front()).row();
}

void TournamentView::refresh_words() {
  const int row = current_row();
  QString text = told_;
  if (text.isEmpty()) {
    text = row >= 0 ? model_->planner(row) + QStringLiteral(": ") + model_->words(row)
                    : tr("Click a row to see its strategy in all views; Enter or a double click "
                         "keeps it in the workspace");
  }
  words_->setText(  // two lines; the tip has all
      fontMetrics().elidedText(text, Qt::ElideRight, std::max(200, 2 * width() * 23 / 25)));
  words_->setToolTip(text);
}

// A person has chosen another row.
void TournamentView::show_current() {
  if (syncing_) return;
  told_.clear();
  if (const int row = current_row(); row >= 0) {
    syncing_ = true;
    model_->show(row);
    syncing_ = false;
  }
  refresh_words();
}

// The row whose strategy the window shows is the chosen one; when it shows another, none is. A row
// without a strategy stays chosen: its words are read.
void TournamentView::mark_shown() {
  if (syncing_) return;
  const int current = current_row();
  if (current >= 0 && model_->shows(current)) return;
  const int shown = model_->shown_row();
  if (shown < 0 && current >= 0 && model_->state(current) != TournamentModel::RowState::Done)
    return;
  syncing_ = true;
  if (shown >= 0) {
    table_->selectionModel()->setCurrentIndex(
        proxy_->mapFromSource(model_->index(shown, 0)),
        QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
  } else {
    table_->selectionModel()->clear();
  }
  syncing_ = false;
  refresh_words();
}

void TournamentView::keep(const QModelIndex& index) {
  if (!index.isValid()) return;
  model_->keep(proxy_->mapToSource(index).row(), [this](const QString& told) {
    told_ = told;
    refresh_words();
    emit session_.message(told);
  });
}

// The note gets what the others leave; where that is too little, figures that the line below the
// table has, too, make room.
void TournamentView::resize_columns() {
  const int digit = fontMetrics().horizontalAdvance(QLatin1Char('0'));
  int rest = table_->viewport()->width();
  for (int column = 0; column < TournamentModel::Note; ++column)
    rest -= width_in_digits(column) * digit;
  for (const int column : kSpare) {
    const bool hidden = rest < width_in_digits(TournamentModel::Note) * digit;
    table_->setColumnHidden(column, hidden);
    if (hidden) rest += width_in_digits(column) * digit;
  }
  for (int column = 0; column < TournamentModel::Note; ++column)
    table_->setColumnWidth(column, width_in_digits(column) * digit);
}

void TournamentView::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  resize_columns();
  refresh_words();
}

// The chosen row is filled lightly, so that the bars keep their colours.
void TournamentView::tint() {
  QPalette palette = this->palette();
  const QColor base = palette.color(QPalette::Base),
               accent = style::selection(style::is_dark(palette));
  const auto mix = [](int a, int b) { return (a * 5 + b) / 6; };
  palette.setColor(QPalette::Highlight,
                   QColor(mix(base.red(), accent.red()), mix(base.green(), accent.green()),
                          mix(base.blue(), accent.blue())));
  palette.setColor(QPalette::HighlightedText, palette.color(QPalette::Text));
  table_->setPalette(palette);
  QPalette quiet = this->palette();
  quiet.setColor(QPalette::WindowText, style::muted_text(quiet));
  for (QLabel* label : {legend_, hint_, status_}) label->setPalette(quiet);
}

void TournamentView::changeEvent(QEvent* event) {
  if (event->type() == QEvent::PaletteChange) tint();
  QWidget::changeEvent(event);
}

}  // namespace strato
