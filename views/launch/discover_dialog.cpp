#include "views/launch/discover_dialog.h"

#include <QCheckBox>
#include <QComboBox>
#include <QEvent>
#include <QFileInfo>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QSpinBox>
#include <QVBoxLayout>

#include "core/base/error.h"
#include "views/style/style.h"
#include "views/style/text.h"

namespace strato {
namespace {

// Of all that a launcher understands: what finding its machines depends on.
QString hint_of(const std::string& setting, const std::string& meaning) {
  if (setting == "nodes") return DiscoverDialog::tr("How many machines to ask; else one");
  if (setting == "hostfile") return DiscoverDialog::tr("Hosts, one a line; else this machine");
  for (const char* name :
       {"partition", "account", "time", "gpus-per-task", "exclusive", "plm_rsh_agent", "interface"})
    if (setting == name) return text(meaning);
  return {};
}

}  // namespace

DiscoverDialog::DiscoverDialog(Session& session, QWidget* parent)
    : DiscoverDialog(
          session, session.plugins().list(PluginKind::Launcher),
          [&session](std::string_view name) { return session.plugins().launcher(name); }, parent) {}

DiscoverDialog::DiscoverDialog(Session& session, const std::vector<PluginInfo>& launchers,
                               LauncherFactory make, QWidget* parent)
    : QDialog(parent),
      make_(make),
      model_(new DiscoverModel(session, std::move(make), this)),
      form_(new QFormLayout),
      launcher_(new QComboBox(this)),
      name_(new QLineEdit(this)),
      cpu_devices_(new QSpinBox(this)),
      measure_(new QCheckBox(tr("&Measure bandwidth between the devices, too"), this)),
      status_(new QLabel(this)),
      progress_(new QProgressBar(this)),
      start_(new QPushButton(this)),
      close_(new QPushButton(tr("Clo&se"), this)) {
  setWindowTitle(tr("Discover Cluster"));
  for (const PluginInfo& launcher : launchers) {
    launcher_->addItem(text(launcher.name));
    launcher_->setItemData(launcher_->count() - 1, text(launcher.summary), Qt::ToolTipRole);
  }
  build();
  choose(QStringLiteral("local"));
  fill_settings();
  connect(launcher_, &QComboBox::currentIndexChanged, this, &DiscoverDialog::fill_settings);
  connect(start_, &QPushButton::clicked, this, &DiscoverDialog::start_or_cancel);
  connect(close_, &QPushButton::clicked, this, &QDialog::hide);
  connect(model_, &DiscoverModel::changed, this, &DiscoverDialog::refresh);
  refresh();
}

void DiscoverDialog::build() {
  name_->setPlaceholderText(tr("Named after the launcher and the day"));
  cpu_devices_->setRange(1, 256);
  cpu_devices_->setToolTip(tr("They share the machine's cores and memory"));
  form_->setHorizontalSpacing(3 * style::kGrid);
  form_->setVerticalSpacing(style::kGrid);
  form_->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
  form_->addRow(tr("&Launcher"), launcher_);
  form_->addRow(tr("&Name"), name_);
  form_->addRow(tr("Devices of a machine without GPUs"), cpu_devices_);
  form_->addRow(QString(), measure_);
  settings_.emplace(form_);
  status_->setWordWrap(true);
  status_->setTextFormat(Qt::PlainText);
  status_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  status_->setMinimumWidth(110 * fontMetrics().averageCharWidth() / 2);
  progress_->setRange(0, 0);
  progress_->setTextVisible(false);
  progress_->setFixedWidth(120);
  progress_->setMaximumHeight(fontMetrics().height() - 2);
  start_->setDefault(true);
  auto* buttons = new QHBoxLayout;
  buttons->setSpacing(2 * style::kGrid);
  buttons->addWidget(progress_);
  buttons->addStretch(1);
  buttons->addWidget(start_);
  buttons->addWidget(close_);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(4 * style::kGrid, 4 * style::kGrid, 4 * style::kGrid,
                             4 * style::kGrid);
  column->setSpacing(3 * style::kGrid);
  column->addLayout(form_);
  column->addWidget(status_, 1);
  column->addLayout(buttons);
}

void DiscoverDialog::choose(const QString& launcher) {
  if (const int index = launcher_->findText(launcher); index >= 0)
    launcher_->setCurrentIndex(index);
}

void DiscoverDialog::fill_settings() {
  settings_->clear();
  if (launcher_->count() == 0) return;
  try {
    settings_->show(*make_(launcher_->currentText().toStdString()), hint_of);
  } catch (const InputError& error) {
    status_->setText(QString::fromUtf8(error.what()));
  }
}

DiscoverChoice DiscoverDialog::choice() const {
  DiscoverChoice choice;
  choice.launcher = launcher_->currentText().toStdString();
  choice.settings = settings_->values();
  choice.name = name_->text().trimmed();
  choice.cpu_devices = cpu_devices_->value();
  choice.measure = measure_->isChecked();
  return choice;
}

void DiscoverDialog::start_or_cancel() {
  if (model_->running()) {
    model_->cancel();
    start_->setEnabled(false);
    status_->setText(tr("Cancelling…"));
    return;
  }
  model_->start(choice());
}

void DiscoverDialog::refresh() {
  using State = DiscoverModel::State;
  const bool running = model_->running();
  start_->setText(running ? tr("&Cancel") : tr("&Discover"));
  start_->setEnabled(launcher_->count() > 0);
  progress_->setVisible(running);
  for (int row = 0; row < form_->rowCount(); ++row) {
    if (QLayoutItem* field = form_->itemAt(row, QFormLayout::FieldRole))
      if (field->widget() != nullptr) field->widget()->setEnabled(!running);
  }
  QString said;
  switch (model_->state()) {
    case State::Idle:
      said = launcher_->count() > 0
                 ? tr("One process on each machine tells of its GPUs, cores, memory and networks.")
                 : tr("No launcher is installed.");
      break;
    case State::Running:
      said = model_->progress().isEmpty() ? tr("Starting…") : model_->progress() + tr("…");
      break;
    case State::Finished:
      said = (QStringList(tr("Opened %1").arg(model_->file())) + model_->remarks())
                 .join(QLatin1Char('\n'));
      break;
    case State::Failed:
      said = tr("Failed: %1").arg(model_->problem());
      break;
    case State::Cancelled:
      said = tr("Cancelled; no process is left.");
      break;
  }
  status_->setText(said);
  QPalette colours = palette();
  colours.setColor(QPalette::WindowText, model_->state() == State::Failed
                                             ? style::infeasible(style::is_dark(colours))
                                             : style::muted_text(colours));
  status_->setPalette(colours);
}

void DiscoverDialog::changeEvent(QEvent* event) {
  if (event->type() == QEvent::PaletteChange) refresh();
  QDialog::changeEvent(event);
}

}  // namespace strato
