#include "views/timeline/search_panel.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>

#include "views/style/list_table.h"
#include "views/style/own_escape.h"
#include "views/style/style.h"
#include "views/style/text.h"
#include "views/timeline/timeline_canvas.h"

namespace strato {
namespace {

constexpr std::size_t kTasksSearchedAtOnce = 10'000;

}  // namespace

void FoundModel::show(std::shared_ptr<const Timeline> timeline, FoundSlices found) {
  beginResetModel();
  timeline_ = std::move(timeline);
  found_ = std::move(found);
  endResetModel();
}

int FoundModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(found_.tasks.size());
}

int FoundModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : ColumnCount;
}

QVariant FoundModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) return {};
  const TaskId id = found_.tasks[static_cast<std::size_t>(index.row())];
  const Program& program = *timeline_->program;
  const Task& task = program.tasks[id];
  if (role == Qt::TextAlignmentRole) {
    return QVariant((index.column() == Time ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
  }
  if (role == Qt::ToolTipRole) return text(program.task_name(id)).toHtmlEscaped();
  if (role != Qt::DisplayRole) return {};
  switch (index.column()) {
    case Name: {
      const QString name = slice_text(program, id);
      return task.kind == TaskKind::Compute ? name
                                            : kind_label(task.kind) + QLatin1Char(' ') + name;
    }
    case Device:
      return task.device.valid() ? text(program.cluster->device(task.device).name) : QString();
    default:
      return style::time(timeline_->tasks[id].end - timeline_->tasks[id].start);
  }
}

QVariant FoundModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount) return {};
  if (role == Qt::TextAlignmentRole) {
    return QVariant((section == Time ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
  }
  if (role != Qt::DisplayRole) return {};
  return section == Name ? tr("Slice") : section == Device ? tr("Device") : tr("Time");
}

SearchPanel::SearchPanel(Session& session, TimelineCanvas& canvas, QWidget* parent)
    : QWidget(parent),
      session_(session),
      canvas_(canvas),
      job_([this](const Made& made) { show_made(made); }) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(8, 4, 4, 4);
  column->setSpacing(style::kGrid);
  auto* title = new QHBoxLayout;
  query_ = new QLineEdit(this);
  query_->setPlaceholderText(tr("Op, type, group, tensor, kind, device"));
  query_->setClearButtonEnabled(true);
  query_->setAccessibleName(tr("Search in the timeline"));
  query_->setToolTip(tr("Slices that have all of these words.\nEnter, Up and Down go to them"));
  query_->installEventFilter(this);
  auto* close = new QToolButton(this);
  close->setText(QStringLiteral("✕"));
  close->setAutoRaise(true);
  close->setToolTip(tr("Close (Esc)"));
  close->setAccessibleName(tr("Close"));
  connect(close, &QToolButton::clicked, this, &SearchPanel::close_wanted);
  title->addWidget(query_, 1);
  title->addWidget(close);
  column->addLayout(title);
  count_ = new QLabel(this);
  count_->setTextFormat(Qt::PlainText);
  count_->setWordWrap(true);
  column->addWidget(count_);
  table_ = new QTableView(this);
  style::as_list(*table_);
  table_->setModel(&model_);
  table_->setTextElideMode(Qt::ElideMiddle);
  table_->setTabKeyNavigation(false);
  table_->setAccessibleName(tr("Slices found"));
  table_->installEventFilter(this);
  const int digit = fontMetrics().horizontalAdvance(QLatin1Char('0'));
  table_->horizontalHeader()->setSectionResizeMode(QHeaderView::Fixed);
  table_->horizontalHeader()->setSectionResizeMode(FoundModel::Name, QHeaderView::Stretch);
  table_->horizontalHeader()->resizeSection(FoundModel::Device, 9 * digit + 2 * style::kGrid);
  table_->horizontalHeader()->resizeSection(FoundModel::Time, 8 * digit + 2 * style::kGrid);
  column->addWidget(table_, 1);
  setMinimumWidth(200);
  connect(query_, &QLineEdit::textChanged, this, &SearchPanel::refresh);
  connect(table_, &QTableView::clicked, this, [this](const QModelIndex& at) { go_to(at.row()); });
  connect(table_, &QTableView::activated, this, [this](const QModelIndex& at) { go_to(at.row()); });
}

void SearchPanel::focus_query() {
  query_->setFocus();
  query_->selectAll();
}

void SearchPanel::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  refresh();
}

bool SearchPanel::eventFilter(QObject* watched, QEvent* event) {
  if (is_own_escape(*event)) event->accept();
  if (event->type() != QEvent::KeyPress) return QWidget::eventFilter(watched, event);
  switch (static_cast<QKeyEvent*>(event)->key()) {
    case Qt::Key_Escape:
      close_wanted();
      return true;
    case Qt::Key_Down:
    case Qt::Key_Return:
    case Qt::Key_Enter:
      step(1);
      return true;
    case Qt::Key_Up:
      step(-1);
      return true;
    default:
      return QWidget::eventFilter(watched, event);
  }
}

void SearchPanel::refresh() {
  if (!isVisible()) return;
  const auto rows = canvas_.rows();
  auto timeline = rows ? rows->timeline : nullptr;
  if (!timeline) {
    job_.drop();
    model_.show(nullptr, {});
    count_->clear();
    return;
  }
  const auto& problem = session_.snapshot().problem;
  auto grouping =
      problem && problem->graph == timeline->program->graph ? problem->grouping : nullptr;
  const bool at_once = timeline->tasks.size() <= kTasksSearchedAtOnce;
  job_.ask(
      [timeline = std::move(timeline), grouping = std::move(grouping), query = query_->text()] {
        return Made{timeline, find_slices(*timeline, grouping.get(), query)};
      },
      at_once);
}

void SearchPanel::show_made(const Made& made) {
  model_.show(made.timeline, made.found);
  const FoundSlices& found = model_.found();
  if (query_->text().trimmed().isEmpty()) {
    count_->setText(tr("Type a part of a name"));
  } else if (found.count == 0) {
    count_->setText(tr("Nothing has all of these words"));
  } else {
    QString text = tr("%1 slices, %2").arg(found.count).arg(style::time(found.time));
    if (found.tasks.size() < found.count)
      text += tr("; the %1 longest are listed").arg(found.tasks.size());
    count_->setText(text);
  }
}

void SearchPanel::step(int direction) {
  const int rows = model_.rowCount();
  if (rows == 0) return;
  const QModelIndex now = table_->currentIndex();
  const int next =
      now.isValid() ? (now.row() + direction + rows) % rows : (direction > 0 ? 0 : rows - 1);
  go_to(next);
}

void SearchPanel::go_to(int row) {
  const auto& tasks = model_.found().tasks;
  const bool stale = !canvas_.rows() || canvas_.rows()->timeline != model_.timeline();
  if (stale || row < 0 || static_cast<std::size_t>(row) >= tasks.size()) return;
  table_->selectRow(row);
  canvas_.go_to(tasks[static_cast<std::size_t>(row)]);
}

}  // namespace strato
