#include "views/launch/launcher_rows.h"

#include <QFormLayout>
#include <QLineEdit>

#include "views/style/text.h"

namespace strato {
namespace {

// "gpus-per-task" -> "Gpus per task"
QString label_of(const std::string& setting) {
  QString label = text(setting);
  label.replace(QLatin1Char('_'), QLatin1Char(' ')).replace(QLatin1Char('-'), QLatin1Char(' '));
  if (!label.isEmpty()) label[0] = label[0].toUpper();
  return label;
}

}  // namespace

LauncherRows::LauncherRows(QFormLayout* form) : form_(form), own_(form->rowCount()) {}

void LauncherRows::clear() {
  while (form_->rowCount() > own_) form_->removeRow(own_);
  rows_.clear();
}

void LauncherRows::show(const Launcher& launcher, const Hint& hint) {
  clear();
  for (const auto& [name, meaning] : launcher.settings()) {
    const QString said = hint(name, meaning);
    if (said.isEmpty()) continue;
    auto* value = new QLineEdit;
    value->setPlaceholderText(said);
    value->setToolTip(said);
    form_->addRow(label_of(name), value);
    rows_.push_back({name, value});
  }
}

std::map<std::string, std::string> LauncherRows::values() const {
  std::map<std::string, std::string> values;
  for (const Row& row : rows_) {
    const QString value = row.value->text().trimmed();
    if (!value.isEmpty()) values[row.name] = value.toStdString();
  }
  return values;
}

}  // namespace strato
