#include "views/what_if/what_if_form.h"

#include <QComboBox>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QVBoxLayout>
#include <algorithm>

#include "core/cluster/spec/gpu_catalogue.h"
#include "core/graph/build/copy_graph.h"
#include "views/style/elided_label.h"
#include "views/style/style.h"
#include "views/style/text.h"
#include "views/what_if/factor_row.h"

namespace strato {
namespace {

constexpr int kMostMachines = 256;

struct AxisText {
  QString name, tip;
};

AxisText text_of(WhatIfAxis axis) {
  const auto tr = [](const char* source) { return WhatIfForm::tr(source); };
  switch (axis) {
    case WhatIfAxis::Batch:
      return {tr("Batch"), tr("Samples in one step, over all devices")};
    case WhatIfAxis::NetworkBandwidth:
      return {tr("Network"), tr("Bandwidth between machines: their network cards and the switch")};
    case WhatIfAxis::MachineBandwidth:
      return {tr("Links in machines"), tr("Bandwidth inside machines: NVLink, PCIe, host links")};
    case WhatIfAxis::Latency:
      return {tr("Latency"), tr("Of all links")};
    case WhatIfAxis::Speed:
      return {tr("Device speed"), tr("At × 2 every op takes half its time")};
    case WhatIfAxis::Memory:
      return {tr("Device memory"), tr("What fits: the step time does not follow it")};
  }
  return {};
}

constexpr DataType kOffered[] = {DataType::F32, DataType::F16, DataType::BF16};

// "4 × V100-SXM2-32GB".
QString gpus_text(const Cluster& cluster, const MachineKind& kind) {
  QStringList gpus;
  for (const DeviceGroup& group : cluster.groups())
    if (group.machine == kind.machines.front())
      gpus << QStringLiteral("%1 × %2")
                  .arg(group.devices.size())
                  .arg(text(cluster.gpu_types()[group.type].name));
  return gpus.join(QStringLiteral(", "));
}

void show_data(QComboBox& box, const QVariant& data) {
  const QSignalBlocker blocker(box);
  box.setCurrentIndex(std::max(0, box.findData(data)));
}

}  // namespace

WhatIfForm::WhatIfForm(Session& session, ProblemWhatIf& what_if, QWidget* parent)
    : QWidget(parent), session_(session), what_if_(what_if) {
  build();
  connect(&what_if_, &ProblemWhatIf::inputs_changed, this, &WhatIfForm::take_problem);
  connect(&what_if_, &ProblemWhatIf::opening_changed, this, &WhatIfForm::show_change);
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
    auto* row = new FactorRow(text.name, text.tip, axis == WhatIfAxis::Batch, grid, this);
    rows_.push_back(row);
    connect(row, &FactorRow::moved, this, [this, axis](double value) {
      ProblemChange change = with_value(what_if_.change(), axis, value);
      const auto& problem = session_.snapshot().problem;
      if (problem && change.batch == problem->graph->batch()) change.batch.reset();
      change_to(change);
    });
  }
  build_precision(grid);
  column->addLayout(grid);
  machines_ = new QWidget(this);
  new QGridLayout(machines_);
  machines_->layout()->setContentsMargins(0, 0, 0, 0);
  column->addWidget(machines_);
  build_buttons();
  column->addStretch();
}

void WhatIfForm::build_precision(QGridLayout* grid) {
  precision_ = new QComboBox(this);
  precision_->setAccessibleName(tr("Precision"));
  auto* label = new QLabel(tr("&Precision"), this);
  label->setBuddy(precision_);
  const QString tip =
      tr("What everything is computed, kept and sent in, as if the model's file had it so: the "
         "state of the optimizer, too. A second copy of the weights in 32 bits is not counted.");
  label->setToolTip(tip);
  precision_->setToolTip(tip);
  const int line = grid->rowCount();
  grid->addWidget(label, line, 0);
  grid->addWidget(precision_, line, 1, 1, 2);
  connect(precision_, &QComboBox::activated, this, [this](int index) {
    ProblemChange change = what_if_.change();
    const QVariant data = precision_->itemData(index);
    change.precision.reset();
    if (data.isValid()) change.precision = static_cast<DataType>(data.toInt());
    change_to(change);
  });
}

void WhatIfForm::build_buttons() {
  reset_ = new QPushButton(tr("As It &Is"), this);
  reset_->setToolTip(tr("Takes all changes back"));
  save_ = new QPushButton(tr("Save &Cluster…"), this);
  save_->setToolTip(tr("The cluster with these changes, as a file"));
  go_on_ = new QPushButton(tr("A&dopt"), this);
  go_on_->setToolTip(
      tr("Opens the model and the cluster with these changes in all views, with this "
         "strategy, or the one that was planned anew where that is faster"));
  auto* buttons = new QHBoxLayout;
  buttons->setSpacing(2 * style::kGrid);
  buttons->addWidget(reset_);
  buttons->addWidget(save_);
  buttons->addStretch();
  auto* column = static_cast<QVBoxLayout*>(layout());
  column->addLayout(buttons);
  column->addWidget(go_on_, 0, Qt::AlignLeft);
  connect(reset_, &QPushButton::clicked, this, [this] { change_to({}); });
  connect(save_, &QPushButton::clicked, this, &WhatIfForm::save_wanted);
  connect(go_on_, &QPushButton::clicked, this, &WhatIfForm::go_on_wanted);
}

