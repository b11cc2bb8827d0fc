// What a launch is asked for: a row with what matters most, and a page with the rest, among it the
// settings that the chosen launcher understands.
#pragma once

#include <QWidget>
#include <optional>
#include <string>
#include <vector>

#include "core/plugin/load/plugin_registry.h"
#include "views/launch/launcher_rows.h"
#include "views/models/launch_run.h"

class QComboBox;
class QLineEdit;
class QSpinBox;

namespace strato {

// What there is to choose from.
struct LaunchOffer {
  std::vector<PluginInfo> launchers, engines, transports;
  static LaunchOffer of(const PluginRegistry& plugins);
};

class LaunchForm : public QWidget {
  Q_OBJECT
 public:
  // `cuda`: this machine has a GPU that CUDA can use.
  LaunchForm(const LaunchOffer& offer, LauncherFactory make, bool cuda, QWidget* parent = nullptr);

  LaunchChoice choice() const;
  QWidget* settings_page() { return settings_; }
  void set_editable(bool on);
  void choose(const std::string& launcher, const std::string& engine, int steps);

 signals:
  void changed();
  void failed(const QString& text);  // a launcher that cannot be loaded

 private:
  QComboBox* make_choice(const std::vector<PluginInfo>& plugins, const QString& name);
  void build_row();
  void build_settings();
  void fill_launcher_settings();

  const LauncherFactory make_;
  QComboBox *launcher_, *engine_, *transport_, *device_;
  QSpinBox *steps_, *warm_up_, *threads_, *timeout_, *seed_;
  QLineEdit *folder_, *learning_rate_;
  QWidget* settings_;
  std::optional<LauncherRows> launcher_settings_;  // as soon as the page is there
};

}  // namespace strato
