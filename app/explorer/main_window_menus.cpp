// Menus and what they do: files, exports, edits, views, strategies, runs, places.
#include <QAction>
#include <QApplication>
#include <QDockWidget>
#include <QFileInfo>
#include <QHeaderView>
#include <QMenuBar>
#include <QPainter>
#include <QStandardPaths>
#include <QToolButton>

#include "app/explorer/command_list.h"
#include "app/explorer/header_bar.h"
#include "app/explorer/main_window.h"
#include "app/explorer/open_files.h"
#include "app/explorer/places/centre.h"
#include "app/explorer/places/layouts.h"
#include "app/explorer/places/place_docks.h"
#include "app/explorer/places/place_menus.h"
#include "core/cost/model/measured_cost_model.h"
#include "core/search/evaluate/baselines.h"
#include "views/drag/move_dialog.h"
#include "views/launch/launch_view.h"
#include "views/placement/placement_view.h"
#include "views/style/file_choice.h"
#include "views/style/svg_file.h"
#include "views/style/text.h"
#include "views/tournament/tournament_view.h"
#include "views/traces/traces_view.h"

namespace strato {
void MainWindow::build_menus() {
  build_file_menu();
  build_edit_menu();
  build_view_menu();
  build_strategy_menu();
  build_run_menu();
  build_window_menu();
  build_help_menu();
}

void MainWindow::build_file_menu() {
  QMenu* menu = menuBar()->addMenu(tr("&File"));
  start_action_ = menu->addAction(tr("S&tart Page"), QKeySequence(QStringLiteral("Alt+Home")), this,
                                  [this](bool shown) { show_start_page(shown); });
  start_action_->setCheckable(true);
  start_action_->setToolTip(tr("Recent work, samples, and a model of your own"));
  menu->addAction(tr("&Open…"), QKeySequence::Open, this, [this] {
    choose_and_open(tr("Open"), tr("Models, clusters, plans, profiles, workspaces, traces (*.onnx "
                                   "*.pt2 *.json *.gz *.et *.sqlite *.strata);;All files (*)"));
  });
  menu->addAction(
      tr("Open &Workspace…"), QKeySequence(QStringLiteral("Ctrl+Shift+O")), this, [this] {
        choose_and_open(tr("Open workspace"), tr("Workspaces (*.strata);;All files (*)"));
      });
  menu->addAction(tr("&New Workspace…"), QKeySequence::New, this, [this] {
    const QString file = style::file_to_write(
        this, tr("New workspace"), QStringLiteral("workspace.strata"), tr("Workspaces (*.strata)"));
    if (!file.isEmpty()) session_.open_workspace(file.toStdString(), false);
  });
  menu->addAction(tr("Open a Trace Fo&lder…"), this, [this] { traces().choose_folder(); })
      ->setToolTip(tr("What profilers recorded of a real run, one file for each rank"));
  menu->addAction(tr("&Discover Cluster…"), this, &MainWindow::discover_cluster)
      ->setToolTip(tr("Machines tell what they have, and make a cluster"));
  build_cost_actions(*menu);
  recent_ = menu->addMenu(tr("Open &Recent"));
  connect(recent_, &QMenu::aboutToShow, this, &MainWindow::fill_recent_files);
  menu->addSeparator();
  menu->addAction(tr("&Save Plan As…"), QKeySequence::Save, this, &MainWindow::export_plan);
  QMenu* exports = menu->addMenu(tr("&Export"));
  build_export_menu(*exports);
  auto* at_hand = new QToolButton;  // where one decides what to use
  at_hand->setText(tr("Export") + QStringLiteral("   "));
  at_hand->setToolTip(tr("The strategy for another program, a report, or a picture"));
  at_hand->setMenu(exports);
  at_hand->setPopupMode(QToolButton::InstantPopup);
  centre_->add_corner(Place::Ship, at_hand);
  menu->addSeparator();
  QAction* quit =
      menu->addAction(tr("&Quit"), QKeySequence(QStringLiteral("Ctrl+Q")), this, &QWidget::close);
  quit->setMenuRole(QAction::QuitRole);
}

void MainWindow::build_cost_actions(QMenu& menu) {
  menu.addAction(tr("Open &Profile…"), this,
                 [this] {
                   choose_and_open(tr("Open profile or calibration"),
                                   tr("Profiles, calibrations (*.json);;All files (*)"));
                 })
      ->setToolTip(tr("Measured costs of ops and transfers"));
  QAction* close = menu.addAction(tr("&Close Profile"), this, [this] { session_.close_costs(); });
  const auto refresh = [this, close] {
    const CostSources& costs = session_.snapshot().costs;
    close->setEnabled(costs.profile || costs.calibration);
    close->setText(!costs.profile && costs.calibration ? tr("&Close Calibration")
                                                       : tr("&Close Profile"));
  };
  connect(&session_, &Session::problem_changed, this, refresh);
  refresh();
}

void MainWindow::build_export_menu(QMenu& menu) {
  menu.addAction(tr("&Plan (JSON)…"), this, &MainWindow::export_plan);
  for (const PluginInfo& exporter : session_.plugins().list(PluginKind::Exporter)) {
    const QString suffix =
        exporter.extensions.empty() ? QString() : text(exporter.extensions.front());
    QAction* action =
        menu.addAction(QStringLiteral("%1…").arg(text(exporter.summary)), this,
                       [this, name = text(exporter.name), suffix] { export_with(name, suffix); });
    action->setToolTip(text(exporter.name));
  }
  menu.addSeparator();
  menu.addAction(tr("Picture of the View (P&NG)…"), this, [this] { export_picture(false); });
  menu.addAction(tr("Picture of the View (&SVG)…"), this, [this] { export_picture(true); });
}

void MainWindow::build_edit_menu() {
  QMenu* menu = menuBar()->addMenu(tr("&Edit"));
  QAction* undo = session_.undo_stack().createUndoAction(this, tr("&Undo"));
  undo->setShortcut(QKeySequence(QStringLiteral("Ctrl+Z")));
  QAction* redo = session_.undo_stack().createRedoAction(this, tr("&Redo"));
  redo->setShortcut(QKeySequence(QStringLiteral("Ctrl+Shift+Z")));
  menu->addActions({undo, redo});
  menu->addSeparator();
  menu->addAction(tr("&Find Group"), QKeySequence(QStringLiteral("Ctrl+P")), this, [this] {
    auto& placement = centre_->view<PlacementView>();
    centre_->show_view(&placement);
    placement.focus_filter();
  });
  menu->addAction(tr("Select &All Groups"), QKeySequence(QStringLiteral("Ctrl+Shift+A")), this,
                  [this] {
                    if (!session_.snapshot().problem) return;
                    std::vector<GroupId> groups;
                    for (std::size_t g = 0; g < session_.snapshot().problem->grouping->size(); ++g)
                      groups.emplace_back(g);
                    session_.selection().select_groups(groups);
                  });
  menu->addAction(tr("&Clear Selection"), QKeySequence(Qt::Key_Escape), this,
                  [this] { session_.selection().clear(); });
  menu->addSeparator();
  QAction* move =
      menu->addAction(tr("&Move Selection to Device…"), QKeySequence(QStringLiteral("Ctrl+M")),
                      this, [this] { move_selection(session_, *this); });
  const auto refresh = [this, move] {
    move->setEnabled(session_.snapshot().problem && !session_.selection().groups().empty());
  };
  connect(&session_.selection(), &Selection::changed, move, refresh);
  connect(&session_, &Session::problem_changed, move, refresh);
  set_why_disabled(*move, tr("no group is selected"));
  refresh();
}

void MainWindow::build_view_menu() {
  QMenu* menu = menuBar()->addMenu(tr("&View"));
  add_view_actions(*menu, *centre_);
  menu->addSeparator();
  for (QDockWidget* dock :
       {workspace_dock_, history_dock_, queue_dock_, inspector_dock_, lesson_dock_})
    menu->addAction(dock->toggleViewAction());
}

void MainWindow::build_strategy_menu() {
  QMenu* menu = menuBar()->addMenu(tr("&Strategy"));
  menu->addAction(tr("&Data Parallel, AllReduce"), this,
                  [this] { show_baseline(QStringLiteral("allreduce")); });
  menu->addAction(tr("Data Parallel, &Shares by Speed"), this,
                  [this] { show_baseline(QStringLiteral("proportional")); });
  menu->addAction(tr("Data Parallel, &PS"), this, [this] { show_baseline(QStringLiteral("ps")); });
  menu->addSeparator();
  QAction* found =
      menu->addAction(tr("&Best of the Search"), this, [this] { session_.show_best_found(); });
  connect(&session_, &Session::search_changed, found,
          [this, found] { found->setEnabled(!session_.search().history.empty()); });
  found->setEnabled(false);
  set_why_disabled(*found, tr("nothing was searched yet"));
}

void MainWindow::show_baseline(const QString& which) {
  const auto& problem = session_.snapshot().problem;
  if (!problem) return;
  if (which == QStringLiteral("allreduce")) {
    session_.show_found(data_parallel(*problem), tr("Data parallel"));
  } else if (which == QStringLiteral("ps")) {
    session_.show_found(data_parallel(*problem, Mode::ReplicatePs), tr("Data parallel, PS"));
  } else {
    session_.show_found(data_parallel_proportional(*problem), tr("Data parallel, shares by speed"));
  }
}

void MainWindow::build_run_menu() {
  QMenu* menu = menuBar()->addMenu(tr("&Run"));
  QAction* search = menu->addAction(tr("&Search"), QKeySequence(Qt::Key_F5), header_,
                                    &HeaderBar::search_or_pause);
  QAction* go_on =
      menu->addAction(tr("&Continue the Search"), QKeySequence(QStringLiteral("Ctrl+F5")), this,
                      [this] { session_.continue_search(); });
  QAction* stop = menu->addAction(tr("S&top"), QKeySequence(QStringLiteral("Shift+F5")), this,
                                  [this] { session_.stop_search(); });
  QAction* with_edits = menu->addAction(tr("Continue with &Edits Pinned"),
                                        QKeySequence(QStringLiteral("Ctrl+Shift+F5")), header_,
                                        &HeaderBar::continue_with_edits);
  QAction* options =
      menu->addAction(tr("Planner &Options…"), QKeySequence(QStringLiteral("Ctrl+,")), header_,
                      &HeaderBar::show_options);
  const auto refresh = [this, search, go_on, with_edits, stop, options] {
    const SearchStatus& status = session_.search();
    search->setText(status.state == SearchPhase::Running ? tr("&Pause") : tr("&Search"));
    search->setEnabled(session_.snapshot().problem && status.state != SearchPhase::Paused);
    go_on->setEnabled(status.state == SearchPhase::Paused || status.can_continue);
    set_why_disabled(*go_on, tr("no search to go on with"));
    set_why_disabled(*stop, tr("nothing is searched"));
    set_why_disabled(*with_edits, tr("needs a finished search and an edit since"));
    set_why_disabled(*search, session_.snapshot().problem ? tr("the search is paused") : QString());
    with_edits->setEnabled(status.state == SearchPhase::Idle && status.can_continue &&
                           !session_.snapshot().edited.empty() &&
                           !session_.snapshot().has_own_groups());
    stop->setEnabled(status.state != SearchPhase::Idle);
    options->setEnabled(status.state == SearchPhase::Idle);
  };
  connect(&session_, &Session::search_changed, this, refresh);
  connect(&session_, &Session::problem_changed, this, refresh);
  connect(&session_, &Session::strategy_changed, this, refresh);
  refresh();
  menu->addAction(tr("Add to &Queue"), QKeySequence(QStringLiteral("Alt+Shift+F5")), this,
                  [this] { add_to_queue(1); })
      ->setToolTip(tr("Searches when those before it are done, while you look at something else"));
  menu->addSeparator();
  build_tournament_action(*menu);
  build_launch_action(*menu);
  menu->addSeparator();
  build_simulation_actions(*menu);
}

void MainWindow::build_tournament_action(QMenu& menu) {
  auto& tournament = centre_->view<TournamentView>();
  QAction* action = menu.addAction(QString(), QKeySequence(Qt::Key_F8), this, [this, &tournament] {
    centre_->show_view(&tournament);
    tournament.run_or_stop();
  });
  action->setToolTip(tr("The chosen planners side by side on this problem"));
  const TournamentModel& model = tournament.model();
  const auto refresh = [this, action, &model] {
    action->setText(model.running() ? tr("Stop the To&urnament") : tr("To&urnament of Planners"));
    action->setEnabled(session_.snapshot().problem && !model.stopping());
  };
  connect(&model, &TournamentModel::changed, action, refresh);
  connect(&session_, &Session::problem_changed, action, refresh);
  menu.setToolTipsVisible(true);
  refresh();
}

// The first press shows what would run where; the next ones do what the view's button says.
void MainWindow::build_launch_action(QMenu& menu) {
  auto& launch = centre_->view<LaunchView>();
  QAction* action = menu.addAction(QString(), QKeySequence(Qt::Key_F9), this, [this, &launch] {
    const bool visible = launch.isVisible();
    centre_->show_view(&launch);
    launch.setFocus();
    if (visible) launch.start_or_cancel();
  });
  action->setToolTip(tr("The strategy shown on real processes"));
  const LaunchModel& model = launch.model();
  const auto refresh = [this, action, &model] {
    action->setText(model.running() ? tr("Cancel the &Launch") : tr("&Launch the Strategy"));
    action->setEnabled(session_.snapshot().problem && !model.cancelling());
  };
  connect(&model, &LaunchModel::changed, action, refresh);
  connect(&session_, &Session::problem_changed, action, refresh);
  refresh();
}

// Two switches; the timeline has the same ones.
void MainWindow::build_simulation_actions(QMenu& menu) {
  QAction* priority = menu.addAction(tr("Order Tasks by P&riority"));
  priority->setShortcut(QKeySequence(Qt::Key_F6));
  QAction* fair = menu.addAction(tr("Share Links &Fairly"));
  fair->setShortcut(QKeySequence(Qt::Key_F7));
  for (QAction* action : {priority, fair}) {
    action->setCheckable(true);
    connect(action, &QAction::triggered, this, [this, priority, fair] {
      session_.set_simulation(
          {priority->isChecked() ? TaskOrder::Priority : TaskOrder::Fifo, fair->isChecked()});
    });
  }
  const auto refresh = [this, priority, fair] {
    priority->setChecked(session_.simulation().order == TaskOrder::Priority);
    fair->setChecked(session_.simulation().fair_links);
  };
  connect(&session_, &Session::simulation_changed, this, refresh);
  refresh();
}

void MainWindow::build_window_menu() {
  QMenu* menu = menuBar()->addMenu(tr("&Window"));
  add_place_actions(*menu, *centre_);
  menu->addAction(tr("&Teach"), QKeySequence(QStringLiteral("Ctrl+5")), docks_, &PlaceDocks::teach);
  menu->addSeparator();
  add_layout_actions(*menu, *centre_, *docks_);
}

void MainWindow::choose_and_open(const QString& title, const QString& filter) {
  const QStringList files = style::files_to_open(this, title, filter);
  if (!files.isEmpty()) open(files);
}

void MainWindow::fill_recent_files() {
  recent_->clear();
  for (const QString& file : recent_files())
    recent_->addAction(QFileInfo(file).fileName(), this, [this, file] { open({file}); })
        ->setToolTip(file);
  if (recent_->isEmpty()) recent_->addAction(tr("Nothing yet"))->setEnabled(false);
}

void MainWindow::export_plan() {
  if (!session_.snapshot().outcome) return;
  const QString file = style::file_to_write(this, tr("Save plan"),
                                            session_.model_name() + QStringLiteral(".plan.json"),
                                            tr("Plans (*.json)"));
  if (!file.isEmpty()) session_.export_plan(file.toStdString());
}

void MainWindow::export_with(const QString& exporter, const QString& suffix) {
  if (!session_.snapshot().outcome) return;
  const QString file = style::file_to_write(
      this, tr("Export"), session_.model_name() + QStringLiteral(".") + exporter + suffix,
      QStringLiteral("*%1").arg(suffix));
  if (!file.isEmpty()) session_.export_with(exporter, file.toStdString());
}

void MainWindow::export_picture(bool svg) {
  QWidget* view = centre_->current_view();
  if (!view) return;
  const QString suffix = svg ? QStringLiteral(".svg") : QStringLiteral(".png");
  const QString file =
      style::file_to_write(this, tr("Export picture"), session_.model_name() + suffix,
                           QStringLiteral("*%1").arg(suffix));
  if (file.isEmpty()) return;
  bool written = false;
  if (svg) {
    written = style::write_svg(file, view->size(), windowTitle(),
                               [view](QPainter& painter) { view->render(&painter); });
  } else {
    written = view->grab().save(file);
  }
  if (written) {
    emit session_.written(file);
  } else {
    show_failure(tr("%1: cannot be written; check the folder and the space left").arg(file));
  }
}

}  // namespace strato
