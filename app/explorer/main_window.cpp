#include "app/explorer/main_window.h"

#include <QCloseEvent>
#include <QDockWidget>
#include <QDragEnterEvent>
#include <QFileInfo>
#include <QLabel>
#include <QMenu>
#include <QMessageBox>
#include <QMimeData>
#include <QProgressBar>
#include <QScreen>
#include <QSettings>
#include <QSplitter>
#include <QStackedWidget>
#include <QStatusBar>
#include <QTabWidget>
#include <QToolButton>
#include <QVBoxLayout>

#include "app/explorer/ask_dimension.h"
#include "app/explorer/header_bar.h"
#include "app/explorer/last_workspace.h"
#include "app/explorer/notice_strip.h"
#include "app/explorer/open_files.h"
#include "app/explorer/start_page.h"
#include "app/explorer/view_page.h"
#include "app/explorer/views_in_reach.h"
#include "app/explorer/window_stage.h"
#include "core/io/file.h"
#include "core/search/tree/search_tree.h"
#include "views/style/style.h"

namespace strato {
namespace {

QDockWidget* make_dock(const QString& title, const QString& name, QWidget* content,
                       QMainWindow* window) {
  auto* dock = new QDockWidget(title, window);
  dock->setObjectName(name);
  dock->setWidget(content);
  dock->setFeatures(QDockWidget::DockWidgetClosable | QDockWidget::DockWidgetMovable);
  return dock;
}

}  // namespace

MainWindow::MainWindow(Session& session, bool remembers)
    : session_(session),
      remembers_(remembers),
      header_(new HeaderBar(session, this)),
      second_(new SecondPlan(session, this)) {
  setWindowTitle(QStringLiteral("Stratoscope"));
  setAcceptDrops(true);
  style::apply(*this);
  build_views();
  build_docks();
  build_status_bar();
  build_menus();
  const QSize usual(1280, 800);
  resize(remembers_ ? usual.boundedTo(screen()->availableSize()) : usual);
  explore_perspective();
  connect(&session_, &Session::problem_changed, this, &MainWindow::refresh_pages);
  connect(&session_, &Session::busy_changed, this, &MainWindow::refresh_pages);
  connect(&session_, &Session::busy_changed, this, &MainWindow::refresh_status);
  connect(&session_, &Session::search_changed, this, &MainWindow::refresh_status);
  connect(&session_, &Session::message, this,
          [this](const QString& text) { statusBar()->showMessage(text, 8000); });
  connect(&session_, &Session::failed, this, &MainWindow::show_failure);
  if (remembers_)
    connect(&session_, &Session::dimension_wanted, this,
            [this](const WantedDimension& wanted) { ask_dimension(wanted, *this); });
  connect(header_, &HeaderBar::open_model_wanted, this, [this] {
    choose_and_open(tr("Open model"), tr("Models (*.onnx *.pt2 *.json);;All files (*)"));
  });
  connect(header_, &HeaderBar::open_cluster_wanted, this,
          [this] { choose_and_open(tr("Open cluster"), tr("Clusters (*.json);;All files (*)")); });
  connect(header_, &HeaderBar::discover_wanted, this, &MainWindow::discover_cluster);
  connect(header_, &HeaderBar::sample_wanted, this, [this](const QString& file) { open({file}); });
  if (remembers_) {
    const QSettings settings;
    restoreGeometry(settings.value(QStringLiteral("window/geometry")).toByteArray());
    restoreState(settings.value(QStringLiteral("window/state")).toByteArray());
    centre_->restoreState(settings.value(QStringLiteral("window/centre")).toByteArray());
    header_->set_budget(settings.value(QStringLiteral("search/budget")).toString());
    remember_simulation(settings);
    last_workspace_ = new LastWorkspace(session_, this);
    connect(last_workspace_, &LastWorkspace::another, this,
            [this](const QString& file) { remember_files({file}); });
  }
  // Before it is shown, and grows to what its docks ask for beside each other.
  set_narrow(false);
  set_narrow(width() < narrow_width());
  refresh_pages();
  refresh_status();
}

void MainWindow::remember_simulation(const QSettings& settings) {
  const QString priority = QStringLiteral("simulation/priority");
  const QString fair = QStringLiteral("simulation/fair_links");
  session_.set_simulation(
      {settings.value(priority).toBool() ? TaskOrder::Priority : TaskOrder::Fifo,
       settings.value(fair).toBool()});
  connect(&session_, &Session::simulation_changed, this, [this, priority, fair] {
    if (simulation_before_lessons_) return;  // a lesson's own
    QSettings changed;
    changed.setValue(priority, session_.simulation().order == TaskOrder::Priority);
    changed.setValue(fair, session_.simulation().fair_links);
  });
}

void MainWindow::build_views() {
  tabs_ = new QTabWidget;
  side_tabs_ = new QTabWidget;
  for (QTabWidget* tabs : {tabs_, side_tabs_}) {
    tabs->setDocumentMode(true);
    tabs->setMovable(false);
  }
  const auto add = [this](const char* name, const char* file, QWidget* widget) {
    views_.push_back({tr(name), QString::fromUtf8(file), widget});
    tabs_->addTab(new ViewPage(widget), tr(name));
  };
  graph_ = new GroupGraphView(session_);
  graph_->set_second_plan(*second_);
  add(QT_TR_NOOP("Graph"), "graph", graph_);
  placement_ = new PlacementView(session_);
  add(QT_TR_NOOP("Placement"), "placement", placement_);
  add(QT_TR_NOOP("Cluster"), "cluster", new ClusterView(session_));
  add(QT_TR_NOOP("Search"), "search", new SearchTreeView(session_));
  add(QT_TR_NOOP("Planner Steps"), "planning", new PlanningView(session_));
  tournament_ = new TournamentView(session_);
  add(QT_TR_NOOP("Tournament"), "tournament", tournament_);
  charts_ = new ChartsView(session_);
  add(QT_TR_NOOP("Charts"), "charts", charts_);
  launch_ = new LaunchView(session_);
  add(QT_TR_NOOP("Launch"), "launch", launch_);
  add(QT_TR_NOOP("Variables"), "variables", new VariablesView(session_));
  add(QT_TR_NOOP("What If"), "what-if", new WhatIfView(session_));
  auto* compare = new CompareView(session_, *second_);
  connect(compare, &CompareView::graphs_wanted, this, &MainWindow::compare_perspective);
  add(QT_TR_NOOP("Compare"), "compare", compare);
  add(QT_TR_NOOP("Memory"), "memory", new MemoryView(session_));
  cursor_ = new QLabel;
  auto* timeline = new TimelineView(session_);
  connect(timeline, &TimelineView::cursor_info, cursor_, &QLabel::setText);
  timeline->set_second_plan(*second_);

  timeline_ = {tr("Timeline"), QStringLiteral("timeline"), timeline};
  beside_ = new QSplitter(Qt::Horizontal);
  beside_->addWidget(tabs_);
  beside_->addWidget(side_tabs_);
  centre_ = new QSplitter(Qt::Vertical);
  centre_->addWidget(beside_);
  centre_->addWidget(timeline);
  centre_->setStretchFactor(0, 3);
  centre_->setStretchFactor(1, 2);
  centre_->setChildrenCollapsible(false);
  auto* start = new StartPage;
  connect(start, &StartPage::open_model_wanted, header_, &HeaderBar::open_model_wanted);
  connect(start, &StartPage::sample_wanted, this, &MainWindow::open_sample);
  connect(start, &StartPage::lesson_wanted, this, &MainWindow::begin_first_lesson);
  connect(start, &StartPage::open_workspace_wanted, this, [this] {
    choose_and_open(tr("Open workspace"), tr("Workspaces (*.strata);;All files (*)"));
  });
  pages_ = new QStackedWidget;
  pages_->addWidget(new ViewPage(start));
  pages_->addWidget(centre_);
  auto* middle = new QWidget;
  auto* column = new QVBoxLayout(middle);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(new NoticeStrip(session_));
  column->addWidget(pages_, 1);
  setCentralWidget(middle);
}

void MainWindow::build_docks() {
  auto* header_dock = new QDockWidget(this);  // above everything, never closed or moved
  header_dock->setObjectName(QStringLiteral("header"));
  header_dock->setTitleBarWidget(new QWidget);
  header_dock->setFeatures(QDockWidget::NoDockWidgetFeatures);
  header_dock->setAllowedAreas(Qt::TopDockWidgetArea);
  header_->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
  header_dock->setWidget(header_);
  addDockWidget(Qt::TopDockWidgetArea, header_dock);
  auto* workspace = new WorkspaceView(session_);
  connect(workspace, &WorkspaceView::export_wanted, this, &MainWindow::export_plan);
  connect(workspace, &WorkspaceView::convergence_wanted, this, &MainWindow::show_convergence);
  workspace_dock_ = make_dock(tr("Workspace"), QStringLiteral("workspace"), workspace, this);
  addDockWidget(Qt::LeftDockWidgetArea, workspace_dock_);
  history_dock_ =
      make_dock(tr("History"), QStringLiteral("history"), new HistoryView(session_), this);
  addDockWidget(Qt::LeftDockWidgetArea, history_dock_);
  tabifyDockWidget(workspace_dock_, history_dock_);
  build_queue();
  workspace_dock_->raise();
  auto* inspector = new InspectorView(session_);
  inspector_ = {tr("Inspector"), QStringLiteral("inspector"), inspector};
  inspector_dock_ = make_dock(tr("Inspector"), QStringLiteral("inspector"), inspector, this);
  addDockWidget(Qt::RightDockWidgetArea, inspector_dock_);
  build_lessons();
}

void MainWindow::build_status_bar() {
  activity_ = new QLabel;
  progress_ = new QProgressBar;
  progress_->setMaximumWidth(160);
  progress_->setMaximumHeight(fontMetrics().height());
  progress_->setTextVisible(false);
  cancel_ = new QToolButton;
  cancel_->setText(tr("Stop"));
  cancel_->setAutoRaise(true);
  connect(cancel_, &QToolButton::clicked, &session_, &Session::stop_search);
  // Beside messages, which the bar would draw over what is not permanent.
  for (QWidget* widget : std::initializer_list<QWidget*>{activity_, progress_, cancel_, cursor_})
    statusBar()->addPermanentWidget(widget);
}

void MainWindow::refresh_pages() {
  const bool open = session_.snapshot().problem != nullptr;
  pages_->setCurrentIndex(open || session_.busy() ? 1 : 0);
  const QString model = session_.model_name();
  setWindowTitle(model.isEmpty()
                     ? QStringLiteral("Stratoscope")
                     : tr("%1 on %2 – Stratoscope").arg(model, session_.cluster_name()));
}

void MainWindow::refresh_status() {
  const SearchStatus& search = session_.search();
  const bool searching = search.state != SearchPhase::Idle;
  progress_->setVisible(searching || session_.busy());
  cancel_->setVisible(searching);
  if (!searching) {
    progress_->setRange(0, 0);
    activity_->setText(session_.busy() ? session_.busy_text() + QStringLiteral("…") : QString());
    return;
  }
  const bool timed = search.target_iterations == 0;
  const double fraction =
      timed ? search.progress.elapsed_seconds / std::max(0.1, search.target_seconds)
            : static_cast<double>(search.progress.iterations) /
                  static_cast<double>(search.target_iterations);
  progress_->setRange(0, 1000);
  progress_->setValue(static_cast<int>(1000 * std::clamp(fraction, 0.0, 1.0)));
  activity_->setText(
      tr("%1 %2: %3 iterations, %4 s")
          .arg(search.run, search.state == SearchPhase::Paused ? tr("paused") : tr("searches"))
          .arg(search.progress.iterations)
          .arg(style::significant(search.progress.elapsed_seconds)));
}

void MainWindow::show_failure(const QString& text) {
  if (!remembers_) return;  // pictures are taken without a person: the caller prints the line
  if (failure_) {
    failure_->setText(failure_->text() + QStringLiteral("\n") + text);
    return;
  }
  failure_ = new QMessageBox(QMessageBox::Warning, QStringLiteral("Stratoscope"), text,
                             QMessageBox::Ok, this);
  failure_->setAttribute(Qt::WA_DeleteOnClose);
  failure_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  failure_->open();
}

void MainWindow::open(const QStringList& files) { open(files, {}); }

void MainWindow::open(const QStringList& files, const ImportOptions& import) {
  open_files(session_, files, remembers_ ? user_workspace() : QString(), import);
  remember_files(files);
}

void MainWindow::open_sample() {
  const auto home = home_directory() / "sample_graphs";
  open({QString::fromStdString((home / "clusters" / "tag-testbed.json").string()),
        QString::fromStdString((home / "models" / "vgg19.onnx").string())});
}

void MainWindow::discover_cluster() {
  if (discover_ == nullptr) discover_ = new DiscoverDialog(session_, this);
  discover_->show();
  discover_->raise();
}

void MainWindow::remember_files(const QStringList& files) {
  if (!remembers_) return;
  QSettings settings;
  QStringList recent = settings.value(QStringLiteral("recent")).toStringList();
  for (const QString& file : files) {
    const QString path = QFileInfo(file).absoluteFilePath();
    recent.removeAll(path);
    recent.prepend(path);
  }
  settings.setValue(QStringLiteral("recent"), QStringList(recent.mid(0, 10)));
}

// In `beside_`, or back among the tabs in its place.
void MainWindow::put_beside(QWidget* view, bool beside) {
  int place = 0;
  for (const NamedView& known : views_) {
    if (known.widget == view) {
      (beside ? side_tabs_ : tabs_)
          ->insertTab(beside ? side_tabs_->count() : place, ViewPage::of(view), known.name);
    }
    if (tabs_->indexOf(ViewPage::of(known.widget)) >= 0) ++place;
  }
  side_tabs_->setVisible(side_tabs_->count() > 0);
}

void MainWindow::show_view(QWidget* view) {
  for (QTabWidget* tabs : {tabs_, side_tabs_}) {
    const int index = tabs->indexOf(ViewPage::of(view));
    if (index >= 0) tabs->setCurrentIndex(index);
  }
}

QWidget* MainWindow::current_view() const {
  const auto shown = [](const QTabWidget& tabs) {
    const auto* page = static_cast<const ViewPage*>(tabs.currentWidget());
    return page ? page->view() : nullptr;
  };
  const QWidget* focus = focusWidget();
  if (focus && timeline_.widget->isAncestorOf(focus)) return timeline_.widget;
  if (focus && side_tabs_->isAncestorOf(focus)) return shown(*side_tabs_);
  return shown(*tabs_);
}

void MainWindow::explore_perspective() {
  for (const NamedView& view : views_) {
    if (side_tabs_->indexOf(ViewPage::of(view.widget)) >= 0) put_beside(view.widget, false);
  }
  side_tabs_->hide();
  graph_->show_beside(false);
  lesson_dock_->setVisible(lessons_->player().active());  // first: it makes room for the others
  workspace_dock_->show();
  history_dock_->show();
  queue_dock_->show();
  workspace_dock_->raise();
  inspector_dock_->show();
  if (narrow_) inspector_dock_->raise();
  size_docks();
  centre_->setSizes({360, 300});
  if (!views_.empty()) show_view(views_.front().widget);
}

void MainWindow::search_perspective() {
  for (const NamedView& view : views_) {
    if (view.file == QStringLiteral("charts")) put_beside(view.widget, true);
    if (view.file == QStringLiteral("search")) show_view(view.widget);
  }
  lesson_dock_->setVisible(lessons_->player().active());
  workspace_dock_->show();
  workspace_dock_->raise();
  for (QDockWidget* dock : moved_docks_) dock->hide();  // no room for them here
  inspector_dock_->hide();
  beside_->setSizes({560, 520});
  centre_->setSizes({460, 200});
}

void MainWindow::compare_perspective() {
  int left = 2 * width() / 5;
  for (const NamedView& view : views_) {
    if (view.file == QStringLiteral("graph")) put_beside(view.widget, true);
    if (view.file != QStringLiteral("compare")) continue;
    show_view(view.widget);
    left = std::max(
        left, std::min(view.widget->minimumSizeHint().width() + 4 * style::kGrid, width() / 2));
  }
  graph_->show_beside(true);
  workspace_dock_->hide();
  history_dock_->hide();
  queue_dock_->hide();
  inspector_dock_->hide();
  beside_->setSizes({left, width() - left});
  centre_->setSizes({420, 260});
}

// Launching large, and the plan that is launched below.
void MainWindow::run_perspective() {
  explore_perspective();
  inspector_dock_->hide();
  show_view(launch_);
  centre_->setSizes({460, 200});
}

void MainWindow::closeEvent(QCloseEvent* event) {
  const bool asks = storing_ == nullptr;  // once
  if (asks && (!launch_->may_close() || !queue_view_->may_close())) return event->ignore();
  if (QWidget* field = focusWidget()) field->clearFocus();  // what is typed in it counts
  if (!all_is_stored()) return event->ignore();
  if (remembers_) {
    QSettings settings;
    settings.setValue(QStringLiteral("window/geometry"), saveGeometry());
    set_narrow(false);  // docks are remembered where they belong
    settings.setValue(QStringLiteral("window/state"), saveState());
    settings.setValue(QStringLiteral("window/centre"), centre_->saveState());
    settings.setValue(QStringLiteral("search/budget"), header_->budget());
    if (last_workspace_) last_workspace_->ends();
  }
  QMainWindow::closeEvent(event);
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
  if (event->mimeData()->hasUrls()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
  QStringList files;
  for (const QUrl& url : event->mimeData()->urls()) {
    if (url.isLocalFile()) files << url.toLocalFile();
  }
  open(files);
}

}  // namespace strato
