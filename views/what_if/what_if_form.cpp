#include "views/what_if/what_if_form.h"

#include <QGridLayout>
#include <QLabel>
#include <QPushButton>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QVBoxLayout>
#include <algorithm>

#include "views/style/style.h"
#include "views/style/text.h"
#include "views/what_if/factor_row.h"

namespace strato {
namespace {

constexpr int kMostMachines = 256;

struct AxisText {
  const char *name, *tip;
};

AxisText text_of(WhatIfAxis axis) {
  switch (axis) {
    case WhatIfAxis::Batch:
      return {"Batch", "Samples in one step, over all devices"};
    case WhatIfAxis::NetworkBandwidth:
      return {"Network", "Bandwidth between machines: their network cards and the switch"};
    case WhatIfAxis::MachineBandwidth:
      return {"Links in machines", "Bandwidth inside machines: NVLink, PCIe, host links"};
    case WhatIfAxis::Latency:
      return {"Latency", "Of all links"};
    case WhatIfAxis::Speed:
      return {"Device speed", "At × 2 every op takes half its time"};
    case WhatIfAxis::Memory:
      return {"Device memory", "What fits: the step time does not follow it"};
  }
  return {"", ""};
}

}  // namespace

WhatIfForm::WhatIfForm(Session& session, ProblemWhatIf& what_if, QWidget* parent)
    : QWidget(parent), session_(session), what_if_(what_if) {
  build();
  connect(&what_if_, &ProblemWhatIf::inputs_changed, this, &WhatIfForm::take_problem);
  take_problem();
}

void WhatIfForm::build() {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(3 * style::kGrid, 2 * style::kGrid, 2 * style::kGrid,
                             2 * style::kGrid);
  column->setSpacing(2 * style::kGrid);
  auto* grid = new QGridLayout;
  grid->setHorizontalSpacing(2 * style::kGrid);
  grid->setVerticalSpacing(style::kGrid);
  grid->setColumnStretch(1, 1);
  for (int i = 0; i < kWhatIfAxes; ++i) {
    const auto axis = static_cast<WhatIfAxis>(i);
    const AxisText text = text_of(axis);
    auto* row = new FactorRow(QString::fromUtf8(text.name), QString::fromUtf8(text.tip),
                              axis == WhatIfAxis::Batch, grid, this);
    rows_.push_back(row);
    connect(row, &FactorRow::moved, this, [this, axis](double value) {
      ProblemChange change = with_value(what_if_.change(), axis, value);
      const auto& problem = session_.snapshot().problem;
      if (problem && change.batch == problem->graph->batch()) change.batch.reset();
      what_if_.set_change(change);
      show_change();
    });
  }
  column->addLayout(grid);
  machines_ = new QWidget(this);
  new QGridLayout(machines_);
  machines_->layout()->setContentsMargins(0, 0, 0, 0);
  column->addWidget(machines_);
  reset_ = new QPushButton(tr("As it is"), this);
  reset_->setToolTip(tr("Takes all changes back"));
  connect(reset_, &QPushButton::clicked, this, [this] {
    what_if_.set_change({});
    show_change();
  });
  column->addWidget(reset_, 0, Qt::AlignLeft);
  column->addStretch();
}

QSpinBox* WhatIfForm::machines(const QString& kind) const {
  const auto found = counts_.find(kind);
  return found == counts_.end() ? nullptr : found->second;
}

void WhatIfForm::rebuild_machines() {
  for (QObject* child : QObjectList(machines_->children()))
    if (auto* widget = qobject_cast<QWidget*>(child)) delete widget;
  counts_.clear();
  auto* grid = static_cast<QGridLayout*>(machines_->layout());
  grid->setHorizontalSpacing(2 * style::kGrid);
  grid->setVerticalSpacing(style::kGrid);
  grid->setColumnStretch(0, 1);
  int line = 0;
  for (const MachineKind& kind : what_if_.kinds()) {
    const Cluster& cluster = *session_.snapshot().problem->cluster;
    const MachineId first = kind.machines.front();
    QStringList gpus;
    for (const DeviceGroup& group : cluster.groups())
      if (group.machine == first)
        gpus << QStringLiteral("%1 × %2")
                    .arg(group.devices.size())
                    .arg(text(cluster.gpu_types()[group.type].name));
    auto* label = new QLabel(tr("Machines %1").arg(text(kind.name)), machines_);
    auto* count = new QSpinBox(machines_);
    count->setRange(0, kMostMachines);
    count->setKeyboardTracking(false);
    count->setAlignment(Qt::AlignRight);
    count->setAccessibleName(label->text());
    const QString tip = tr("Each with %1. More take part where a group's batch is split over "
                           "devices; of fewer, the last ones go.")
                            .arg(gpus.join(QStringLiteral(", ")));
    label->setToolTip(tip);
    count->setToolTip(tip);
    label->setBuddy(count);
    grid->addWidget(label, line, 0);
    grid->addWidget(count, line++, 1);
    connect(count, &QSpinBox::valueChanged, this,
            [this, kind](int value) { set_machines(kind, value); });
    counts_[text(kind.name)] = count;
  }
}

void WhatIfForm::set_machines(const MachineKind& kind, int count) {
  ProblemChange change = what_if_.change();
  if (count == static_cast<int>(kind.machines.size())) {
    change.cluster.machines.erase(kind.name);
  } else {
    change.cluster.machines[kind.name] = count;
  }
  what_if_.set_change(change);
  show_change();
}

void WhatIfForm::take_problem() {
  const auto& problem = session_.snapshot().problem;
  setEnabled(problem != nullptr);
  if (problem) row(WhatIfAxis::Batch).set_today(static_cast<double>(problem->graph->batch()));
  rebuild_machines();
  show_change();
}

void WhatIfForm::show_change() {
  const auto& problem = session_.snapshot().problem;
  if (!problem) return;
  const ProblemChange& change = what_if_.change();
  for (int i = 0; i < kWhatIfAxes; ++i) {
    const auto axis = static_cast<WhatIfAxis>(i);
    const double value = value_of(change, axis, *problem);
    if (value != row(axis).value()) row(axis).show_value(value);
  }
  for (const MachineKind& kind : what_if_.kinds()) {
    QSpinBox* count = counts_.at(text(kind.name));
    const QSignalBlocker blocker(count);
    const auto wanted = change.cluster.machines.find(kind.name);
    count->setValue(wanted == change.cluster.machines.end() ? static_cast<int>(kind.machines.size())
                                                            : static_cast<int>(wanted->second));
  }
  reset_->setEnabled(change != ProblemChange());
}

}  // namespace strato
