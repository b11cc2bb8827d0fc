// What profilers recorded of a real run: where its time went on each rank, who is late, and how a
// step of it differs from the simulated one of the plan that is open.
#pragma once

#include <QWidget>

#include "views/models/session.h"
#include "views/timeline/latest_job.h"
#include "views/traces/range_figures.h"
#include "views/traces/step_beside.h"
#include "views/traces/traces_model.h"

class QCheckBox;
class QComboBox;
class QLabel;
class QListWidget;
class QProgressBar;
class QPushButton;
class QStackedWidget;
class QTabWidget;

namespace strato {

class LegendStrip;
class RecordedCanvas;
class Waterfall;

class TracesView : public QWidget {
  Q_OBJECT
 public:
  explicit TracesView(Session& session, QWidget* parent = nullptr);

  void open(const QString& path) { model_.open(path); }
  void choose_folder();  // asks for it
  void choose_file();
  TracesModel& model() { return model_; }
  RecordedCanvas& canvas() { return *canvas_; }
  QTabWidget& pages() { return *pages_; }
  FigureTable& ranks() { return *ranks_; }
  FigureTable& kernels() { return *kernels_; }
  FigureTable& communication() { return *communication_; }
  Waterfall& waterfall() { return *waterfall_; }
  QComboBox& steps() { return *steps_; }
  QCheckBox& beside() { return *beside_; }
  QString headline() const;
  QString sentence_beside() const;  // of the page beside the plan

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  struct Beside {
    std::shared_ptr<const Timeline> timeline;
    std::shared_ptr<const RecordedRun> run;
    std::vector<RankRow> rows;
    std::optional<PlanComparison> comparison;
  };
  QWidget* build_top();
  QWidget* build_reading();
  QWidget* build_empty();
  QWidget* build_content();
  QWidget* build_beside();
  void refresh();
  void refresh_progress();
  void show_run();
  void fill_steps();
  void show_timed(bool timed);
  void show_range();
  void take_step(int index);
  void ask_figures();
  void show_figures(const RangeFigures& figures);
  void ask_beside();
  void show_beside(const Beside& beside);
  void show_simulated();
  void show_chosen_rank();
  QString about_the_range() const;

  Session& session_;
  TracesModel model_;
  LatestJob<RangeFigures> figures_;
  LatestJob<std::shared_ptr<const Beside>> comparer_;
  std::shared_ptr<const RecordedRun> shown_;
  std::shared_ptr<const Beside> with_plan_;
  QLabel *headline_, *failure_, *reading_words_, *hint_, *range_, *sentence_;
  QComboBox* steps_;
  QPushButton* close_;
  QProgressBar* progress_;
  QWidget *top_, *reading_, *upper_ = nullptr;
  QStackedWidget* stack_;
  LegendStrip* legend_;
  RecordedCanvas* canvas_;
  QTabWidget* pages_;
  FigureTable *ranks_, *kernels_, *communication_;
  Waterfall* waterfall_;
  QCheckBox* beside_;
  QListWidget* notes_;
};

}  // namespace strato
