// The start page, and what is planned from there.
#include <QAction>
#include <QStackedWidget>
#include <QTimer>

#include "app/explorer/header_bar.h"
#include "app/explorer/main_window.h"
#include "app/explorer/open_files.h"
#include "app/explorer/start_page.h"
#include "views/models/problem_source.h"
#include "views/style/file_choice.h"

namespace strato {

void MainWindow::build_start_page() {
  start_ = new StartPage(session_.plugins());
  connect(start_, &StartPage::open_wanted, this, [this](const QString& file) { open({file}); });
  connect(start_, &StartPage::choose_file_wanted, this,
          [this] { open_from_start(style::files_to_open(this, tr("Open"), tr("All files (*)"))); });
  connect(start_, &StartPage::plan_wanted, this, &MainWindow::plan);
  connect(start_, &StartPage::lesson_wanted, this, &MainWindow::begin_first_lesson);
  connect(start_, &StartPage::return_wanted, this, [this] { show_start_page(false); });
}

void MainWindow::show_start_page(bool shown) {
  start_asked_.reset();
  if (shown) {
    start_asked_ = session_.loads_begun();
    start_->say({});
    if (remembers_) start_->show_recent(recent_files());
  }
  refresh_pages();
  if (shown) start_->take_keys();
}

// Models and clusters go into the fields of the page.
void MainWindow::open_from_start(const QStringList& files) {
  QStringList others;
  for (const QString& file : files)
    if (!start_->take(file)) others << file;
  if (!others.isEmpty()) open(others);
}

void MainWindow::plan(const PlanWish& wish) {
  ImportOptions import;
  import.batch = wish.batch;
  to_plan_ = wish;
  open({wish.cluster, wish.model}, import);
}

// Once what was wanted is shown, and drawn for the first time.
void MainWindow::begin_planned() {
  const ModelSource* model = session_.model_source();
  if (!to_plan_ || !session_.snapshot().problem || !model ||
      model->path != to_plan_->model.toStdString())
    return;
  const PlanWish wish = *std::exchange(to_plan_, std::nullopt);
  QTimer::singleShot(0, this, [this, wish] {
    if (session_.search().state != SearchPhase::Idle) return;
    if (!wish.as_written) return header_->search_or_pause();
    const QString planner = QStringLiteral("configuration");
    auto options = header_->options_for(planner);
    if (!options) return;
    options->set["file"] = wish.model.toStdString();
    session_.start_search(planner, *options);
  });
}

}  // namespace strato
