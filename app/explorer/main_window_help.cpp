// Help: the command palette, the guide, lessons, the keys, what the program is.
#include <QAction>
#include <QDockWidget>
#include <QMenuBar>
#include <QMessageBox>
#include <QSettings>
#include <QStackedWidget>
#include <utility>

#include "app/explorer/command_palette.h"
#include "app/explorer/guide_window.h"
#include "app/explorer/header_bar.h"
#include "app/explorer/key_table.h"
#include "app/explorer/main_window.h"
#include "app/explorer/open_files.h"
#include "app/explorer/places/centre.h"
#include "app/explorer/places/place_docks.h"
#include "app/explorer/vital_signs_row.h"
#include "app/explorer/window_stage.h"
#include "views/lessons/lesson_panel.h"
#include "views/style/file_choice.h"

namespace strato {

MainWindow::~MainWindow() {
  delete lesson_dock_;  // its panel knows the stage, which goes before the widgets do
}

void MainWindow::build_help_menu() {
  QMenu* menu = menuBar()->addMenu(tr("&Help"));
  menu->addAction(tr("&Guide"), QKeySequence(Qt::Key_F1), this, &MainWindow::show_guide);
  menu->addAction(tr("&Lessons"), QKeySequence(QStringLiteral("Shift+F1")), this,
                  &MainWindow::show_lessons);
  menu->addAction(tr("&Exercise"), QKeySequence(QStringLiteral("Ctrl+Shift+F1")), this,
                  &MainWindow::show_exercises);
  menu->addAction(tr("&Open Lesson…"), this, &MainWindow::open_lesson);
  menu->addSeparator();
  menu->addAction(tr("Run a &Command…"), QKeySequence(QStringLiteral("Ctrl+Shift+P")), this,
                  &MainWindow::show_palette);
  menu->addAction(tr("&Keys"), QKeySequence(QStringLiteral("?")), this, &MainWindow::show_keys);
  menu->addSeparator();
  menu->addAction(tr("&About Stratoscope"), this, &MainWindow::show_about)
      ->setMenuRole(QAction::AboutRole);
}

void MainWindow::show_palette() {
  const QString key = QStringLiteral("commands");
  if (remembers_) recent_commands_ = QSettings().value(key).toStringList();
  const auto used = [this, key](const QString& id) {
    recent_commands_ = with_used(recent_commands_, id);
    if (remembers_) QSettings().setValue(key, recent_commands_);
  };
  const auto start = [this](const QString& planner) {
    if (const auto options = header_->options_for(planner))
      session_.start_search(planner, *options);
  };
  auto* palette =
      new CommandPalette(collect_commands(*this, session_, start), recent_commands_, used, this);
  palette->setAttribute(Qt::WA_DeleteOnClose);
  palette->show();
}

// The page of the view in focus.
void MainWindow::show_guide() {
  if (!guide_) guide_ = new GuideWindow(this);
  guide_->show_page(guide_page());
  guide_->show();
  guide_->raise();
  guide_->activateWindow();
}

QString MainWindow::guide_page() const {
  if (pages_->currentIndex() == 0) return QStringLiteral("start");
  const QWidget* focus = focusWidget();
  if (focus && inspector_->isAncestorOf(focus)) return QStringLiteral("inspector");
  if (focus && workspace_dock_->isAncestorOf(focus)) return QStringLiteral("workspace");
  if (focus && history_dock_->isAncestorOf(focus)) return QStringLiteral("history");
  if (focus && queue_dock_->isAncestorOf(focus)) return QStringLiteral("workspace");
  if (focus && header_->isAncestorOf(focus)) return QStringLiteral("index");
  const QWidget* view = centre_->current_view();
  if (view == timeline_) return QStringLiteral("timeline");
  for (const NamedView& known : centre_->views()) {
    if (known.widget == view) return known.file;
  }
  return QStringLiteral("index");
}

void MainWindow::build_lessons() {
  std::vector<std::pair<QString, QWidget*>> places = {
      {QStringLiteral("timeline"), timeline_},
      {QStringLiteral("inspector"), inspector_},
      {QStringLiteral("workspace"), workspace_dock_->widget()},
      {QStringLiteral("header"), header_},
      {QStringLiteral("vital-signs"), header_->vital_signs()},
      {QStringLiteral("menu"), menuBar()}};
  for (const NamedView& view : centre_->views()) places.emplace_back(view.file, view.widget);
  stage_ = std::make_unique<WindowStage>(*this, std::move(places),
                                         [this](QWidget* view) { centre_->show_view(view); });
  lessons_ = new LessonPanel(session_, *stage_, stage_->names(), remembers_);
  lesson_dock_ = new QDockWidget(tr("Lessons"), this);
  lesson_dock_->setObjectName(QStringLiteral("lessons"));
  lesson_dock_->setWidget(lessons_);
  lesson_dock_->setFeatures(QDockWidget::DockWidgetClosable | QDockWidget::DockWidgetMovable);
  addDockWidget(Qt::LeftDockWidgetArea, lesson_dock_);
  lesson_dock_->hide();
  connect(lessons_, &LessonPanel::about_to_begin, this, [this] { use_lesson_workspace(true); });
  connect(lessons_, &LessonPanel::left, this, [this] { use_lesson_workspace(false); });
  connect(lesson_dock_, &QDockWidget::visibilityChanged, this, [this](bool visible) {
    // Closed, not merely behind another: the lesson is over.
    if (!visible && lesson_dock_->isHidden() && isVisible() && lessons_->player().active())
      lessons_->show_list();
  });
}

// What lessons make goes into a workspace of their own; afterwards one is back in one's own, with
// what was shown there, unless another workspace or model was opened meanwhile.
void MainWindow::use_lesson_workspace(bool on) {
  if (!remembers_) return;
  const QString own = lesson_workspace();
  const WorkspaceLists* open = session_.workspace();
  const QString now = open ? QString::fromStdString(open->file().string()) : QString();
  if (on) {
    if (!simulation_before_lessons_) simulation_before_lessons_ = session_.simulation();
    before_lessons_.remember(session_);
    if (now == own) return;
    workspace_before_lessons_ = now;
    session_.open_workspace(own.toStdString(), false, false);
    return;
  }
  const QString before = std::exchange(workspace_before_lessons_, {});
  if (const auto simulation = std::exchange(simulation_before_lessons_, std::nullopt))
    session_.set_simulation(*simulation);
  if (now != own) return before_lessons_.forget();
  const LessonPlayer& player = lessons_->player();
  const ModelSource* model = session_.model_source();
  const bool in_lesson =
      player.left_unopened() || (model != nullptr && model->path == player.lesson().model);
  const bool gives_back = in_lesson && before_lessons_.known();
  session_.open_workspace((before.isEmpty() ? user_workspace() : before).toStdString(),
                          !before.isEmpty() && in_lesson && !gives_back,
                          !gives_back && !player.left_unopened());
  if (gives_back) return void(before_lessons_.give_back(session_));
  before_lessons_.forget();
}

void MainWindow::show_lessons() {
  docks_->teach();
  lessons_->show_list();
}

void MainWindow::show_exercises() {
  docks_->teach();
  lessons_->show_exercises();
}

void MainWindow::open_lesson() {
  const QString file =
      style::file_to_open(this, tr("Open lesson"),
                          tr("Lessons, exercises (*.lesson.json *.exercise.json);;All files (*)"));
  if (file.isEmpty()) return;
  docks_->teach();
  lessons_->add_file(file);
}

void MainWindow::begin_first_lesson() {
  docks_->teach();
  if (lessons_->lessons().empty()) return lessons_->show_list();
  lessons_->begin(lessons_->lessons().front().id);
}

void MainWindow::show_keys() {
  auto* table = new KeyTable(*this, this);
  table->setAttribute(Qt::WA_DeleteOnClose);
  table->show();
}

void MainWindow::show_about() {
  QMessageBox::about(
      this, tr("About Stratoscope"),
      tr("<b>Stratoscope %1</b><p>Strategy explorer for distributed DNN training.</p>"
         "<p>GPL-3.0-or-later. Made with Qt %2.</p>")
          .arg(QStringLiteral(STRATOSCOPE_VERSION), QString::fromLatin1(qVersion())));
}

}  // namespace strato
