#include "app/explorer/header_bar.h"

#include <QActionGroup>
#include <QCheckBox>
#include <QComboBox>
#include <QDir>
#include <QEvent>
#include <QHBoxLayout>
#include <QInputDialog>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QToolButton>

#include "core/base/file.h"
#include "core/cost/calibration.h"
#include "core/cost/profile.h"
#include "views/models/budget.h"
#include "views/models/explanation.h"
#include "views/models/vital_signs.h"
#include "views/style/style.h"
#include "views/style/text.h"

namespace strato {
namespace {

QToolButton* make_chooser(QWidget* parent) {
  auto* button = new QToolButton(parent);
  button->setPopupMode(QToolButton::InstantPopup);
  button->setToolButtonStyle(Qt::ToolButtonTextOnly);
  button->setMenu(new QMenu(button));
  QFont font = button->font();
  font.setWeight(QFont::DemiBold);
  button->setFont(font);
  button->setAutoRaise(true);
  return button;
}

// Room for the arrow that the style draws over the text's end.
QString chooser_text(const QString& value) { return value + QStringLiteral("   "); }

QLabel* make_sign(QWidget* parent) {
  auto* label = new QLabel(parent);
  label->setTextFormat(Qt::RichText);
  return label;
}

QString muted(const QString& value, const QPalette& palette) {
  const QColor text = palette.color(QPalette::WindowText), back = palette.color(QPalette::Window);
  const auto mix = [](int a, int b) { return (a * 64 + b * 36) / 100; };
  return QStringLiteral("<span style='color:%1'>%2</span>")
      .arg(QColor(mix(text.red(), back.red()), mix(text.green(), back.green()),
                  mix(text.blue(), back.blue()))
               .name(),
           value);
}

QString coloured(const QString& value, const QColor& colour) {
  return QStringLiteral("<span style='color:%1'>%2</span>")
      .arg(colour.name(), value.toHtmlEscaped());
}

void add_samples(QMenu& menu, const char* folder, const QString& pattern, HeaderBar& bar) {
  const QString path = text((home_directory() / "sample_graphs" / folder).string());
  for (const QFileInfo& file : QDir(path).entryInfoList({pattern}, QDir::Files, QDir::Name)) {
    menu.addAction(file.completeBaseName(), &bar,
                   [&bar, path = file.filePath()] { emit bar.sample_wanted(path); });
  }
}

// Edits of a strategy with groups of its own say nothing about those of the search.
std::size_t edits_to_pin(const Snapshot& snapshot) {
  return snapshot.has_own_groups() ? 0 : snapshot.edited.size();
}

}  // namespace

HeaderBar::HeaderBar(Session& session, QWidget* parent)
    : QWidget(parent),
      session_(session),
      model_(make_chooser(this)),
      cluster_(make_chooser(this)),
      strategy_(new QLabel(this)),
      step_(make_sign(this)),
      speedup_(make_sign(this)),
      bound_(make_sign(this)),
      memory_(make_sign(this)),
      delta_(make_sign(this)),
      planner_(new QComboBox(this)),
      budget_(new QComboBox(this)),
      main_(new QPushButton(this)),
      second_(new QPushButton(this)) {
  build();
  connect(&session_, &Session::problem_changed, this, &HeaderBar::refresh);
  connect(&session_, &Session::strategy_changed, this, &HeaderBar::refresh_names);
  connect(&session_, &Session::strategy_changed, this, &HeaderBar::refresh_search);
  connect(&session_, &Session::outcome_changed, this, &HeaderBar::refresh_vital_signs);
  connect(&session_, &Session::explanation_changed, this, &HeaderBar::refresh_vital_signs);
  connect(&session_, &Session::search_changed, this, &HeaderBar::refresh_search);
  connect(&session_, &Session::busy_changed, this, &HeaderBar::refresh_search);
  connect(memory_, &QLabel::linkActivated, this, &HeaderBar::follow_link);
  connect(model_->menu(), &QMenu::aboutToShow, this, &HeaderBar::build_model_menu);
  connect(cluster_->menu(), &QMenu::aboutToShow, this, &HeaderBar::build_cluster_menu);
  connect(main_, &QPushButton::clicked, this, &HeaderBar::search_or_pause);
  connect(second_, &QPushButton::clicked, this, [this] {
    if (session_.search().state != SearchState::Idle) return session_.stop_search();
    if (edits_to_pin(session_.snapshot()) > 0) return continue_with_edits();
    const PlannerOptions more = planner_options();
    session_.continue_search(&more);
  });
  refresh();
}

void HeaderBar::build() {
  model_->setToolTip(QStringLiteral("The model: open another, change batch, optimizer or groups"));
  cluster_->setToolTip(QStringLiteral("The cluster that the model runs on"));
  QFont large = step_->font();
  large.setPointSizeF(large.pointSizeF() * 1.6);
  large.setWeight(QFont::DemiBold);
  step_->setFont(large);
  strategy_->setTextFormat(Qt::PlainText);
  strategy_->setMinimumWidth(60);
  fill_planners();
  fill_refiners();
  budget_->setEditable(true);
  budget_->setInsertPolicy(QComboBox::NoInsert);
  budget_->addItems({QStringLiteral("200 iterations"), QStringLiteral("800 iterations"),
                     QStringLiteral("3000 iterations"), QStringLiteral("10 s"),
                     QStringLiteral("30 s"), QStringLiteral("2 min")});
  budget_->setCurrentIndex(1);
  budget_->setToolTip(QStringLiteral("How long to search: iterations or time"));
  auto* above = new QHBoxLayout;
  above->setSpacing(2 * style::kGrid);
  above->addWidget(model_);
  above->addWidget(new QLabel(QStringLiteral("on"), this));
  above->addWidget(cluster_);
  above->addSpacing(4 * style::kGrid);
  above->addWidget(strategy_, 1);
  above->addWidget(planner_);
  for (const auto& [name, box] : refiners_) above->addWidget(box);
  for (QWidget* widget : std::initializer_list<QWidget*>{budget_, main_, second_}) {
    above->addWidget(widget);
  }
  auto* below = new QHBoxLayout;
  below->setSpacing(6 * style::kGrid);
  for (QWidget* widget : std::initializer_list<QWidget*>{step_, speedup_, bound_, memory_}) {
    below->addWidget(widget, 0, Qt::AlignBaseline);
  }
  below->addStretch(1);
  below->addWidget(delta_, 0, Qt::AlignBaseline);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(3 * style::kGrid, 2 * style::kGrid, 3 * style::kGrid,
                             2 * style::kGrid);
  layout->setSpacing(style::kGrid);
  layout->addLayout(above);
  layout->addLayout(below);
}

void HeaderBar::fill_planners() {
  for (const PluginInfo& planner : session_.plugins().list(PluginKind::Planner)) {
    planner_->addItem(text(planner.name));
    planner_->setItemData(planner_->count() - 1, text(planner.summary), Qt::ToolTipRole);
  }
  planner_->setCurrentIndex(std::max(0, planner_->findText(QStringLiteral("mcts"))));
  planner_->setToolTip(QStringLiteral("The planner: the algorithm that searches for a strategy"));
  planner_->setEnabled(planner_->count() > 0);
}

// What goes over a planner's result, one box each: "SFB".
void HeaderBar::fill_refiners() {
  for (const PluginInfo& refiner : session_.plugins().list(PluginKind::Refiner)) {
    auto* box = new QCheckBox(text(refiner.name).toUpper(), this);
    box->setToolTip(
        refiner.name == "sfb"
            ? QStringLiteral("Duplicate small factors (SFB): devices exchange the "
                             "factors of a gradient where that is less than the gradient")
            : text(refiner.summary));
    refiners_.emplace_back(text(refiner.name), box);
  }
}

QString HeaderBar::planner() const {
  QString name = planner_->currentText();
  for (const auto& [refiner, box] : refiners_) {
    if (box->isChecked()) name += QLatin1Char('+') + refiner;
  }
  return name;
}

void HeaderBar::continue_with_edits() {
  const PlannerOptions more = planner_options();
  session_.continue_with_edits(&more);
}

PlannerOptions HeaderBar::planner_options() const {
  PlannerOptions options;
  parse_budget(budget_->currentText(), options);
  return options;
}

void HeaderBar::search_or_pause() {
  switch (session_.search().state) {
    case SearchState::Running:
      session_.pause_search();
      break;
    case SearchState::Paused:
      session_.continue_search();
      break;
    case SearchState::Idle: {
      PlannerOptions options;
      if (!parse_budget(budget_->currentText(), options)) {
        emit session_.message(
            QStringLiteral("Write the budget as \"800 iterations\", \"30 s\" or \"2 min\""));
        budget_->setFocus();
        return;
      }
      session_.start_search(planner(), options);
    }
  }
}

void HeaderBar::build_model_menu() {
  QMenu& menu = *model_->menu();
  menu.clear();
  menu.addAction(QStringLiteral("Open model…"), this, &HeaderBar::open_model_wanted);
  add_samples(*menu.addMenu(QStringLiteral("Sample models")), "models", QStringLiteral("*.onnx"),
              *this);
  const ProblemOptions* options = session_.problem_options();
  if (!options || !session_.snapshot().problem) return;
  menu.addSeparator();
  const std::int64_t batch = session_.snapshot().problem->graph->batch();
  const auto reopen = [this](std::int64_t new_batch, const ProblemOptions& changed) {
    ImportOptions import;
    import.batch = new_batch;
    session_.reopen_model(import, changed);
  };
  QMenu* batches = menu.addMenu(QStringLiteral("Batch: %1").arg(batch));
  for (const int value : {8, 16, 32, 64, 96, 128, 256, 512}) {
    QAction* action = batches->addAction(QString::number(value), this,
                                         [=, this, o = *options] { reopen(value, o); });
    action->setCheckable(true);
    action->setChecked(value == batch);
  }
  batches->addAction(QStringLiteral("Other…"), this, [=, this, o = *options] {
    bool ok = false;
    const int value =
        QInputDialog::getInt(this, QStringLiteral("Batch"), QStringLiteral("Samples in one step"),
                             static_cast<int>(batch), 1, 1 << 20, 1, &ok);
    if (ok) reopen(value, o);
  });
  QMenu* optimizers =
      menu.addMenu(QStringLiteral("Optimizer: %1").arg(text(name_of(options->optimizer))));
  for (const Optimizer optimizer : {Optimizer::Sgd, Optimizer::Momentum, Optimizer::Adam}) {
    ProblemOptions changed = *options;
    changed.optimizer = optimizer;
    QAction* action =
        optimizers->addAction(text(name_of(optimizer)), this, [=] { reopen(batch, changed); });
    action->setCheckable(true);
    action->setChecked(optimizer == options->optimizer);
  }
  QMenu* groups =
      menu.addMenu(QStringLiteral("Op groups: at most %1").arg(options->grouping.max_groups));
  for (const int value : {10, 20, 40, 60, 100, 200}) {
    QAction* action =
        groups->addAction(QString::number(value), this, [=, this] { session_.regroup(value); });
    action->setCheckable(true);
    action->setChecked(value == options->grouping.max_groups);
  }
}

void HeaderBar::build_cluster_menu() {
  QMenu& menu = *cluster_->menu();
  menu.clear();
  menu.addAction(QStringLiteral("Open cluster…"), this, &HeaderBar::open_cluster_wanted);
  menu.addAction(QStringLiteral("Discover cluster…"), this, &HeaderBar::discover_wanted);
  menu.addSeparator();
  add_samples(menu, "clusters", QStringLiteral("*.json"), *this);
}

void HeaderBar::refresh() {
  error_text_.clear();
  refresh_names();
  refresh_vital_signs();
  refresh_search();
}

void HeaderBar::refresh_names() {
  const auto& problem = session_.snapshot().problem;
  const ProblemOptions* options = session_.problem_options();
  if (problem && options) {
    QString model =
        QStringLiteral("%1 · batch %2").arg(session_.model_name()).arg(problem->graph->batch());
    if (options->training) {
      QString optimizer = text(name_of(options->optimizer));
      optimizer[0] = optimizer[0].toUpper();
      model += QStringLiteral(" · ") + optimizer;
    }
    model_->setText(chooser_text(model));
  } else {
    model_->setText(chooser_text(QStringLiteral("No model")));
  }
  QString cluster = session_.cluster_name();
  if (problem) {
    const std::size_t devices = problem->cluster->device_count();
    cluster += QStringLiteral(" · ");
    cluster += devices == 1 ? tr("1 device") : tr("%1 devices").arg(devices);
  }
  cluster_->setText(chooser_text(cluster.isEmpty() ? QStringLiteral("No cluster") : cluster));
  const QString label = session_.snapshot().label;
  strategy_->setText(label.isEmpty() ? QString() : QStringLiteral("Strategy: %1").arg(label));
  strategy_->setToolTip(label);
}

QString HeaderBar::delta_text() const {
  const auto signs = vital_signs(session_.snapshot());
  if (!signs || !signs->delta) return {};
  const Nanos delta = *signs->delta;
  const bool dark = style::is_dark(palette());
  if (delta.value == 0) return muted(QStringLiteral("no change since the last step"), palette());
  const QString sign = delta.value > 0 ? QStringLiteral("+") : QStringLiteral("−");
  const QString value = QStringLiteral("%1%2 (%3)")
                            .arg(sign, style::time(Nanos(std::abs(delta.value))),
                                 style::signed_percent(signs->delta_fraction));
  const QColor better = style::kind_colour(TaskKind::Transfer, dark);
  return (delta.value < 0 ? coloured(value, better) : QStringLiteral("<b>%1</b>").arg(value)) +
         muted(QStringLiteral(" since the last change"), palette());
}

// How it was simulated, how sure it is, and where its costs come from.
QString HeaderBar::step_tip() const {
  const Snapshot& snapshot = session_.snapshot();
  const Simulation& simulation = session_.simulation();
  QStringList lines = {
      QStringLiteral("Simulated time of one training step; %1, %2 links")
          .arg(simulation.order == TaskOrder::Priority ? QStringLiteral("by priority")
                                                       : QStringLiteral("first in, first out"),
               simulation.fair_links ? QStringLiteral("shared") : QStringLiteral("exclusive"))};
  if (snapshot.explanation) {
    const ErrorBar& error = snapshot.explanation->error;
    lines << QStringLiteral("%1 to %2 within one standard error")
                 .arg(style::time(error.low), style::time(error.high));
    lines << QStringLiteral("Costs on the critical path: %1 measured, %2 fitted, %3 analytic")
                 .arg(rounded_percent(error.profile), rounded_percent(error.fit),
                      rounded_percent(error.analytic));
  }
  const CostSources& costs = snapshot.costs;
  if (costs.profile) lines << QStringLiteral("Profile %1").arg(text(costs.profile->name));
  if (!snapshot.coverage.isEmpty()) lines << snapshot.coverage;
  lines << QStringLiteral("Calibration %1")
               .arg(text((costs.calibration ? *costs.calibration : Calibration::standard()).name));
  return lines.join(QLatin1Char('\n'));
}

void HeaderBar::refresh_vital_signs() {
  const Snapshot& snapshot = session_.snapshot();
  const auto signs = vital_signs(snapshot);
  for (QLabel* label : {step_, speedup_, bound_, memory_, delta_})
    label->setVisible(signs.has_value());
  if (!signs) return;
  const bool dark = style::is_dark(palette());
  const Cluster& cluster = *snapshot.problem->cluster;
  QString step = signs->feasible ? style::time(signs->step_time)
                                 : coloured(style::time(signs->step_time), style::infeasible(dark));
  if (signs->error) error_text_ = QStringLiteral("± ") + rounded_percent(signs->error->relative);
  if (!error_text_.isEmpty()) {  // the last one stays while the next is computed
    step += QStringLiteral(" <span style='font-size:%1pt; font-weight:400'>%2</span>")
                .arg(font().pointSizeF())
                .arg(muted(error_text_, palette()));
  }
  step_->setText(step);
  step_->setToolTip(step_tip());
  speedup_->setVisible(signs->speedup.has_value());
  if (signs->speedup) {
    speedup_->setText(
        QStringLiteral("<b>%1</b> ").arg(style::factor(*signs->speedup)) +
        muted(signs->baseline_feasible || !signs->feasible  // said once, at the memory
                  ? QStringLiteral("data parallel")
                  : QStringLiteral("data parallel, which does not fit"),
              palette()));
    speedup_->setToolTip(QStringLiteral("Data parallel with AllReduce on all devices takes %1%2")
                             .arg(style::time(snapshot.baseline->timeline->step_time),
                                  signs->baseline_feasible
                                      ? QString()
                                      : QStringLiteral(", and does not fit into memory")));
  }
  bound_->setVisible(signs->over_bound.has_value());
  if (signs->over_bound) {
    bound_->setText(muted(QStringLiteral("bound "), palette()) +
                    QStringLiteral("<b>%1</b> (%2)")
                        .arg(style::time(snapshot.lower_bound), style::factor(*signs->over_bound)));
    bound_->setToolTip(QStringLiteral("No strategy can be faster; the step takes %1 this bound")
                           .arg(style::factor(*signs->over_bound)));
  }
  const QString device = text(cluster.device(signs->worst.device).name);
  if (signs->feasible) {
    memory_->setText(
        muted(QStringLiteral("memory "), palette()) +
        QStringLiteral("<b>%1</b> of %2 ")
            .arg(style::bytes(signs->worst.peak), style::bytes(signs->worst.capacity)) +
        muted(QStringLiteral("on ") + device.toHtmlEscaped(), palette()));
  } else {
    memory_->setText(
        QStringLiteral("<a href='device:%1' style='color:%2'><b>%3</b></a>")
            .arg(signs->worst.device.value())
            .arg(style::infeasible(dark).name(), why_infeasible(*signs, cluster).toHtmlEscaped()));
  }
  memory_->setToolTip(QStringLiteral("The fullest device at its peak"));
  delta_->setText(delta_text());
}

void HeaderBar::follow_link(const QString& link) {
  const QString prefix = QStringLiteral("device:");
  if (!link.startsWith(prefix)) return;
  session_.selection().select_device(DeviceId(link.mid(prefix.size()).toUInt()));
}

void HeaderBar::refresh_search() {
  const SearchStatus& search = session_.search();
  const bool idle = search.state == SearchState::Idle;
  const bool ready = session_.snapshot().problem && planner_->count() > 0;
  main_->setText(idle                                   ? QStringLiteral("Search")
                 : search.state == SearchState::Running ? QStringLiteral("Pause")
                                                        : QStringLiteral("Continue"));
  main_->setEnabled(ready);
  const auto edits = edits_to_pin(session_.snapshot());
  second_->setText(!idle        ? QStringLiteral("Stop")
                   : edits == 0 ? QStringLiteral("Continue")
                                : QStringLiteral("Continue, edits pinned"));
  second_->setVisible(!idle || search.can_continue);
  second_->setToolTip(
      !idle        ? QStringLiteral("Stops and keeps the best so far")
      : edits == 0 ? QStringLiteral("Goes on in the tree of %1").arg(search.run)
                   : QStringLiteral("Goes on in the tree of %1 and keeps to what you decided for "
                                    "%2 (Ctrl+F5 goes on without)")
                         .arg(search.run, edits == 1 ? QStringLiteral("one group")
                                                     : QStringLiteral("%1 groups").arg(edits)));
  planner_->setEnabled(idle && planner_->count() > 0);
  for (const auto& [name, box] : refiners_) box->setEnabled(idle);
  budget_->setEnabled(idle);
}

void HeaderBar::changeEvent(QEvent* event) {
  if (event->type() == QEvent::PaletteChange) refresh_vital_signs();
  QWidget::changeEvent(event);
}

}  // namespace strato
