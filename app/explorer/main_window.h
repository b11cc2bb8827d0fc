// The main window: the header, the workspace at the left, the views in the centre with the timeline
// below, the inspector at the right. All of it shows one Session.
#pragma once

#include <QMainWindow>
#include <QPointer>
#include <memory>
#include <optional>

#include "app/explorer/plan_form.h"
#include "views/lessons/before_lessons.h"
#include "views/models/session.h"

class QActionGroup;
class QDockWidget;
class QLabel;
class QMessageBox;
class QProgressBar;
class QSettings;
class QStackedWidget;
class QTimer;
class QToolButton;

namespace strato {

class Centre;
class DiscoverDialog;
class GuideWindow;
class HeaderBar;
struct ImportOptions;
class LastWorkspace;
class LessonPanel;
class PlaceDocks;
class QueueView;
class RunQueue;
class SecondPlan;
class StartPage;
class TracesView;
class WindowStage;

class MainWindow : public QMainWindow {
  Q_OBJECT
 public:
  // `remembers`: window state and recent files are read from and written to the user's settings.
  MainWindow(Session& session, bool remembers);
  ~MainWindow() override;

  void open(const QStringList& files);
  void open(const QStringList& files, const ImportOptions& import);  // of the models among them
  void open_last();  // the workspace that was left, also by a crash; else the bundled one
  // Draws the window in this size and every view into `folder` as PNG files; false when one cannot
  // be written. Runs the event loop.
  bool capture(const QString& folder, const QSize& size = {1280, 800});

 protected:
  void closeEvent(QCloseEvent* event) override;
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void build_views();
  void build_docks();
  void build_status_bar();
  void build_menus();
  void build_file_menu();
  void build_export_menu(QMenu& menu);
  void build_edit_menu();
  void build_view_menu();
  void build_strategy_menu();
  void build_run_menu();
  void build_tournament_action(QMenu& menu);
  void build_queue();
  void add_to_queue(int seeds);
  void show_convergence(const std::vector<RunRow>& runs);
  void build_launch_action(QMenu& menu);
  void build_simulation_actions(QMenu& menu);
  void build_cost_actions(QMenu& menu);
  void build_window_menu();
  void build_help_menu();

  void choose_and_open(const QString& title, const QString& filter);
  void build_start_page();
  void show_start_page(bool shown);
  void open_from_start(const QStringList& files);
  void plan(const PlanWish& wish);
  void begin_planned();
  void discover_cluster();
  void export_plan();
  void export_with(const QString& exporter, const QString& suffix);
  void export_picture(bool svg);
  void show_palette();
  void show_guide();
  QString guide_page() const;
  void build_lessons();
  void show_lessons();
  void show_exercises();
  void open_lesson();
  void begin_first_lesson();
  void use_lesson_workspace(bool on);
  bool all_is_stored();
  void show_storing();
  void show_keys();
  void show_about();
  void show_failure(const QString& text);
  void show_baseline(const QString& which);
  void refresh_pages();
  TracesView& traces() const;
  void refresh_traces();
  void refresh_status();
  void show_two_graphs();
  void remember_layout();
  void remember_files(const QStringList& files);
  void remember_simulation(const QSettings& settings);
  void fill_recent_files();
  bool grab_inspector(const QString& folder);

  Session& session_;
  const bool remembers_;
  HeaderBar* header_;
  SecondPlan* second_;     // beside the plan that is shown, for views that compare
  QStackedWidget* pages_;  // start page, views
  StartPage* start_;
  QAction* start_action_ = nullptr;
  std::optional<std::uint64_t> start_asked_;  // over what is open: until anything is loaded after
  std::optional<PlanWish> to_plan_;           // as soon as it is open
  Centre* centre_;
  QWidget *timeline_, *inspector_;
  RunQueue* queue_ = nullptr;
  QueueView* queue_view_ = nullptr;
  LastWorkspace* last_workspace_ = nullptr;
  GuideWindow* guide_ = nullptr;        // made when it is first asked for
  QStringList recent_commands_;         // ids, the latest first
  std::unique_ptr<WindowStage> stage_;  // outlives the panel
  LessonPanel* lessons_ = nullptr;
  std::optional<Simulation> simulation_before_lessons_;  // while there is one
  BeforeLessons before_lessons_;
  QString workspace_before_lessons_;    // that one goes back to
  DiscoverDialog* discover_ = nullptr;  // made when it is first asked for
  QDockWidget *workspace_dock_, *history_dock_, *queue_dock_ = nullptr, *inspector_dock_,
                                                *lesson_dock_ = nullptr;
  PlaceDocks* docks_;
  QLabel *activity_, *cursor_;
  QProgressBar* progress_;
  QToolButton* cancel_;
  QMenu* recent_ = nullptr;
  QPointer<QMessageBox> failure_;
  QTimer* keep_soon_ = nullptr;  // before its looks are kept, where it remembers
  QLabel* storing_ = nullptr;    // while the window waits for a slow disk before it closes
};

}  // namespace strato
