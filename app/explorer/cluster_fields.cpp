#include "app/explorer/cluster_fields.h"

#include <QCollator>
#include <QComboBox>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QVBoxLayout>
#include <algorithm>
#include <vector>

#include "core/base/error.h"
#include "core/io/samples.h"
#include "views/style/style.h"
#include "views/style/text.h"

namespace strato {
namespace {

constexpr int kMostInAField = 1'000'000;  // more than a cluster may have: the note says so then

QSpinBox* make_count(int value, const QString& name, QWidget* parent) {
  auto* box = new QSpinBox(parent);
  box->setRange(1, kMostInAField);
  box->setValue(value);
  box->setAccessibleName(name);
  box->setToolTip(name);
  return box;
}

QComboBox* make_choice(const QString& name, QWidget* parent) {
  auto* box = new QComboBox(parent);
  box->setAccessibleName(name);
  box->setToolTip(name);
  box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  box->setMinimumContentsLength(12);
  return box;
}

}  // namespace

ClusterFields::ClusterFields(QWidget* parent)
    : QWidget(parent),
      machines_(make_count(8, tr("Machines"), this)),
      gpus_(make_count(8, tr("GPUs of each machine"), this)),
      gpu_(make_choice(tr("GPU"), this)),
      network_(make_choice(tr("Network"), this)),
      name_(new QLineEdit(this)),
      note_(new QLabel(this)) {
  machines_->setObjectName(QStringLiteral("machines"));
  gpus_->setObjectName(QStringLiteral("gpus"));
  gpu_->setObjectName(QStringLiteral("gpu"));
  network_->setObjectName(QStringLiteral("network"));
  name_->setObjectName(QStringLiteral("cluster-name"));
  note_->setObjectName(QStringLiteral("cluster-note"));
  fill_gpus();
  for (const NetworkKind& kind : network_kinds()) network_->addItem(text(kind.words));
  build();
  for (QSpinBox* box : {machines_, gpus_})
    connect(box, &QSpinBox::valueChanged, this, &ClusterFields::take_fields);
  connect(gpu_, &QComboBox::currentIndexChanged, this, &ClusterFields::take_gpu);
  connect(network_, &QComboBox::currentIndexChanged, this, &ClusterFields::take_fields);
  connect(name_, &QLineEdit::textChanged, this, &ClusterFields::take_name);
  set_cluster(QStringLiteral("h100-8x8"));
}

void ClusterFields::build() {
  name_->setAccessibleName(tr("Name of the cluster"));
  name_->setPlaceholderText(tr("h100-8x8, a sample's name, or a file"));
  name_->setToolTip(
      tr("The fields make this name, as the command line takes it. Write another one: of equal "
         "machines (a100-80gb-4x8-100GbE), of a sample (tag-testbed), or a file."));
  note_->setWordWrap(true);
  note_->setTextFormat(Qt::PlainText);
  auto* gpus = new QHBoxLayout;
  gpus->setSpacing(2 * style::kGrid);
  gpus->addWidget(machines_, 2);
  gpus->addWidget(new QLabel(QStringLiteral("×"), this));
  gpus->addWidget(gpus_, 2);
  gpus->addWidget(gpu_, 3);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(2 * style::kGrid);
  column->addLayout(gpus);
  column->addWidget(network_);
  column->addWidget(name_);
  column->addWidget(note_);
}

void ClusterFields::fill_gpus() {
  std::vector<const GpuType*> types;
  for (const GpuType& gpu : GpuCatalogue::bundled().gpus()) types.push_back(&gpu);
  QCollator order;
  order.setNumericMode(true);
  std::ranges::sort(types, [&](const GpuType* a, const GpuType* b) {
    return order.compare(text(short_name_of(*a)), text(short_name_of(*b))) < 0;
  });
  for (const GpuType* gpu : types) {
    gpu_->addItem(text(short_name_of(*gpu)), text(gpu->name));
    gpu_->setItemData(gpu_->count() - 1, text(gpu->name), Qt::ToolTipRole);
  }
}

EqualMachines ClusterFields::in_fields() const {
  return {gpu_->currentData().toString().toStdString(), machines_->value(), gpus_->value(),
          static_cast<std::size_t>(network_->currentIndex())};
}

void ClusterFields::show_in_fields(const EqualMachines& machines) {
  const QSignalBlocker quiet[] = {QSignalBlocker(machines_), QSignalBlocker(gpus_),
                                  QSignalBlocker(gpu_), QSignalBlocker(network_)};
  const auto in_range = [](std::int64_t value) {
    return static_cast<int>(std::clamp<std::int64_t>(value, 1, kMostInAField));
  };
  machines_->setValue(in_range(machines.machines));
  gpus_->setValue(in_range(machines.gpus));
  const GpuType* gpu = GpuCatalogue::bundled().find(machines.gpu);
  if (gpu == nullptr) return;
  gpu_->setCurrentIndex(gpu_->findData(text(gpu->name)));
  network_->setCurrentIndex(static_cast<int>(machines.network.value_or(usual_network_of(*gpu))));
}

// With the network that it is sold with, unless another one was wanted.
void ClusterFields::take_gpu() {
  EqualMachines machines = in_fields();
  if (const auto before = equal_machines_from(name_->text().toStdString());
      !before || !before->network)
    machines.network.reset();
  name_->setText(text(name_of(machines, GpuCatalogue::bundled())));
}

void ClusterFields::take_fields() {
  name_->setText(text(name_of(in_fields(), GpuCatalogue::bundled())));
}

void ClusterFields::take_name() {
  const std::string name = name_->text().trimmed().toStdString();
  cluster_.clear();
  devices_.reset();
  const std::filesystem::path path = sample_or_file(name, kClusters);
  const auto machines = equal_machines_from(name);
  if (machines) show_in_fields(*machines);
  if (QFileInfo(text(path.string())).isFile()) {
    cluster_ = text(path.string());
    if (machines) devices_ = machines->machines * machines->gpus;
    note_->setText(path.string() == name ? tr("This file.") : tr("The sample of this name."));
  } else if (machines && names_equal_machines(path)) {
    describe(*machines);
  } else if (name.empty()) {
    note_->setText(tr("Fill in the fields, or write the name of a cluster."));
  } else {
    note_->setText(
        tr("No cluster has this name: write GPU-MACHINESxGPUS, such as h100-8x8, the "
           "name of a sample, or a file."));
  }
  emit changed();
}

void ClusterFields::describe(const EqualMachines& machines) {
  const GpuCatalogue& catalogue = GpuCatalogue::bundled();
  try {
    equal_machines_cluster(machines, name_->text().trimmed().toStdString(),
                           catalogue);  // throws where there is no such cluster
    const GpuType& gpu = *catalogue.find(machines.gpu);
    const std::size_t network = machines.network.value_or(usual_network_of(gpu));
    devices_ = machines.machines * machines.gpus;
    cluster_ = name_->text().trimmed();
    const QString all = tr("%1 GPUs %2, %3 of memory in all")
                            .arg(QString::number(*devices_), text(gpu.name),
                                 style::bytes(Bytes(*devices_ * gpu.memory.value)));
    note_->setText(
        machines.machines == 1 ? all : tr("%1; %2").arg(all, text(network_kinds()[network].words)));
  } catch (const InputError& error) {
    note_->setText(text(error.what()));
  }
}

void ClusterFields::set_cluster(const QString& name) { name_->setText(name); }

void ClusterFields::set_size(std::optional<std::int64_t> machines,
                             std::optional<std::int64_t> gpus) {
  EqualMachines size = in_fields();
  size.machines = machines.value_or(size.machines);
  size.gpus = gpus.value_or(size.gpus);
  name_->setText(text(name_of(size, GpuCatalogue::bundled())));
}

void ClusterFields::focus_name() { name_->setFocus(); }

}  // namespace strato
