#include "app/explorer/vital_signs_row.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>

#include "core/cost/model/measured_cost_model.h"
#include "core/cost/value/calibration.h"
#include "core/cost/value/profile.h"
#include "core/sim/explain/error_bar.h"
#include "views/models/explanation.h"
#include "views/style/stacking.h"
#include "views/style/style.h"
#include "views/style/text.h"

namespace strato {
namespace {

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

}  // namespace

VitalSignsRow::VitalSignsRow(Session& session, QWidget* parent)
    : QWidget(parent),
      session_(session),
      step_(make_sign(this)),
      speedup_(make_sign(this)),
      bound_(make_sign(this)),
      memory_(make_sign(this)),
      delta_(make_sign(this)) {
  QFont large = step_->font();
  large.setPointSizeF(large.pointSizeF() * 1.6);
  large.setWeight(QFont::DemiBold);
  step_->setFont(large);
  auto* row = new QHBoxLayout;
  row->setSpacing(6 * style::kGrid);
  for (QLabel* label : {step_, speedup_, bound_, memory_})
    row->addWidget(label, 0, Qt::AlignBaseline);
  row->addStretch(1);
  lines_ = new QBoxLayout(QBoxLayout::LeftToRight, this);
  lines_->setContentsMargins(0, 0, 0, 0);
  lines_->setSpacing(style::kGrid);
  lines_->addLayout(row, 1);
  lines_->addWidget(delta_);
  connect(&session_, &Session::problem_changed, this, [this] {
    error_text_.clear();
    refresh();
  });
  connect(&session_, &Session::outcome_changed, this, &VitalSignsRow::refresh);
  connect(&session_, &Session::explanation_changed, this, &VitalSignsRow::refresh);
  connect(memory_, &QLabel::linkActivated, this, &VitalSignsRow::follow_link);
  refresh();
}

QSize VitalSignsRow::minimumSizeHint() const {
  return {stacked_width(*lines_), QWidget::minimumSizeHint().height()};
}

void VitalSignsRow::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  stack_where_narrow();
}

void VitalSignsRow::stack_where_narrow() {
  if (stack(*lines_, width() < unstacked_width(*lines_))) updateGeometry();
}

void VitalSignsRow::refresh() {
  const auto signs = vital_signs(session_.snapshot());
  for (QLabel* label : {step_, speedup_, bound_, memory_, delta_})
    label->setVisible(signs.has_value());
  if (!signs) return;
  show_step(*signs);
  show_speedup(*signs);
  show_bound(*signs);
  show_memory(*signs);
  delta_->setText(delta_text(*signs));
  delta_->setVisible(!delta_->text().isEmpty());
  stack_where_narrow();
}

void VitalSignsRow::show_step(const VitalSigns& signs) {
  QString step = style::time(signs.step_time);
  if (!signs.feasible) step = coloured(step, style::infeasible(style::is_dark(palette())));
  if (signs.error) error_text_ = QStringLiteral("± ") + rounded_percent(signs.error->relative);
  if (!error_text_.isEmpty()) {
    step += QStringLiteral(" <span style='font-size:%1pt; font-weight:400'>%2</span>")
                .arg(font().pointSizeF())
                .arg(muted(error_text_, palette()));
  }
  step_->setText(step);
  step_->setToolTip(step_tip());
}

void VitalSignsRow::show_speedup(const VitalSigns& signs) {
  speedup_->setVisible(signs.speedup.has_value());
  if (!signs.speedup) return;
  speedup_->setText(QStringLiteral("<b>%1</b> ").arg(style::factor(*signs.speedup)) +
                    muted(signs.baseline_feasible || !signs.feasible  // said once, at the memory
                              ? tr("data parallel")
                              : tr("data parallel, which does not fit"),
                          palette()));
  speedup_->setToolTip(
      tr("Data parallel with AllReduce on all devices takes %1%2")
          .arg(style::time(session_.snapshot().baseline->timeline->step_time),
               signs.baseline_feasible ? QString() : tr(", and does not fit into memory")));
}

