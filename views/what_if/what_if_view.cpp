#include "views/what_if/what_if_view.h"

#include <QComboBox>
#include <QEvent>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QProgressBar>
#include <QScrollArea>
#include <QScrollBar>
#include <QSignalBlocker>
#include <QStyledItemDelegate>
#include <QTabWidget>
#include <QTableView>
#include <QVBoxLayout>

#include "views/models/scaling_model.h"
#include "views/style/list_table.h"
#include "views/style/style.h"
#include "views/style/text.h"
#include "views/what_if/figures_table.h"
#include "views/what_if/what_if_chart.h"
#include "views/what_if/what_if_form.h"

namespace strato {
namespace {

// Today's row is thick, what does not fit is red.
class ScalingDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

 protected:
  void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override {
    QStyledItemDelegate::initStyleOption(option, index);
    if (index.data(ScalingModel::TodayRole).toBool()) option->font.setBold(true);
    if (index.data(ScalingModel::InfeasibleRole).toBool())
      option->palette.setColor(QPalette::Text, style::infeasible(style::is_dark(option->palette)));
  }
};

QHBoxLayout* bar_of(std::initializer_list<QWidget*> widgets) {
  auto* bar = new QHBoxLayout;
  bar->setContentsMargins(2 * style::kGrid, style::kGrid, 2 * style::kGrid, 0);
  bar->setSpacing(2 * style::kGrid);
  for (QWidget* widget : widgets) bar->addWidget(widget);
  bar->addStretch();
  return bar;
}

}  // namespace

WhatIfView::WhatIfView(Session& session, QWidget* parent)
    : QWidget(parent),
      session_(session),
      what_if_(session),
      form_(new WhatIfForm(session, what_if_)),
      figures_(new FiguresTable(this)),
      pages_(new QTabWidget(this)),
      working_(new QProgressBar(this)) {
  auto* area = new QScrollArea(this);
  area->setWidget(form_);
  area->setWidgetResizable(true);
  area->setFrameShape(QFrame::NoFrame);
  area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  area->setMinimumWidth(form_->minimumSizeHint().width() +
                        area->verticalScrollBar()->sizeHint().width());
  area->setMaximumWidth(340);
  pages_->setDocumentMode(true);
  pages_->addTab(build_curve(), tr("Curve"));
  pages_->addTab(build_scaling(), tr("Scaling"));
  working_->setRange(0, 0);
  working_->setTextVisible(false);
  working_->setMaximumHeight(style::kGrid / 2);
  QSizePolicy policy = working_->sizePolicy();
  policy.setRetainSizeWhenHidden(true);  // nothing jumps
  working_->setSizePolicy(policy);
  working_->hide();
  auto* right = new QVBoxLayout;
  right->setSpacing(0);
  right->addWidget(figures_);
  right->addWidget(working_);
  right->addWidget(pages_, 1);
  pages_->setMinimumWidth(60 * style::kGrid);  // what is wider can be scrolled
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(0);
  row->addWidget(area, 2);
  row->addLayout(right, 5);
  connect(&what_if_, &ProblemWhatIf::inputs_changed, this, &WhatIfView::take_problem);
  connect(&what_if_, &ProblemWhatIf::found_changed, this,
          [this] { figures_->show_found(what_if_.found()); });
  connect(&what_if_, &ProblemWhatIf::curve_changed, this, &WhatIfView::refresh_curve);
  connect(&what_if_, &ProblemWhatIf::busy_changed, this,
          [this] { working_->setVisible(what_if_.busy()); });
  take_problem();
}

QWidget* WhatIfView::build_curve() {
  auto* page = new QWidget;
  axis_ = new QComboBox(page);
  const char* const axes[] = {"over the batch",         "over the network's bandwidth",
                              "over links in machines", "over latency",
                              "over device speed",      "over device memory"};
  for (const char* axis : axes) axis_->addItem(QString::fromUtf8(axis));
  axis_->setCurrentIndex(static_cast<int>(what_if_.axis()));
  axis_->setAccessibleName(tr("Parameter of the curve"));
  quantity_ = new QComboBox(page);
  quantity_->addItems({tr("Step time"), tr("Samples per second"), tr("Efficiency")});
  quantity_->setAccessibleName(tr("Quantity of the curve"));
  chart_ = new WhatIfChart(what_if_, page);
  auto* column = new QVBoxLayout(page);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addLayout(bar_of({quantity_, axis_}));
  column->addWidget(chart_, 1);
  connect(axis_, &QComboBox::activated, this,
          [this](int axis) { what_if_.set_axis(static_cast<WhatIfAxis>(axis)); });
  connect(quantity_, &QComboBox::activated, this, [this](int quantity) {
    chart_->show_figure(static_cast<WhatIfChart::Figure>(quantity));
    refresh_curve();
  });
  return page;
}

QWidget* WhatIfView::build_scaling() {
  auto* page = new QWidget;
  kind_ = new QComboBox(page);
  kind_->setAccessibleName(tr("Kind of machines"));
  auto* label = new QLabel(tr("Number of machines"), page);
  label->setBuddy(kind_);
  scaling_ = new ScalingModel(what_if_, page);
  table_ = new QTableView(page);
  table_->setModel(scaling_);
  style::as_list(*table_);
  table_->setItemDelegate(new ScalingDelegate(table_));
  table_->setAccessibleName(tr("Strong and weak scaling"));
  table_->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
  auto* column = new QVBoxLayout(page);
  column->setContentsMargins(0, 0, 0, 0);
  column->addLayout(bar_of({label, kind_}));
  column->addWidget(table_, 1);
  connect(kind_, &QComboBox::textActivated, &what_if_, &ProblemWhatIf::set_kind);
  return page;
}

void WhatIfView::take_problem() {
  const QSignalBlocker blocker(kind_);
  kind_->clear();
  for (const MachineKind& kind : what_if_.kinds()) kind_->addItem(text(kind.name));
  kind_->setCurrentText(what_if_.kind());
  figures_->show_found(what_if_.found());
  refresh_curve();
}

void WhatIfView::refresh_curve() {
  const auto& problem = session_.snapshot().problem;
  if (!problem) return;
  const WhatIfAxis axis = what_if_.curve().axis;
  chart_->refresh(value_of(what_if_.change(), axis, *problem), value_of({}, axis, *problem));
}

void WhatIfView::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  what_if_.set_active(true);
}

void WhatIfView::hideEvent(QHideEvent* event) {
  what_if_.set_active(false);
  QWidget::hideEvent(event);
}

// The table's tips have what it leaves out where there is little room.
void WhatIfView::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  const int digit = fontMetrics().horizontalAdvance(QLatin1Char('0'));
  const bool narrow = width() < 125 * digit;
  for (const int column : {ScalingModel::Devices, ScalingModel::StrongRate, ScalingModel::WeakRate})
    table_->setColumnHidden(column, narrow);
}

void WhatIfView::changeEvent(QEvent* event) {
  if (event->type() == QEvent::PaletteChange) figures_->show_found(what_if_.found());
  QWidget::changeEvent(event);
}

}  // namespace strato
