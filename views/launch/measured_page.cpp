#include "views/launch/measured_page.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QSortFilterProxyModel>
#include <QStackedWidget>
#include <QTabWidget>
#include <QTableView>
#include <QVBoxLayout>

#include "views/style/list_table.h"
#include "views/style/style.h"

namespace strato {

using Of = DifferenceModel::Of;

MeasuredPage::MeasuredPage(Session& session, LaunchModel& model, QWidget* parent)
    : QWidget(parent),
      session_(session),
      model_(model),
      pages_(new QStackedWidget(this)),
      tabs_(new QTabWidget(this)),
      hint_(new QLabel(this)),
      summary_(new QLabel(this)),
      learned_(new QLabel(this)),
      learn_(new QPushButton(tr("Lear&n from This Run"), this)),
      use_(new QPushButton(tr("&Use These Costs"), this)) {
  for (const Of of : {Of::Ops, Of::Links, Of::Devices}) {
    const auto i = static_cast<std::size_t>(of);
    const QString name = of == Of::Ops ? tr("Ops") : of == Of::Links ? tr("Links") : tr("Devices");
    differences_[i] = new DifferenceModel(of, this);
    tables_[i] = make_table(*differences_[i], name);
    tabs_->addTab(tables_[i], name);
  }
  tabs_->setDocumentMode(true);
  hint_->setAlignment(Qt::AlignCenter);
  hint_->setWordWrap(true);
  hint_->setMargin(6 * style::kGrid);
  pages_->addWidget(hint_);
  pages_->addWidget(build_result());
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->addWidget(pages_);
  connect(learn_, &QPushButton::clicked, &model_, &LaunchModel::learn);
  connect(use_, &QPushButton::clicked, &model_, &LaunchModel::use_learned);
  tint();
  refresh();
}

QWidget* MeasuredPage::build_result() {
  learn_->setToolTip(tr("Measured times become the costs of these ops, links and devices"));
  use_->setToolTip(
      tr("The window simulates and searches with them; File, Close Profile goes back"));
  for (QLabel* label : {summary_, learned_}) label->setTextFormat(Qt::RichText);
  auto* row = new QHBoxLayout;
  row->setContentsMargins(2 * style::kGrid, style::kGrid, 2 * style::kGrid, 0);
  row->setSpacing(2 * style::kGrid);
  row->addWidget(summary_, 1);
  row->addWidget(learn_);
  row->addWidget(use_);
  auto* filled = new QWidget(this);
  auto* column = new QVBoxLayout(filled);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(style::kGrid);
  learned_->setContentsMargins(2 * style::kGrid, 0, 2 * style::kGrid, 0);
  column->addLayout(row);
  column->addWidget(learned_);
  column->addWidget(tabs_, 1);
  return filled;
}

QTableView* MeasuredPage::make_table(DifferenceModel& model, const QString& name) {
  auto* proxy = new QSortFilterProxyModel(this);
  proxy->setSourceModel(&model);
  proxy->setSortRole(DifferenceModel::SortRole);
  auto* table = new QTableView(this);
  table->setModel(proxy);
  table->setSortingEnabled(true);
  QHeaderView* header = table->horizontalHeader();
  header->setSortIndicatorClearable(true);
  header->setSortIndicator(-1, Qt::AscendingOrder);
  header->setSectionResizeMode(DifferenceModel::Name, QHeaderView::Stretch);
  const int digit = fontMetrics().horizontalAdvance(QLatin1Char('0'));
  for (int column = DifferenceModel::Tasks; column < DifferenceModel::ColumnCount; ++column)
    table->setColumnWidth(column, (column == DifferenceModel::Tasks ? 8 : 13) * digit);
  style::as_list(*table);
  table->setTextElideMode(Qt::ElideMiddle);
  table->setTabKeyNavigation(false);
  table->setAccessibleName(name);
  connect(table->selectionModel(), &QItemSelectionModel::selectionChanged, this,
          [this, table, source = &model] { select_row(*table, *source); });
  return table;
}

void MeasuredPage::select_row(const QTableView& table, const DifferenceModel& model) {
  const QModelIndexList rows = table.selectionModel()->selectedRows();
  if (rows.isEmpty()) return;
  const auto* proxy = static_cast<const QSortFilterProxyModel*>(table.model());
  model.select(proxy->mapToSource(rows.front()).row(), session_);
}

QString MeasuredPage::summary() const {
  const Comparison& step = shown_->comparison;
  return tr("Step time <b>%1</b> measured, %2 predicted: <b>%3</b>")
      .arg(style::time(step.measured), style::time(step.predicted),
           style::signed_percent(step.error()));
}

QString MeasuredPage::learned_text() const {
  if (model_.learning()) return tr("Learning…");
  const auto& learned = model_.learned();
  if (!learned) return model_.why_not_learned().toHtmlEscaped();
  return tr("%1 kinds of op learned: the prediction's error goes from <b>%2</b> to <b>%3</b>. "
            "Written to %4%5")
      .arg(learned->kinds)
      .arg(style::signed_percent(learned->error_before),
           style::signed_percent(learned->error_after),
           QString::fromStdString(learned->file.filename().string()).toHtmlEscaped(),
           learned->used ? tr("; in use") : QString());
}

void MeasuredPage::refresh() {
  // That of the strategy shown, beside its outcome; it may be another one that was launched.
  const auto& measured = session_.measured();
  const bool any = model_.measured() != nullptr;
  hint_->setText(any ? tr("The strategy shown is not the one that was launched (%1).\nUndo goes "
                          "back to it; Launch measures this one.")
                           .arg(model_.label())
                     : tr("Predicted and measured times stand here side by side once a launch has "
                          "finished.\nLaunch starts the strategy shown."));
  pages_->setCurrentIndex(measured ? 1 : 0);
  if (measured && measured != shown_) {
    differences_[0]->show(measured->comparison.ops);
    differences_[1]->show(measured->comparison.links);
    differences_[2]->show(measured->comparison.devices);
  }
  shown_ = measured;
  if (!shown_) return;
  summary_->setText(summary());
  learned_->setText(learned_text());
  learned_->setVisible(!learned_->text().isEmpty());
  const bool learned = model_.learned().has_value();
  learn_->setVisible(!learned && model_.why_not_learned().isEmpty());
  learn_->setEnabled(any && !model_.learning());
  use_->setVisible(learned);
  use_->setEnabled(learned && !model_.learned()->used);
}

void MeasuredPage::tint() {
  QPalette quiet = palette();
  quiet.setColor(QPalette::WindowText, style::muted_text(quiet));
  for (QLabel* label : {hint_, learned_}) label->setPalette(quiet);
}

void MeasuredPage::changeEvent(QEvent* event) {
  if (event->type() == QEvent::PaletteChange) tint();
  QWidget::changeEvent(event);
}

}  // namespace strato