void VitalSignsRow::show_bound(const VitalSigns& signs) {
  bound_->setVisible(signs.over_bound.has_value());
  if (!signs.over_bound) return;
  const QString factor = style::factor(*signs.over_bound);
  bound_->setText(
      muted(tr("bound "), palette()) +
      QStringLiteral("<b>%1</b> (%2)").arg(style::time(session_.snapshot().lower_bound), factor));
  bound_->setToolTip(tr("No strategy can be faster; the step takes %1 this bound").arg(factor));
}

void VitalSignsRow::show_memory(const VitalSigns& signs) {
  const Cluster& cluster = *session_.snapshot().problem->cluster;
  memory_->setToolTip(tr("The fullest device at its peak"));
  if (!signs.feasible) {
    memory_->setText(QStringLiteral("<a href='device:%1' style='color:%2'><b>%3</b></a>")
                         .arg(signs.worst.device.value())
                         .arg(style::infeasible(style::is_dark(palette())).name(),
                              why_infeasible(signs, cluster).toHtmlEscaped()));
    return;
  }
  const QString device = text(cluster.device(signs.worst.device).name);
  memory_->setText(muted(tr("memory "), palette()) +
                   QStringLiteral("<b>%1</b> of %2 ")
                       .arg(style::bytes(signs.worst.peak), style::bytes(signs.worst.capacity)) +
                   muted(tr("on ") + device.toHtmlEscaped(), palette()));
}

QString VitalSignsRow::delta_text(const VitalSigns& signs) const {
  if (!signs.delta) return {};
  const Nanos delta = *signs.delta;
  if (delta.value == 0) return muted(tr("no change since the last step"), palette());
  const QString sign = delta.value > 0 ? QStringLiteral("+") : QStringLiteral("−");
  const QString value = QStringLiteral("%1%2 (%3)")
                            .arg(sign, style::time(Nanos(std::abs(delta.value))),
                                 style::signed_percent(signs.delta_fraction));
  const QColor better = style::kind_colour(TaskKind::Transfer, style::is_dark(palette()));
  return (delta.value < 0 ? coloured(value, better) : QStringLiteral("<b>%1</b>").arg(value)) +
         muted(tr(" since the last change"), palette());
}

// How it was simulated, how sure it is, and where its costs come from.
QString VitalSignsRow::step_tip() const {
  const Snapshot& snapshot = session_.snapshot();
  const Simulation& simulation = session_.simulation();
  QStringList lines = {tr("Simulated time of one training step; %1, %2 links")
                           .arg(simulation.order == TaskOrder::Priority ? tr("by priority")
                                                                        : tr("first in, first out"),
                                simulation.fair_links ? tr("shared") : tr("exclusive"))};
  if (snapshot.explanation) {
    const ErrorBar& error = snapshot.explanation->error;
    lines << tr("%1 to %2 within one standard error")
                 .arg(style::time(error.low), style::time(error.high));
    lines << tr("Costs on the critical path: %1 measured, %2 fitted, %3 analytic")
                 .arg(rounded_percent(error.profile), rounded_percent(error.fit),
                      rounded_percent(error.analytic));
  }
  const CostSources& costs = snapshot.costs;
  if (costs.profile) lines << tr("Profile %1").arg(text(costs.profile->name));
  if (!snapshot.coverage.isEmpty()) lines << snapshot.coverage;
  lines << tr("Calibration %1")
               .arg(text((costs.calibration ? *costs.calibration : Calibration::standard()).name));
  return lines.join(QLatin1Char('\n'));
}

void VitalSignsRow::follow_link(const QString& link) {
  const QString prefix = QStringLiteral("device:");
  if (!link.startsWith(prefix)) return;
  session_.selection().select_device(DeviceId(link.mid(prefix.size()).toUInt()));
}

void VitalSignsRow::changeEvent(QEvent* event) {
  if (event->type() == QEvent::PaletteChange) refresh();
  QWidget::changeEvent(event);
}

}  // namespace strato
