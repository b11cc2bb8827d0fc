#include "views/search/options_form.h"

#include <QCheckBox>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QSpinBox>
#include <QVBoxLayout>
#include <QtConcurrent>
#include <limits>

#include "core/base/error.h"
#include "views/models/background_pool.h"
#include "views/style/style.h"
#include "views/style/text.h"

namespace strato {
namespace {

constexpr int kDefaultSeed = 1;

bool is_switch(const OptionHelp& option) {
  return option.default_value == "true" || option.default_value == "false";
}

QLabel* help_label(const QString& help) {
  auto* label = new QLabel(help);
  label->setWordWrap(true);
  label->setTextFormat(Qt::PlainText);
  label->setForegroundRole(QPalette::PlaceholderText);
  return label;
}

}  // namespace

OptionsForm::OptionsForm(Load load, QWidget* parent)
    : QFrame(parent),
      load_(std::move(load)),
      title_(new QLabel(this)),
      note_(new QLabel(this)),
      seed_(new QSpinBox(this)),
      floor_(new QCheckBox(tr("Return a simple baseline where it is faster"), this)),
      body_(new QWidget),
      rows_(new QFormLayout(body_)),
      reset_(new QPushButton(tr("Reset to Defaults"), this)) {
  build();
  connect(seed_, &QSpinBox::valueChanged, this, &OptionsForm::changed);
  connect(floor_, &QCheckBox::toggled, this, &OptionsForm::changed);
  connect(reset_, &QPushButton::clicked, this, &OptionsForm::reset);
  connect(&loading_, &QFutureWatcherBase::finished, this, &OptionsForm::take_loaded);
}

OptionsForm::~OptionsForm() { loading_.waitForFinished(); }

void OptionsForm::build() {
  QFont strong = title_->font();
  strong.setWeight(QFont::DemiBold);
  title_->setFont(strong);
  note_->setWordWrap(true);
  seed_->setRange(0, std::numeric_limits<int>::max());
  seed_->setValue(kDefaultSeed);
  seed_->setToolTip(tr("The same seed gives the same result"));
  floor_->setChecked(true);
  floor_->setToolTip(tr("Without, you get the planner's own result, as in a study of its paper"));
  rows_->setContentsMargins(0, 0, style::kGrid, 0);
  rows_->setHorizontalSpacing(3 * style::kGrid);
  rows_->setVerticalSpacing(style::kGrid);
  rows_->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
  auto* area = new QScrollArea(this);
  area->setWidget(body_);
  area->setWidgetResizable(true);
  area->setFrameShape(QFrame::NoFrame);
  area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  auto* common = new QFormLayout;
  common->setHorizontalSpacing(3 * style::kGrid);
  common->addRow(tr("Seed"), seed_);
  common->addRow(floor_);
  auto* column = new QVBoxLayout(this);
  column->setSpacing(2 * style::kGrid);
  column->addWidget(title_);
  column->addLayout(common);
  column->addWidget(note_);
  column->addWidget(area, 1);
  column->addWidget(reset_, 0, Qt::AlignLeft);
}

void OptionsForm::show_planner(const QString& planner) {
  planner_ = planner;
  title_->setText(tr("Options of %1").arg(planner));
  clear_rows();
  note_->setText(tr("Loading…"));
  note_->show();
  if (!loading()) load();
}

void OptionsForm::load() {
  loads_ = planner_;
  const auto run = [load = load_, name = planner_.toStdString()] {
    try {
      return std::pair(load(name), QString());
    } catch (const InputError& error) {
      return std::pair(std::vector<OptionHelp>(), QString::fromUtf8(error.what()));
    }
  };
  loading_.setFuture(QtConcurrent::run(background_pool(), run));
}

void OptionsForm::take_loaded() {
  if (loads_ != planner_) return load();  // another was wanted meanwhile
  loads_.reset();
  const auto [options, problem] = loading_.result();
  note_->setText(problem.isEmpty() && options.empty() ? tr("It has no options of its own.")
                                                      : problem);
  note_->setVisible(!note_->text().isEmpty());
  show_rows(options);
}

void OptionsForm::clear_rows() {
  while (rows_->rowCount() > 0) rows_->removeRow(0);
}

void OptionsForm::show_rows(const std::vector<OptionHelp>& options) {
  clear_rows();
  for (const OptionHelp& option : options) add_row(option);
}

void OptionsForm::add_row(const OptionHelp& option) {
  const Settings& chosen = chosen_[planner_];
  const auto known = chosen.find(option.name);
  const QString value = known == chosen.end() ? QString() : text(known->second);
  QWidget* field = nullptr;
  if (is_switch(option)) {
    auto* box = new QCheckBox;
    const bool by_default = option.default_value == "true";
    box->setChecked(value.isEmpty() ? by_default : value == QLatin1String("true"));
    connect(box, &QCheckBox::toggled, this, [this, name = option.name, by_default](bool on) {
      choose(name, on == by_default ? QString() : QVariant(on).toString());
    });
    field = box;
  } else {
    auto* line = new QLineEdit(value);
    line->setPlaceholderText(option.default_value.empty() ? tr("none")
                                                          : text(option.default_value));
    connect(line, &QLineEdit::textChanged, this,
            [this, name = option.name](const QString& now) { choose(name, now.trimmed()); });
    field = line;
  }
  field->setObjectName(text(option.name));
  field->setToolTip(text(option.help));
  rows_->addRow(text(option.name), field);
  if (!option.help.empty()) rows_->addRow(QString(), help_label(text(option.help)));
}

void OptionsForm::choose(const std::string& name, const QString& value) {
  Settings& chosen = chosen_[planner_];
  if (value.isEmpty()) {
    chosen.erase(name);
  } else {
    chosen[name] = value.toStdString();
  }
  emit changed();
}

void OptionsForm::reset() {
  chosen_.erase(planner_);
  seed_->setValue(kDefaultSeed);
  floor_->setChecked(true);
  show_planner(planner_);
  emit changed();
}

void OptionsForm::fill(const QString& planner, PlannerOptions& options) const {
  options.seed = static_cast<std::uint64_t>(seed_->value());
  options.floor = floor_->isChecked();
  if (const auto chosen = chosen_.find(planner); chosen != chosen_.end())
    options.set = chosen->second;
}

int OptionsForm::changes(const QString& planner) const {
  const auto chosen = chosen_.find(planner);
  return (chosen == chosen_.end() ? 0 : static_cast<int>(chosen->second.size())) +
         (seed_->value() != kDefaultSeed) + !floor_->isChecked();
}

QString OptionsForm::description(const QString& planner) const {
  QStringList parts;
  if (const auto chosen = chosen_.find(planner); chosen != chosen_.end())
    for (const auto& [name, value] : chosen->second)
      parts << QStringLiteral("%1=%2").arg(text(name), text(value));
  if (seed_->value() != kDefaultSeed) parts << QStringLiteral("seed=%1").arg(seed_->value());
  if (!floor_->isChecked()) parts << tr("own result");
  return parts.join(QStringLiteral(", "));
}

}  // namespace strato
