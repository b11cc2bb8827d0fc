// The rows of a form for the settings that a launcher understands: they come and go with the
// launcher that is chosen. Lives as long as the form's widget. GUI thread only.
#pragma once

#include <QString>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/plugin/api/launcher.h"

class QFormLayout;
class QLineEdit;

namespace strato {

class LauncherRows {
 public:
  // Below the rows that the form has by now.
  explicit LauncherRows(QFormLayout* form);

  // What stands in an empty field, of a setting's name and meaning; nothing: no row for it.
  using Hint = std::function<QString(const std::string& name, const std::string& meaning)>;
  // In place of the rows that are there.
  void show(const Launcher& launcher, const Hint& hint);
  void clear();
  std::map<std::string, std::string> values() const;  // without those that are empty

 private:
  struct Row {
    std::string name;
    QLineEdit* value;
  };
  QFormLayout* form_;
  int own_;  // rows that every launcher has
  std::vector<Row> rows_;
};

}  // namespace strato
