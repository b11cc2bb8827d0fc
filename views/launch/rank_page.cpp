#include "views/launch/rank_page.h"

#include <QEvent>
#include <QHeaderView>
#include <QLabel>
#include <QTableWidget>
#include <QVBoxLayout>

#include "views/style/list_table.h"
#include "views/style/style.h"

namespace strato {
namespace {

enum Column { Rank, Device, Gpu, Machine, Memory, Measured, Capacity, Tasks, ColumnCount };

bool is_number(int column) { return column == Rank || column >= Memory; }

QString text(const RankPreview& rank, int column) {
  switch (column) {
    case Rank:
      return QString::number(rank.rank);
    case Device:
      return rank.name;
    case Gpu:
      return rank.gpu;
    case Machine:
      return rank.machine;
    case Memory:
      return style::bytes(rank.peak);
    case Measured:
      return {};
    case Capacity:
      return style::bytes(rank.capacity);
    default:
      return QString::number(rank.tasks);
  }
}

}  // namespace

RankPage::RankPage(Session& session, QWidget* parent)
    : QWidget(parent),
      session_(session),
      warnings_(new QLabel(this)),
      table_(new QTableWidget(0, ColumnCount, this)),
      hint_(new QLabel(
          tr("Nothing is planned yet.\nOpen a model and a cluster, and search: what would "
             "run where stands here."),
          this)) {
  hint_->setAlignment(Qt::AlignCenter);
  hint_->setWordWrap(true);
  hint_->setMargin(6 * style::kGrid);
  table_->setHorizontalHeaderLabels({tr("Rank"), tr("Device"), tr("Type"), tr("Machine"),
                                     tr("Memory, predicted"), tr("Measured"), tr("It has"),
                                     tr("Tasks")});
  for (int column = 0; column < ColumnCount; ++column) {
    table_->horizontalHeaderItem(column)->setTextAlignment(
        Qt::AlignVCenter | (is_number(column) ? Qt::AlignRight : Qt::AlignLeft));
  }
  table_->horizontalHeader()->setStretchLastSection(false);
  style::as_list(*table_);
  table_->setTabKeyNavigation(false);
  table_->setTextElideMode(Qt::ElideMiddle);
  table_->setAccessibleName(tr("Ranks"));
  warnings_->setWordWrap(true);
  warnings_->setTextFormat(Qt::PlainText);
  warnings_->setContentsMargins(2 * style::kGrid, style::kGrid, 2 * style::kGrid, style::kGrid);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(warnings_);
  column->addWidget(table_, 1);
  column->addWidget(hint_, 1);
  connect(table_, &QTableWidget::itemSelectionChanged, this, [this] {
    const int row = table_->currentRow();
    if (row >= 0 && row < static_cast<int>(preview_.ranks.size()) && table_->hasFocus())
      session_.selection().select_device(preview_.ranks[static_cast<std::size_t>(row)].device);
  });
  show_preview({});
}

void RankPage::show_preview(const LaunchPreview& preview, const std::vector<Bytes>& peaks) {
  preview_ = preview;
  peaks_ = peaks.size() == preview.ranks.size() ? peaks : std::vector<Bytes>();
  hint_->setVisible(preview.ranks.empty());
  table_->setVisible(!preview.ranks.empty());
  table_->setColumnHidden(Measured, peaks_.empty());
  QStringList lines;
  for (const QString& warning : preview.warnings) lines << QStringLiteral("⚠ ") + warning;
  warnings_->setText(lines.join(QLatin1Char('\n')));
  warnings_->setVisible(!lines.isEmpty());
  table_->setRowCount(static_cast<int>(preview.ranks.size()));
  for (int row = 0; row < table_->rowCount(); ++row) {
    const RankPreview& rank = preview.ranks[static_cast<std::size_t>(row)];
    for (int column = 0; column < ColumnCount; ++column) {
      const bool measured = column == Measured && !peaks_.empty();
      auto* item = new QTableWidgetItem(
          measured ? style::bytes(peaks_[static_cast<std::size_t>(row)]) : text(rank, column));
      if (!is_number(column)) item->setToolTip(item->text());
      item->setTextAlignment(Qt::AlignVCenter |
                             (is_number(column) ? Qt::AlignRight : Qt::AlignLeft));
      table_->setItem(row, column, item);
    }
  }
  table_->resizeColumnsToContents();
  const int widest = 40 * fontMetrics().horizontalAdvance(QLatin1Char('0'));
  for (int column = 0; column < ColumnCount; ++column)
    table_->setColumnWidth(column,
                           std::min(table_->columnWidth(column) + 4 * style::kGrid, widest));
  recolour();
}

void RankPage::recolour() {
  QPalette quiet = palette();
  quiet.setColor(QPalette::WindowText, style::muted_text(quiet));
  hint_->setPalette(quiet);
  const QColor red = style::infeasible(style::is_dark(palette()));
  for (int row = 0; row < table_->rowCount(); ++row) {
    if (!preview_.ranks[static_cast<std::size_t>(row)].fits())
      table_->item(row, Memory)->setForeground(red);
  }
}

void RankPage::changeEvent(QEvent* event) {
  if (event->type() == QEvent::PaletteChange) recolour();
  QWidget::changeEvent(event);
}

}  // namespace strato
