// The two lines that never leave the screen. Above: the problem (model, cluster), the strategy, and
// the search. Below: the vital signs (step time, speed-up, bound, memory, what the last edit did).
#pragma once

#include <QWidget>
#include <optional>

#include "views/models/session.h"

class QBoxLayout;
class QCheckBox;
class QComboBox;
class QLabel;
class QPushButton;
class QToolButton;

namespace strato {

class OptionsForm;

class HeaderBar : public QWidget {
  Q_OBJECT
 public:
  explicit HeaderBar(Session& session, QWidget* parent = nullptr);

  QString planner() const;  // with the refiners that are switched on: "tag+sfb"
  PlannerOptions planner_options() const;
  QString budget() const;                // the last one that was written there
  void set_budget(const QString& text);  // nothing where it is none (see parse_budget)
  // For a search of its own; nothing, with a word about it, while the budget is none.
  std::optional<PlannerOptions> options_for(const QString& planner);
  void search_or_pause();  // what the main button says
  void continue_with_edits();
  void show_options();  // of the planner that is chosen
  QWidget* vital_signs() const { return vital_signs_; }
  QSize minimumSizeHint() const override;

 protected:
  void resizeEvent(QResizeEvent* event) override;

 signals:
  void open_model_wanted();
  void open_cluster_wanted();
  void discover_wanted();
  void sample_wanted(const QString& file);

 private:
  void build();
  QWidget* build_search_row();
  void fill_planners();
  void fill_refiners();
  void build_options();
  void refresh();
  void refresh_names();
  void offer_planner();
  void refresh_search();
  void refresh_options();

  Session& session_;
  QToolButton *model_, *cluster_;
  QLabel* strategy_;
  QComboBox *planner_, *budget_;
  bool planner_is_chosen_ = false;  // by a person
  QString last_budget_;             // of what was written in budget_, the last that is one
  std::vector<std::pair<QString, QCheckBox*>> refiners_;  // by name
  QToolButton* options_button_;
  OptionsForm* options_;  // in a popup of its own
  QPushButton *main_, *second_;
  QWidget* vital_signs_ = nullptr;
  QBoxLayout* above_ = nullptr;  // the problem, and the search: beside or below each other
};

}  // namespace strato
