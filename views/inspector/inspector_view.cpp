#include "views/inspector/inspector_view.h"

#include <QEvent>
#include <QScrollArea>
#include <QStackedWidget>
#include <QTimer>
#include <QVBoxLayout>

#include "views/inspector/device_page.h"
#include "views/inspector/group_page.h"
#include "views/inspector/suggestion_box.h"
#include "views/inspector/summary_page.h"
#include "views/inspector/task_page.h"
#include "views/style/style.h"

namespace strato {

InspectorView::InspectorView(Session& session, QWidget* parent)
    : QWidget(parent),
      session_(session),
      stack_(new QStackedWidget(this)),
      timer_(new QTimer(this)),
      summary_(new SummaryPage(session)),
      group_(new GroupPage(session)),
      task_(new TaskPage(session)),
      device_(new DevicePage(session)),
      suggestions_(new SuggestionBox(session, this)) {
  for (QWidget* page : std::initializer_list<QWidget*>{summary_, group_, task_, device_}) {
    stack_->addWidget(scrolled(page));
  }
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(stack_, 1);
  layout->addWidget(suggestions_);
  setMinimumWidth(44 * fontMetrics().averageCharWidth());  // its tables and fields are not cut
  timer_->setSingleShot(true);
  timer_->setInterval(0);
  connect(timer_, &QTimer::timeout, this, &InspectorView::refresh);
  const auto soon = [this] { timer_->start(); };
  connect(&session_, &Session::problem_changed, this, soon);
  connect(&session_, &Session::strategy_changed, this, soon);
  connect(&session_, &Session::outcome_changed, this, soon);
  connect(&session_, &Session::explanation_changed, this, soon);
  connect(&session_, &Session::constraints_changed, this, soon);
  connect(&session_.selection(), &Selection::changed, this, soon);
  refresh();
}

QWidget* InspectorView::scrolled(QWidget* page) {
  page->layout()->setContentsMargins(3 * style::kGrid, 2 * style::kGrid, 3 * style::kGrid,
                                     2 * style::kGrid);
  auto* area = new QScrollArea(stack_);
  area->setWidget(page);
  area->setWidgetResizable(true);
  area->setFrameShape(QFrame::NoFrame);
  area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  return area;
}

void InspectorView::refresh() {
  const Selection& selection = session_.selection();
  if (selection.task()) {
    stack_->setCurrentIndex(2);
    task_->refresh();
  } else if (selection.device() || selection.link()) {
    stack_->setCurrentIndex(3);
    device_->refresh();
  } else if (!selection.groups().empty()) {
    stack_->setCurrentIndex(1);
    group_->refresh();
  } else {
    stack_->setCurrentIndex(0);
    summary_->refresh();
  }
  suggestions_->setVisible(session_.snapshot().problem && stack_->currentIndex() < 2);
}

void InspectorView::changeEvent(QEvent* event) {
  if (event->type() == QEvent::PaletteChange) timer_->start();
  QWidget::changeEvent(event);
}

}  // namespace strato
