#include "app/explorer/main_window.h"

#include <QCloseEvent>
#include <QDockWidget>
#include <QDragEnterEvent>
#include <QFileInfo>
#include <QJsonDocument>
#include <QLabel>
#include <QMenu>
#include <QMessageBox>
#include <QMimeData>
#include <QProgressBar>
#include <QScreen>
#include <QSettings>
#include <QStackedWidget>
#include <QStatusBar>
#include <QTimer>
#include <QToolButton>
#include <QVBoxLayout>
#include <chrono>
#include <utility>

#include "app/explorer/ask_dimension.h"
#include "app/explorer/header_bar.h"
#include "app/explorer/last_workspace.h"
#include "app/explorer/notice_strip.h"
#include "app/explorer/open_files.h"
#include "app/explorer/places/centre.h"
#include "app/explorer/places/layouts.h"
#include "app/explorer/places/place_docks.h"
#include "app/explorer/places/view_page.h"
#include "app/explorer/start_page.h"
#include "app/explorer/window_stage.h"
#include "core/io/file.h"
#include "core/search/tree/search_tree.h"
#include "views/compare/compare_view.h"
#include "views/graph/group_graph_view.h"
#include "views/history/history_view.h"
#include "views/inspector/inspector_view.h"
#include "views/launch/discover_dialog.h"
#include "views/launch/launch_view.h"
#include "views/lessons/lesson_panel.h"
#include "views/style/style.h"
#include "views/timeline/timeline_view.h"
#include "views/traces/recorded_canvas.h"
#include "views/traces/traces_view.h"
#include "views/workspace/queue_view.h"
#include "views/workspace/workspace_view.h"

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

// What does not change the window: for now and then, in case that it is killed.
void keep_looks(const MainWindow& window, const Centre& centre, const PlaceDocks& docks) {
  QSettings settings;
  settings.setValue(QStringLiteral("window/geometry"), window.saveGeometry());
  settings.setValue(QStringLiteral("window/places"),
                    QJsonDocument(layout_of(centre, docks)).toJson(QJsonDocument::Compact));
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
  docks_->usual_docks();
  connect(&session_, &Session::problem_changed, this, &MainWindow::refresh_pages);
  connect(&session_, &Session::problem_changed, this, &MainWindow::begin_planned);
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
    header_->set_budget(settings.value(QStringLiteral("search/budget")).toString());
    remember_simulation(settings);
    last_workspace_ = new LastWorkspace(session_, this);
    connect(last_workspace_, &LastWorkspace::another, this,
            [this](const QString& file) { remember_files({file}); });
  }
  // Before it is shown, and grows to what its docks ask for beside each other.
  docks_->set_narrow(false);
  docks_->fit();
  if (remembers_) {
    use_layout(
        QJsonDocument::fromJson(QSettings().value(QStringLiteral("window/places")).toByteArray())
            .object(),
        *centre_, *docks_);
    keep_soon_ = new QTimer(this);
    keep_soon_->setSingleShot(true);
    keep_soon_->setInterval(std::chrono::seconds(1));
    connect(keep_soon_, &QTimer::timeout, this, [this] { keep_looks(*this, *centre_, *docks_); });
    connect(centre_, &Centre::entered, keep_soon_, [this] { keep_soon_->start(); });
  }
  if (remembers_) start_->show_recent(recent_files());
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
  cursor_ = new QLabel;
  auto* timeline = new TimelineView(session_);
  connect(timeline, &TimelineView::cursor_info, cursor_, &QLabel::setText);
  timeline->set_second_plan(*second_);
  timeline_ = timeline;
  centre_ = new Centre(timeline, make_views(session_, *second_));
  connect(&centre_->view<CompareView>(), &CompareView::graphs_wanted, this,
          &MainWindow::show_two_graphs);
  // Both plans' graphs only while they stand beside Compare.
  connect(centre_, &Centre::moved, this, [this](QWidget* view, bool beside) {
    auto& graph = centre_->view<GroupGraphView>();
    if (view == &graph) graph.show_beside(beside && centre_->place() == Place::Ship);
  });
  build_start_page();
  connect(&traces().model(), &TracesModel::changed, this, &MainWindow::refresh_traces);
  connect(&traces().canvas(), &RecordedCanvas::cursor_info, cursor_, &QLabel::setText);
  pages_ = new QStackedWidget;
  pages_->addWidget(new ViewPage(start_));
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
  inspector_ = new InspectorView(session_);
  inspector_dock_ = make_dock(tr("Inspector"), QStringLiteral("inspector"), inspector_, this);
  addDockWidget(Qt::RightDockWidgetArea, inspector_dock_);
  build_lessons();
  docks_ =
      new PlaceDocks(*this, *centre_, {workspace_dock_, history_dock_, queue_dock_},
                     inspector_dock_, lesson_dock_, [this] { return lessons_->player().active(); });
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
  const TracesModel& model_of_traces = traces().model();
  const bool shown = open || model_of_traces.run() || model_of_traces.reading();
  if (start_asked_ && (*start_asked_ != session_.loads_begun() || model_of_traces.reading()))
    start_asked_.reset();
  const bool views = !start_asked_ && (shown || session_.busy());
  pages_->setCurrentIndex(views ? 1 : 0);
  docks_->give_room(!views);
  start_->offer_return(shown);
  start_action_->setChecked(!views);
  start_action_->setEnabled(shown);
  const QString model = session_.model_name();
  setWindowTitle(model.isEmpty()
                     ? QStringLiteral("Stratoscope")
                     : tr("%1 on %2 – Stratoscope").arg(model, session_.cluster_name()));
}

