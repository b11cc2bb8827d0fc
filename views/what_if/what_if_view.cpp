#include "views/what_if/what_if_view.h"

#include <QComboBox>
#include <QDoubleSpinBox>
#include <QEvent>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QSignalBlocker>
#include <QStandardItemModel>
#include <QStyledItemDelegate>
#include <QTabWidget>
#include <QTableView>
#include <QVBoxLayout>

#include "core/cluster/read/cluster_reader.h"
#include "views/models/scaling_model.h"
#include "views/style/file_choice.h"
#include "views/style/giving_area.h"
#include "views/style/list_table.h"
#include "views/style/style.h"
#include "views/style/text.h"
#include "views/style/wrap_layout.h"
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

// Of the list of parameters, behind those of WhatIfAxis.
constexpr int kStrong = kWhatIfAxes, kWeak = kWhatIfAxes + 1;
constexpr int kLongestNote = 40;  // characters; the rest is in the tip
constexpr int kLeastChart = 40;   // of the grid: below, the chart leaves its numbers out

// Below each other where they have no room beside each other.
QLayout* bar_of(std::initializer_list<QWidget*> widgets) {
  auto* bar = new style::WrapLayout;
  bar->setContentsMargins(2 * style::kGrid, style::kGrid, 2 * style::kGrid, 0);
  bar->setSpacing(2 * style::kGrid);
  for (QWidget* widget : widgets) bar->addWidget(widget);
  return bar;
}

}  // namespace

WhatIfView::WhatIfView(Session& session, QWidget* parent, const std::vector<PluginInfo>& planners,
                       PlannerFactory make)
    : QWidget(parent),
      session_(session),
      what_if_(session),
      replan_(session, make),
      scaling_replan_(session, make),
      form_(new WhatIfForm(session, what_if_)),
      figures_(new FiguresTable(this)),
      pages_(new QTabWidget(this)),
      working_(new QProgressBar(this)) {
  using Scrolls = style::GivingArea::Scrolls;
  auto* area = new style::GivingArea(form_, Scrolls::UpAndDown, this);
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
  right->addWidget(new style::GivingArea(figures_, Scrolls::Sideways, this));
  right->addWidget(build_replan(make ? planners : session.plugins().list(PluginKind::Planner)));
  right->addWidget(working_);
  right->addWidget(pages_, 1);
  pages_->setMinimumWidth(std::max(60, 8 * fontMetrics().averageCharWidth()) * style::kGrid);
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(0);
  row->addWidget(area, 2);
  row->addLayout(right, 5);
  connect(&what_if_, &ProblemWhatIf::inputs_changed, this, &WhatIfView::take_problem);
  connect(&what_if_, &ProblemWhatIf::found_changed, this, &WhatIfView::show_figures);
  connect(&replan_, &WhatIfReplan::changed, this, &WhatIfView::show_figures);
  connect(form_, &WhatIfForm::save_wanted, this, &WhatIfView::save_cluster);
  connect(form_, &WhatIfForm::go_on_wanted, this, &WhatIfView::go_on);
  connect(&what_if_, &ProblemWhatIf::curve_changed, this, &WhatIfView::refresh_curve);
  connect(&what_if_, &ProblemWhatIf::busy_changed, this, [this] {
    working_->setVisible(what_if_.busy());
    refresh_each();
  });
  take_problem();
}

QWidget* WhatIfView::build_curve() {
  auto* page = new QWidget;
  axis_ = new QComboBox(page);
  axis_->addItems({tr("over the batch"), tr("over the network's bandwidth"),
                   tr("over links in machines"), tr("over latency"), tr("over device speed"),
                   tr("over device memory"), tr("over machines, strong"),
                   tr("over machines, weak")});
  axis_->setItemData(kStrong, tr("The batch stays"), Qt::ToolTipRole);
  axis_->setItemData(kWeak, tr("The batch grows with the number of devices"), Qt::ToolTipRole);
  axis_->setCurrentIndex(static_cast<int>(what_if_.axis()));
  axis_->setAccessibleName(tr("Parameter of the curve"));
  quantity_ = new QComboBox(page);
  using Figure = WhatIfChart::Figure;
  for (const Figure each :
       {Figure::StepTime, Figure::SamplesPerSecond, Figure::Efficiency, Figure::Price})
    quantity_->addItem(title_of(each));
  quantity_->setAccessibleName(tr("Quantity of the curve"));
  curve_kind_ = new QComboBox(page);
  curve_kind_->setAccessibleName(tr("Kind of machines of the curve"));
  each_button_ = new QPushButton(page);
  each_button_->setToolTip(tr(
      "Plans the problem anew for every number of machines, one after the other in the background, "
      "with the planner and the time chosen above for each. The line of this strategy is only "
      "carried over to the devices that there are."));
  each_note_ = new QLabel(page);
  each_note_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  each_note_->setTextFormat(Qt::PlainText);
  chart_ = new WhatIfChart(page);
  chart_->setMinimumHeight(kLeastChart * style::kGrid);
  auto* column = new QVBoxLayout(page);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addLayout(bar_of({quantity_, axis_, curve_kind_}));
  column->addWidget(chart_, 1);
  connect(axis_, &QComboBox::activated, this, &WhatIfView::choose_axis);
  connect(curve_kind_, &QComboBox::textActivated, this, [this](const QString& kind) {
    what_if_.set_kind(kind);
    kind_->setCurrentText(kind);
  });
  connect(&what_if_, &ProblemWhatIf::scaling_changed, this, &WhatIfView::refresh_curve);
  connect(&scaling_replan_, &ScalingReplan::changed, this, &WhatIfView::refresh_curve);
  connect(each_button_, &QPushButton::clicked, this, [this] {
    if (scaling_replan_.running()) return scaling_replan_.stop();
    scaling_replan_.start(what_if_.scaling(), is_weak(), planner_->currentText(),
                          seconds_->value());
  });
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
  connect(kind_, &QComboBox::textActivated, this, [this](const QString& kind) {
    what_if_.set_kind(kind);
    curve_kind_->setCurrentText(kind);
  });
  return page;
}

