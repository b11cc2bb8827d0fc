// What a search can be asked for beside its budget: the seed, and a row for each option that the
// planner and its refiners have, made from their own help. An empty field means the default. What
// is chosen is kept by planner, so that trying another one loses nothing. GUI thread only.
#pragma once

#include <QFrame>
#include <QFutureWatcher>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/search/api/planner.h"

class QCheckBox;
class QFormLayout;
class QLabel;
class QPushButton;
class QSpinBox;

namespace strato {

class OptionsForm : public QFrame {
  Q_OBJECT
 public:
  using Settings = std::map<std::string, std::string>;
  // What the planner can be asked for; runs on another thread, since it may load a library. May
  // throw InputError.
  using Load = std::function<std::vector<OptionHelp>(const std::string& planner)>;
  explicit OptionsForm(Load load, QWidget* parent = nullptr);
  ~OptionsForm() override;  // waits for a load

  void show_planner(const QString& planner);           // "tag+sfb"
  bool loading() const { return loads_.has_value(); }  // until the rows are there

  // Into the options of a search by this planner: what differs from the defaults.
  void fill(const QString& planner, PlannerOptions& options) const;
  int changes(const QString& planner) const;          // how many differ
  QString description(const QString& planner) const;  // "sfb=false, seed=7"; empty: none

 signals:
  void changed();

 private:
  void build();
  void load();
  void take_loaded();
  void show_rows(const std::vector<OptionHelp>& options);
  void add_row(const OptionHelp& option);
  void choose(const std::string& name, const QString& value);
  void reset();
  void clear_rows();

  const Load load_;
  QFutureWatcher<std::pair<std::vector<OptionHelp>, QString>> loading_;  // or why not
  std::optional<QString> loads_;  // the planner that it loads, until its result was taken
  QString planner_;               // that the rows are of
  std::map<QString, Settings> chosen_;
  QLabel *title_, *note_;
  QSpinBox* seed_;
  QCheckBox* floor_;
  QWidget* body_;
  QFormLayout* rows_;
  QPushButton* reset_;
};

}  // namespace strato
