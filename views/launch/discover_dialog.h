// Asks how the machines of a cluster are reached, lets them tell what they have, and opens the
// cluster that they make. Stays open while it runs; the window can be used meanwhile.
#pragma once

#include <QDialog>
#include <optional>
#include <vector>

#include "views/launch/launcher_rows.h"
#include "views/models/discover_model.h"

class QCheckBox;
class QComboBox;
class QFormLayout;
class QLabel;
class QLineEdit;
class QProgressBar;
class QPushButton;
class QSpinBox;

namespace strato {

class DiscoverDialog : public QDialog {
  Q_OBJECT
 public:
  explicit DiscoverDialog(Session& session, QWidget* parent = nullptr);
  DiscoverDialog(Session& session, const std::vector<PluginInfo>& launchers, LauncherFactory make,
                 QWidget* parent = nullptr);
  DiscoverModel& model() { return *model_; }
  DiscoverChoice choice() const;
  void choose(const QString& launcher);

 protected:
  void changeEvent(QEvent* event) override;

 private:
  void build();
  void fill_settings();
  void start_or_cancel();
  void refresh();

  const LauncherFactory make_;
  DiscoverModel* model_;
  QFormLayout* form_;
  QComboBox* launcher_;
  QLineEdit* name_;
  QSpinBox* cpu_devices_;
  QCheckBox* measure_;
  QLabel* status_;
  QProgressBar* progress_;
  QPushButton *start_, *close_;
  std::optional<LauncherRows> settings_;  // as soon as the form is there
};

}  // namespace strato