void WhatIfView::take_problem() {
  for (QComboBox* box : {kind_, curve_kind_}) {
    const QSignalBlocker blocker(box);
    box->clear();
    for (const MachineKind& kind : what_if_.kinds()) box->addItem(text(kind.name));
    box->setCurrentText(what_if_.kind());
  }
  const auto& problem = session_.snapshot().problem;
  const bool priced = problem && price_of(*problem->cluster);
  constexpr int price = static_cast<int>(WhatIfChart::Figure::Price);
  auto* quantities = qobject_cast<QStandardItemModel*>(quantity_->model());
  quantities->item(price)->setEnabled(priced);
  quantities->item(price)->setToolTip(
      priced ? QString() : tr("The cluster's file does not say what its machines cost."));
  if (!priced && quantity_->currentIndex() == price) {
    quantity_->setCurrentIndex(0);
    chart_->show_figure(WhatIfChart::Figure::StepTime);
  }
  show_figures();
  refresh_curve();
}

// What was planned anew is beside the figures of the same change only.
void WhatIfView::show_figures() {
  figures_->show_found(what_if_.found(), replanned().get());
  refresh_replan();
}

std::shared_ptr<const ReplanFound> WhatIfView::replanned() const {
  const auto& found = replan_.found();
  return found && what_if_.found() && found->change == what_if_.found()->change ? found : nullptr;
}

QWidget* WhatIfView::build_replan(const std::vector<PluginInfo>& planners) {
  auto* bar = new QWidget(this);
  planner_ = new QComboBox(bar);
  for (const PluginInfo& planner : planners) {
    planner_->addItem(text(planner.name));
    planner_->setItemData(planner_->count() - 1, text(planner.summary), Qt::ToolTipRole);
  }
  planner_->setCurrentIndex(std::max(0, planner_->findText(QStringLiteral("mcts"))));
  planner_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  planner_->setMinimumContentsLength(7);
  planner_->setAccessibleName(tr("Planner of the changed problem"));
  seconds_ = new QDoubleSpinBox(bar);
  seconds_->setRange(1, 3600);
  seconds_->setDecimals(0);
  seconds_->setValue(5);
  seconds_->setSuffix(tr(" s"));
  seconds_->setAccessibleName(tr("Budget of the planner"));
  seconds_->setToolTip(tr("Of planners that search; others take what they take"));
  replan_button_ = new QPushButton(bar);
  replan_button_->setToolTip(
      tr("Plans the changed problem in the background, and shows it beside this strategy"));
  replan_note_ = new QLabel(bar);
  replan_note_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  replan_note_->setTextFormat(Qt::PlainText);
  auto* row = new QHBoxLayout(bar);
  row->setContentsMargins(3 * style::kGrid, 0, 3 * style::kGrid, style::kGrid);
  row->setSpacing(2 * style::kGrid);
  row->addWidget(replan_button_);
  row->addWidget(planner_);
  row->addWidget(seconds_);
  row->addWidget(each_button_);
  row->addWidget(replan_note_, 1);
  row->addWidget(each_note_, 1);
  connect(replan_button_, &QPushButton::clicked, this, [this] {
    if (replan_.running()) {
      replan_.stop();
    } else {
      replan_.start(what_if_.change(), planner_->currentText(), seconds_->value());
    }
  });
  return bar;
}

QString WhatIfView::replan_text() const {
  if (!replan_.problem().isEmpty()) return replan_.problem();
  if (!replan_.running()) return {};
  const QString best = replan_.best_so_far()
                           ? tr("%1 so far").arg(style::time(*replan_.best_so_far()))
                           : tr("planning…");
  return replan_.change() == what_if_.change()
             ? best
             : tr("%1, for %2").arg(best, text(describe(replan_.change())));
}