TracesView& MainWindow::traces() const { return centre_->view<TracesView>(); }

// What is read is shown, and so is why it cannot be.
void MainWindow::refresh_traces() {
  const TracesModel& model = traces().model();
  refresh_pages();
  if (model.reading()) centre_->show_view(&traces());
  if (!model.failure().isEmpty()) emit session_.failed(model.failure());
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
  if (std::exchange(to_plan_, std::nullopt)) {
    show_start_page(true);
    return start_->say(text);
  }
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
  const QString trace =
      open_files(session_, files, remembers_ ? user_workspace() : QString(), import);
  if (!trace.isEmpty()) traces().open(trace);
  remember_files(files);
}

void MainWindow::discover_cluster() {
  if (discover_ == nullptr) discover_ = new DiscoverDialog(session_, this);
  discover_->show();
  discover_->raise();
}

void MainWindow::remember_files(const QStringList& files) {
  if (remembers_) remember_as_recent(files);
}

// Those of the plan that is shown and of the other one, beside what sets them apart.
void MainWindow::show_two_graphs() {
  auto& graph = centre_->view<GroupGraphView>();
  centre_->show_view(&centre_->view<CompareView>());
  centre_->put_beside(&graph, true);
  graph.show_beside(true);
  docks_->hide_all();
}

void MainWindow::remember_layout() {
  keep_looks(*this, *centre_, *docks_);
  docks_->set_narrow(false);  // docks are remembered where they belong
  QSettings().setValue(QStringLiteral("window/state"), saveState());
}

void MainWindow::resizeEvent(QResizeEvent* event) {
  QMainWindow::resizeEvent(event);
  docks_->fit();
  if (keep_soon_) keep_soon_->start();
}

void MainWindow::closeEvent(QCloseEvent* event) {
  const bool asks = storing_ == nullptr;  // once
  if (asks && (!centre_->view<LaunchView>().may_close() || !queue_view_->may_close()))
    return event->ignore();
  if (QWidget* field = focusWidget()) field->clearFocus();  // what is typed in it counts
  if (!all_is_stored()) return event->ignore();
  if (remembers_) {
    remember_layout();
    QSettings().setValue(QStringLiteral("search/budget"), header_->budget());
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
  start_->isVisible() ? open_from_start(files) : open(files);
}

}  // namespace strato
