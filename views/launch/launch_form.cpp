#include "views/launch/launch_form.h"

#include <QComboBox>
#include <QDoubleValidator>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QScrollArea>
#include <QSpinBox>

#include "core/base/error.h"
#include "views/style/style.h"
#include "views/style/wrap_layout.h"

namespace strato {
namespace {

QSpinBox* number(int least, int most, int value, const QString& tip, QWidget* parent) {
  auto* box = new QSpinBox(parent);
  box->setRange(least, most);
  box->setValue(value);
  box->setToolTip(tip);
  box->setGroupSeparatorShown(false);
  return box;
}

}  // namespace

LaunchOffer LaunchOffer::of(const PluginRegistry& plugins) {
  return {plugins.list(PluginKind::Launcher), plugins.list(PluginKind::Engine),
          plugins.list(PluginKind::Transport)};
}

LaunchForm::LaunchForm(const LaunchOffer& offer, LauncherFactory make, bool cuda, QWidget* parent)
    : QWidget(parent),
      make_(std::move(make)),
      launcher_(make_choice(offer.launchers, tr("Launcher"))),
      engine_(make_choice(offer.engines, tr("Engine"))),
      transport_(make_choice(offer.transports, tr("Transport"))),
      device_(new QComboBox(this)),
      settings_(new QWidget) {
  device_->addItems({QStringLiteral("cpu"), QStringLiteral("cuda")});
  device_->setCurrentIndex(cuda ? 1 : 0);
  device_->setToolTip(tr("Where the ranks keep their buffers and compute"));
  device_->setAccessibleName(tr("Device"));
  if (const int replay = engine_->findText(QStringLiteral("replay")); replay >= 0 && !cuda)
    engine_->setCurrentIndex(replay);
  if (const int local = launcher_->findText(QStringLiteral("local")); local >= 0)
    launcher_->setCurrentIndex(local);
  if (const int gloo = transport_->findText(QStringLiteral("gloo")); gloo >= 0 && !cuda)
    transport_->setCurrentIndex(gloo);
  build_row();
  build_settings();
  for (QComboBox* box : {launcher_, engine_, transport_, device_})
    connect(box, &QComboBox::currentIndexChanged, this, &LaunchForm::changed);
  connect(launcher_, &QComboBox::currentIndexChanged, this, &LaunchForm::fill_launcher_settings);
  connect(threads_, &QSpinBox::valueChanged, this, &LaunchForm::changed);
  fill_launcher_settings();
}

QComboBox* LaunchForm::make_choice(const std::vector<PluginInfo>& plugins, const QString& name) {
  auto* box = new QComboBox(this);
  for (const PluginInfo& plugin : plugins) {
    box->addItem(QString::fromStdString(plugin.name));
    box->setItemData(box->count() - 1, QString::fromStdString(plugin.summary), Qt::ToolTipRole);
  }
  box->setMinimumWidth(fontMetrics().averageCharWidth() * 9);
  box->setAccessibleName(name);
  box->setToolTip(name);
  return box;
}

void LaunchForm::build_row() {
  steps_ = number(1, 1'000'000, 5, tr("Training steps"), this);
  auto* row = new style::WrapLayout(this);
  const auto add = [&](const QString& text, QWidget* widget) {
    auto* pair = new QWidget(this);
    auto* label = new QLabel(text, pair);
    label->setBuddy(widget);
    auto* together = new QHBoxLayout(pair);
    together->setContentsMargins(0, 0, 0, 0);
    together->setSpacing(style::kGrid);
    together->addWidget(label);
    together->addWidget(widget);
    row->addWidget(pair);
  };
  add(tr("&Launcher"), launcher_);
  add(tr("En&gine"), engine_);
  add(tr("&Transport"), transport_);
  add(tr("&on"), device_);
  add(tr("Ste&ps"), steps_);
}

void LaunchForm::build_settings() {
  warm_up_ = number(0, 1000, 1, tr("First steps that the step time leaves out"), settings_);
  threads_ = number(1, 1024, 1, tr("Of the CPU, for one op"), settings_);
  timeout_ = number(1, 86'400, 60, tr("A rank without progress for so long is hung"), settings_);
  timeout_->setSuffix(tr(" s"));
  seed_ = number(0, 1'000'000'000, 1, tr("Of parameters and synthetic inputs"), settings_);
  learning_rate_ = new QLineEdit(settings_);
  learning_rate_->setPlaceholderText(tr("0.01, of Adam 0.001"));
  auto* validator = new QDoubleValidator(0, 1e6, 12, learning_rate_);
  validator->setLocale(QLocale::c());
  learning_rate_->setValidator(validator);
  folder_ = new QLineEdit(settings_);
  folder_->setPlaceholderText(tr("A temporary one; nodes of a cluster must see it"));
  for (QSpinBox* box : {warm_up_, threads_, timeout_, seed_})
    box->setMaximumWidth(fontMetrics().horizontalAdvance(QLatin1Char('0')) * 16);
  auto* body = new QWidget;
  auto* rows = new QFormLayout(body);
  rows->setContentsMargins(2 * style::kGrid, 2 * style::kGrid, 2 * style::kGrid, 2 * style::kGrid);
  rows->setHorizontalSpacing(3 * style::kGrid);
  rows->setVerticalSpacing(style::kGrid);
  rows->addRow(tr("Warm-up steps"), warm_up_);
  rows->addRow(tr("Threads of a rank"), threads_);
  rows->addRow(tr("Timeout"), timeout_);
  rows->addRow(tr("Seed"), seed_);
  rows->addRow(tr("Learning rate"), learning_rate_);
  rows->addRow(tr("Folder of the job"), folder_);
  launcher_settings_.emplace(rows);
  auto* area = new QScrollArea(settings_);
  area->setWidget(body);
  area->setWidgetResizable(true);
  area->setFrameShape(QFrame::NoFrame);
  auto* column = new QVBoxLayout(settings_);
  column->setContentsMargins(0, 0, 0, 0);
  column->addWidget(area);
}

void LaunchForm::fill_launcher_settings() {
  launcher_settings_->clear();
  if (launcher_->count() == 0) return;
  try {
    const auto launcher = make_(launcher_->currentText().toStdString());
    launcher_settings_->show(*launcher, [](const std::string& name, const std::string& meaning) {
      return QString::fromStdString(meaning.empty() ? name : meaning);
    });
  } catch (const InputError& error) {
    emit failed(QString::fromUtf8(error.what()));
  }
}

LaunchChoice LaunchForm::choice() const {
  LaunchChoice choice;
  choice.launcher = launcher_->currentText().toStdString();
  choice.settings = launcher_settings_->values();
  JobOptions& options = choice.options;
  options.engine = engine_->currentText().toStdString();
  options.transport = transport_->currentText().toStdString();
  options.device = device_->currentText().toStdString();
  options.steps = steps_->value();
  options.warm_up = std::min(warm_up_->value(), options.steps - 1);
  options.threads = threads_->value();
  options.seed = static_cast<std::uint64_t>(seed_->value());
  options.timeout = std::chrono::seconds(timeout_->value());
  bool is_number = false;
  const double rate = QLocale::c().toDouble(learning_rate_->text(), &is_number);
  if (is_number) options.learning_rate = rate;
  choice.folder = folder_->text().trimmed().toStdString();
  return choice;
}

void LaunchForm::set_editable(bool on) {
  setEnabled(on);
  settings_->setEnabled(on);
}

void LaunchForm::choose(const std::string& launcher, const std::string& engine, int steps) {
  launcher_->setCurrentText(QString::fromStdString(launcher));
  engine_->setCurrentText(QString::fromStdString(engine));
  steps_->setValue(steps);
}

}  // namespace strato