void WhatIfView::refresh_replan() {
  replan_button_->setText(replan_.running() ? tr("S&top") : tr("Plan &Anew"));
  replan_button_->setEnabled(session_.snapshot().problem && planner_->count() > 0 &&
                             !replan_.stopping());
  planner_->setEnabled(!replan_.running());
  seconds_->setEnabled(!replan_.running());
  QPalette colours = palette();
  colours.setColor(QPalette::WindowText, replan_.problem().isEmpty()
                                             ? style::muted_text(palette())
                                             : style::infeasible(style::is_dark(palette())));
  replan_note_->setPalette(colours);
  replan_note_->setText(replan_text());
  replan_note_->setToolTip(replan_note_->text());
}

void WhatIfView::save_cluster() {
  const QString file = style::file_to_write(this, tr("Save the changed cluster"),
                                            session_.cluster_name() + QStringLiteral(".json"),
                                            tr("Clusters (*.json)"));
  if (!file.isEmpty()) what_if_.save_cluster(std::filesystem::path(file.toStdString()));
}

// With the faster of the two strategies, of those that fit.
void WhatIfView::go_on() {
  std::shared_ptr<const ReplanFound> better = replanned();
  if (better && better->change != what_if_.change()) better.reset();  // the form is ahead
  if (better) {
    const StepFigures &anew = better->figures, &carried = what_if_.found()->then;
    const bool is_better =
        anew.feasible != carried.feasible ? anew.feasible : anew.step_time < carried.step_time;
    if (!is_better) better.reset();
  }
  what_if_.go_on(better);
}

bool WhatIfView::over_machines() const { return axis_->currentIndex() >= kStrong; }
bool WhatIfView::is_weak() const { return axis_->currentIndex() == kWeak; }

void WhatIfView::choose_axis(int index) {
  if (index < kStrong) what_if_.set_axis(static_cast<WhatIfAxis>(index));
  refresh_curve();
}

void WhatIfView::refresh_curve() {
  refresh_each();
  const auto& problem = session_.snapshot().problem;
  if (!problem) return;
  if (over_machines()) return show_machines();
  const WhatIfCurve& curve = what_if_.curve();
  chart_->show_curve({title_of(curve.axis), curve.values, curve.points, {}, {}},
                     value_of(what_if_.change(), curve.axis, *problem),
                     value_of({}, curve.axis, *problem));
}

void WhatIfView::show_machines() {
  const WhatIfScaling& scaling = what_if_.scaling();
  ChartedCurve curve;
  curve.title = tr("Machines of %1").arg(scaling.kind);
  for (const ScalingRow& row : scaling.rows) {
    const ReplanFound* anew = scaling_replan_.found(is_weak() ? row.at.weak : row.at.strong);
    curve.values.push_back(static_cast<double>(row.at.machines));
    curve.points.push_back(is_weak() ? row.weak : row.strong);
    curve.anew.push_back(anew ? std::optional(anew->figures) : std::nullopt);
    curve.names.push_back(tr("%1 machines of %2, %3 devices in all, batch %4")
                              .arg(row.at.machines)
                              .arg(scaling.kind)
                              .arg(row.at.devices)
                              .arg(is_weak() ? row.weak_batch : row.strong_batch));
  }
  const auto& wanted = what_if_.change().cluster.machines;
  const auto here = wanted.find(scaling.kind.toStdString());
  const double today = std::max(1.0, static_cast<double>(scaling.today));  // 0: none yet
  const double chosen = here == wanted.end() ? today : static_cast<double>(here->second);
  chart_->show_curve(std::move(curve), std::max(1.0, chosen), today);
}

void WhatIfView::refresh_each() {
  const bool running = scaling_replan_.running();
  curve_kind_->setVisible(over_machines() && curve_kind_->count() > 1);
  each_button_->setVisible(over_machines() || running);
  each_button_->setText(running ? tr("Stop P&lanning") : tr("P&lan Each Anew"));
  each_button_->setEnabled(running ? !scaling_replan_.stopping()
                                   : planner_ && planner_->count() > 0 && !what_if_.busy() &&
                                         !what_if_.scaling().rows.empty());
  QPalette colours = palette();
  colours.setColor(QPalette::WindowText, scaling_replan_.problem().isEmpty()
                                             ? style::muted_text(palette())
                                             : style::infeasible(style::is_dark(palette())));
  each_note_->setPalette(colours);
  const QString note =
      running
          ? tr("planning %1 of %2").arg(scaling_replan_.done() + 1).arg(scaling_replan_.wanted())
          : scaling_replan_.problem();
  each_note_->setText(note.size() > kLongestNote ? note.left(kLongestNote - 1) + QChar(0x2026)
                                                 : note);
  each_note_->setToolTip(note);
  each_note_->setVisible(!note.isEmpty());
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

// Later: what is in it has the new colours after it.
void WhatIfView::changeEvent(QEvent* event) {
  if (event->type() == QEvent::PaletteChange)
    QMetaObject::invokeMethod(this, &WhatIfView::show_figures, Qt::QueuedConnection);
  QWidget::changeEvent(event);
}

}  // namespace strato
