#include "views/timeline/range_panel.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLabel>
#include <QSortFilterProxyModel>
#include <QTabBar>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>

#include "views/models/explanation.h"
#include "views/style/list_table.h"
#include "views/style/own_escape.h"
#include "views/style/style.h"
#include "views/timeline/timeline_canvas.h"

namespace strato {
namespace {

constexpr std::size_t kSlicesAddedAtOnce = 30'000;  // some milliseconds

QString part_of(std::int64_t part, std::int64_t whole) {
  return style::percent(static_cast<double>(part) /
                        static_cast<double>(std::max<std::int64_t>(1, whole)));
}

}  // namespace

RangePanel::RangePanel(Session& session, TimelineCanvas& canvas, QWidget* parent)
    : QWidget(parent),
      session_(session),
      canvas_(canvas),
      job_([this](const Made& made) { show_made(made); }) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(8, 4, 4, 4);
  column->setSpacing(style::kGrid);
  column->addWidget(make_title());
  facts_ = new QLabel(this);
  facts_->setWordWrap(true);
  facts_->setTextFormat(Qt::PlainText);
  column->addWidget(facts_);
  pages_ = new QTabBar(this);
  pages_->setDrawBase(false);
  pages_->setExpanding(false);
  pages_->setUsesScrollButtons(true);
  for (const QString& name : {tr("Kind"), tr("Type"), tr("Group"), tr("Link"), tr("Idle")})
    pages_->addTab(name);
  pages_->setAccessibleName(tr("What the time is added up by"));
  connect(pages_, &QTabBar::currentChanged, this, &RangePanel::show_page);
  column->addWidget(pages_);
  column->addWidget(make_table(), 1);
  setMinimumWidth(200);
  connect(&session.selection(), &Selection::range_changed, this, &RangePanel::refresh);
  connect(&session.selection(), &Selection::changed, this, [this] {
    if (rows_->currentIndex() == static_cast<int>(Rows::Selected)) refresh();
  });
}

QWidget* RangePanel::make_title() {
  auto* title = new QWidget(this);
  auto* row = new QHBoxLayout(title);
  row->setContentsMargins(0, 0, 0, 0);
  length_ = new QLabel(title);
  length_->setTextFormat(Qt::PlainText);
  QFont bold = length_->font();
  bold.setBold(true);
  length_->setFont(bold);
  rows_ = new QComboBox(title);
  rows_->addItems({tr("All rows"), tr("Rows in sight"), tr("Selected row")});
  rows_->setToolTip(
      tr("Which rows are added up: all, those that are not hidden or collapsed, or the selected "
         "device or link"));
  rows_->setAccessibleName(tr("Rows that are added up"));
  connect(rows_, &QComboBox::currentIndexChanged, this, &RangePanel::refresh);
  auto* close = new QToolButton(title);
  close->setText(QStringLiteral("✕"));
  close->setAutoRaise(true);
  close->setToolTip(tr("Close (T)"));
  close->setAccessibleName(tr("Close"));
  connect(close, &QToolButton::clicked, this, &RangePanel::close_wanted);
  row->addWidget(length_, 1);
  row->addWidget(rows_);
  row->addWidget(close);
  return title;
}

QTableView* RangePanel::make_table() {
  table_ = new QTableView(this);
  style::as_list(*table_);
  sorted_ = new QSortFilterProxyModel(this);
  sorted_->setSourceModel(&model_);
  sorted_->setSortRole(RangeModel::SortRole);
  sorted_->setSortCaseSensitivity(Qt::CaseInsensitive);
  table_->setModel(sorted_);
  table_->setSortingEnabled(true);
  table_->sortByColumn(RangeModel::Time, Qt::DescendingOrder);
  table_->setTextElideMode(Qt::ElideMiddle);
  table_->setTabKeyNavigation(false);
  table_->setAccessibleName(tr("What fills the range"));
  table_->horizontalHeader()->setMinimumSectionSize(40);
  table_->horizontalHeader()->setStretchLastSection(false);
  connect(table_, &QTableView::clicked, this, &RangePanel::activate);
  connect(table_, &QTableView::activated, this, &RangePanel::activate);
  return table_;
}

void RangePanel::focus_table() { table_->setFocus(); }

void RangePanel::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  refresh();
}

bool RangePanel::event(QEvent* event) {
  if (is_own_escape(*event)) {
    event->accept();
    return true;
  }
  return QWidget::event(event);
}