void WhatIfForm::change_to(const ProblemChange& change) {
  what_if_.set_change(change);
  show_change();
}

QComboBox* WhatIfForm::gpus(const QString& kind) const {
  const auto found = gpus_.find(kind);
  return found == gpus_.end() ? nullptr : found->second;
}

QSpinBox* WhatIfForm::machines(const QString& kind) const {
  const auto found = counts_.find(kind);
  return found == counts_.end() ? nullptr : found->second;
}

void WhatIfForm::rebuild_machines() {
  for (QObject* child : QObjectList(machines_->children()))
    if (auto* widget = qobject_cast<QWidget*>(child)) delete widget;
  counts_.clear();
  gpus_.clear();
  auto* grid = static_cast<QGridLayout*>(machines_->layout());
  grid->setHorizontalSpacing(2 * style::kGrid);
  grid->setVerticalSpacing(style::kGrid);
  grid->setColumnStretch(1, 1);
  int line = 0;
  auto* heading = new QLabel(tr("Machines"), machines_);
  heading->setVisible(!what_if_.kinds().empty());
  grid->addWidget(heading, line++, 0, 1, 3);
  for (const MachineKind& kind : what_if_.kinds()) {
    auto* label = new style::ElidedLabel(Qt::ElideMiddle, machines_, 8);
    label->setText(text(kind.name));
    label->setIndent(style::kGrid);
    QSpinBox* count = make_count(kind);
    QComboBox* gpus = make_gpus(kind);
    label->setToolTip(count->toolTip());
    label->setBuddy(count);
    grid->addWidget(label, line, 0);
    grid->addWidget(gpus, line, 1);
    grid->addWidget(count, line++, 2);
    counts_[text(kind.name)] = count;
    gpus_[text(kind.name)] = gpus;
  }
}

QSpinBox* WhatIfForm::make_count(const MachineKind& kind) {
  auto* count = new QSpinBox(machines_);
  count->setRange(0, kMostMachines);
  count->setKeyboardTracking(false);
  count->setAlignment(Qt::AlignRight);
  count->setAccessibleName(tr("Machines %1").arg(text(kind.name)));
  count->setToolTip(
      tr("Each with %1. More take part where a group's batch is split over devices; of fewer, the "
         "last ones go.")
          .arg(gpus_text(*session_.snapshot().problem->cluster, kind)));
  connect(count, &QSpinBox::valueChanged, this,
          [this, kind](int value) { set_machines(kind, value); });
  return count;
}

// The first one is what the machines have.
QComboBox* WhatIfForm::make_gpus(const MachineKind& kind) {
  auto* gpus = new QComboBox(machines_);
  gpus->addItem(gpus_text(*session_.snapshot().problem->cluster, kind));
  for (const GpuType& gpu : GpuCatalogue::bundled().gpus())
    gpus->addItem(text(gpu.name), text(gpu.name));
  gpus->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  constexpr qsizetype kMostLetters = 24;  // names of a cluster's file may be of any length
  gpus->setMinimumContentsLength(
      static_cast<int>(std::min(kMostLetters, gpus->itemText(0).size())));
  gpus->setAccessibleName(tr("GPUs of machines %1").arg(text(kind.name)));
  gpus->setToolTip(
      tr("Other GPUs in the same machines, on the same links. What such machines cost "
         "is not known."));
  connect(gpus, &QComboBox::activated, this,
          [this, kind, gpus](int index) { set_gpus(kind, gpus->itemData(index).toString()); });
  return gpus;
}

void WhatIfForm::set_gpus(const MachineKind& kind, const QString& gpu) {
  ProblemChange change = what_if_.change();
  if (gpu.isEmpty()) {
    change.cluster.gpus.erase(kind.name);
  } else {
    change.cluster.gpus[kind.name] = gpu.toStdString();
  }
  change_to(change);
}

void WhatIfForm::set_machines(const MachineKind& kind, int count) {
  ProblemChange change = what_if_.change();
  if (count == static_cast<int>(kind.machines.size())) {
    change.cluster.machines.erase(kind.name);
  } else {
    change.cluster.machines[kind.name] = count;
  }
  change_to(change);
}

void WhatIfForm::take_problem() {
  const auto& problem = session_.snapshot().problem;
  setEnabled(problem != nullptr);
  precision_->clear();
  if (problem) {
    const DataType own = precision_of(*problem->graph);
    precision_->addItem(tr("%1, as it is").arg(text(name_of(own))));
    for (const DataType type : kOffered)
      if (type != own) precision_->addItem(text(name_of(type)), static_cast<int>(type));
  }
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
    const auto gpu = change.cluster.gpus.find(kind.name);
    show_data(*gpus_.at(text(kind.name)),
              gpu == change.cluster.gpus.end() ? QVariant() : QVariant(text(gpu->second)));
  }
  show_data(*precision_,
            change.precision ? QVariant(static_cast<int>(*change.precision)) : QVariant());
  const bool changed = change != ProblemChange();
  reset_->setEnabled(changed);
  go_on_->setEnabled(changed && !what_if_.opening());
}

}  // namespace strato