void RangePanel::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Escape) return close_wanted();
  QWidget::keyPressEvent(event);
}

RowMask RangePanel::mask() const {
  if (rows_->currentIndex() == static_cast<int>(Rows::All)) return {};
  if (rows_->currentIndex() == static_cast<int>(Rows::InSight)) return canvas_.rows_in_sight();
  const Selection& selection = session_.selection();
  RowMask mask;
  for (const TimelineRow& row : canvas_.rows()->rows) {
    mask.push_back((row.device.valid() && selection.device() == row.device) ||
                   (row.link.valid() && selection.link() == row.link));
  }
  return mask;
}

void RangePanel::refresh() {
  if (!isVisible()) return;
  auto rows = canvas_.rows();
  if (!rows) {
    job_.drop();
    totals_.reset();
    shown_rows_.reset();
    length_->setText(tr("Nothing to add up"));
    facts_->clear();
    model_.clear();
    return;
  }
  const bool measured = rows->measured && canvas_.step_shown() == StepShown::Measured;
  const auto range = session_.selection().range().value_or(
      TimeRange{Nanos(0), (measured ? rows->measured : rows->timeline)->step_time});
  const auto& problem = session_.snapshot().problem;
  const bool own = problem && problem->graph == rows->timeline->program->graph;
  auto grouping = own ? problem->grouping : nullptr;
  const bool at_once = rows->slice_count <= kSlicesAddedAtOnce;
  job_.ask(
      [rows = std::move(rows), grouping = std::move(grouping), reasons = canvas_.reasons(), range,
       measured, mask = mask()] {
        return Made{
            rows, grouping, measured,
            add_up(*rows, range.begin, range.end, mask, reasons.get(), grouping.get(), measured)};
      },
      at_once);
}

void RangePanel::show_made(const Made& made) {
  if (made.rows != canvas_.rows()) return;  // others are being added up
  shown_rows_ = made.rows;
  grouping_ = made.grouping;
  totals_ = std::make_unique<RangeTotals>(made.totals);
  const RangeTotals& sum = *totals_;
  const Timeline& step = made.measured ? *shown_rows_->measured : *shown_rows_->timeline;
  const bool whole = sum.begin == Nanos(0) && sum.end >= step.step_time;
  length_->setText(whole ? tr("Step: %1").arg(style::time(sum.length()))
                         : style::time(sum.length()));
  length_->setToolTip(tr("From %1 to %2").arg(style::time(sum.begin), style::time(sum.end)));
  QStringList facts;
  const std::int64_t all = sum.length().value * static_cast<std::int64_t>(sum.devices);
  if (sum.devices > 0)
    facts << tr("busy %1").arg(part_of(sum.computing, all))
          << tr("idle %1").arg(part_of(sum.idle, all));
  if (sum.communicating > 0 && sum.devices > 0)
    facts << tr("%1 of %2 communication under computation")
                 .arg(part_of(sum.overlap, sum.communicating),
                      style::time(Nanos(sum.communicating)));
  if (facts.isEmpty()) {
    facts << (sum.slices > 0
                  ? tr("%1 slices").arg(sum.slices)
                  : tr("Nothing runs in these rows; select a device or link, or add up all rows"));
  }
  facts_->setText(facts.join(QStringLiteral(" · ")));
  show_page();
}

void RangePanel::show_page() {
  if (!totals_) return;
  model_.show(*totals_, *shown_rows_->timeline->program, grouping_.get(),
              static_cast<RangePage>(pages_->currentIndex()));
  QHeaderView* header = table_->horizontalHeader();
  const int digit = fontMetrics().horizontalAdvance(QLatin1Char('0'));
  header->setSectionResizeMode(RangeModel::Name, QHeaderView::Stretch);
  for (int c = RangeModel::Time; c < model_.columnCount(); ++c) {
    header->setSectionResizeMode(c, QHeaderView::Fixed);
    header->resizeSection(c, (c == RangeModel::Share ? 7 : 8) * digit + 2 * style::kGrid);
  }
}

void RangePanel::activate(const QModelIndex& index) {
  if (!index.isValid()) return;
  const RangeModel::Row row = model_.at(sorted_->mapToSource(index).row());
  const auto& problem = session_.snapshot().problem;
  const bool same = problem && problem->grouping == grouping_;
  if (row.group.valid() && same) session_.selection().select_group(row.group);
  if (row.link.valid()) session_.selection().select_link(row.link);
}

}  // namespace strato
