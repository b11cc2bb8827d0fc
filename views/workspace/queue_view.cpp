#include "views/workspace/queue_view.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QListView>
#include <QMenu>
#include <QMessageBox>
#include <QPushButton>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "views/style/style.h"
#include "views/workspace/queue_lines.h"

namespace strato {

QueueView::QueueView(Session& session, RunQueue& queue, QWidget* parent)
    : QWidget(parent),
      session_(session),
      queue_(queue),
      list_(new QListView(this)),
      empty_(new QLabel(this)) {
  list_->setModel(&queue_);
  list_->setItemDelegate(new QueueLines(list_));
  list_->setFrameShape(QFrame::NoFrame);
  list_->setUniformItemSizes(true);
  list_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  list_->setSelectionMode(QAbstractItemView::ExtendedSelection);
  list_->setContextMenuPolicy(Qt::CustomContextMenu);
  list_->setAccessibleName(tr("Queue of searches"));
  list_->installEventFilter(this);
  empty_->setText(
      tr("Searches wait here for each other and run while you look at something else. "
         "Choose a planner above, then Run > Add to Queue (Alt+Shift+F5)."));
  empty_->setWordWrap(true);
  empty_->setAlignment(Qt::AlignTop);
  empty_->setMargin(3 * style::kGrid);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  build_buttons();
  layout->addWidget(list_, 1);
  layout->addWidget(empty_, 1);
  connect(list_, &QListView::activated, this, &QueueView::show_row);
  connect(list_, &QWidget::customContextMenuRequested, this, &QueueView::context_menu);
  connect(list_->selectionModel(), &QItemSelectionModel::selectionChanged, this,
          &QueueView::refresh);
  connect(&queue_, &RunQueue::changed, this, &QueueView::refresh);
  connect(&session_, &Session::problem_changed, this, &QueueView::refresh);
  refresh();
}

void QueueView::build_buttons() {
  auto* row = new QHBoxLayout;
  row->setContentsMargins(style::kGrid, style::kGrid, style::kGrid, style::kGrid);
  row->setSpacing(style::kGrid);
  const auto add = [&](const QString& text, const QString& tip, auto act) {
    auto* button = new QToolButton(this);
    button->setText(text);
    button->setToolTip(tip);
    button->setAccessibleName(tip);
    button->setAutoRaise(true);
    connect(button, &QToolButton::clicked, this, act);
    row->addWidget(button);
    return button;
  };
  add_ = add(tr("Add"), tr("The planner above, with its options, on the problem that is open"),
             [this] { emit add_wanted(1); });
  add_->setPopupMode(QToolButton::MenuButtonPopup);
  auto* menu = new QMenu(add_);
  menu->addAction(tr("Add Once"), this, [this] { emit add_wanted(1); });
  menu->addAction(tr("Add Three Times, with Other Seeds"), this, [this] { emit add_wanted(3); });
  menu->addAction(tr("Add Ten Times, with Other Seeds"), this, [this] { emit add_wanted(10); });
  add_->setMenu(menu);
  start_ =
      add(tr("Start"),
          tr("What waited when the workspace was closed: those chosen, else all of them (Enter)"),
          [this] { start_left(); });
  row->addStretch(1);
  up_ = add(QStringLiteral("↑"), tr("Earlier (Alt+Up)"), [this] { move_by(-1); });
  down_ = add(QStringLiteral("↓"), tr("Later (Alt+Down)"), [this] { move_by(1); });
  remove_ = add(tr("Remove"), tr("From the queue (Delete); what was found stays"),
                [this] { stop_or_remove(); });
  static_cast<QVBoxLayout*>(layout())->addLayout(row);
}

int QueueView::row() const {
  const QModelIndexList chosen = list_->selectionModel()->selectedIndexes();
  return chosen.isEmpty() ? -1 : chosen.front().row();
}

void QueueView::refresh() {
  const int chosen = row();
  const bool some = queue_.rowCount() > 0;
  list_->setVisible(some);
  empty_->setVisible(!some);
  add_->setEnabled(session_.snapshot().opened != nullptr);
  start_->setVisible(queue_.left() > 0);
  const auto waits = [&](int at) {
    return at >= 0 && at < queue_.rowCount() && queue_.state(at) >= RunQueue::RowState::Waiting;
  };
  up_->setEnabled(waits(chosen) && waits(chosen - 1));
  down_->setEnabled(waits(chosen) && waits(chosen + 1));
  const bool runs = chosen >= 0 && queue_.state(chosen) == RunQueue::RowState::Running;
  remove_->setText(runs ? tr("Stop") : tr("Remove"));
  remove_->setEnabled(chosen >= 0);
}

void QueueView::start_left() {
  bool some = false;
  for (const QModelIndex& index : list_->selectionModel()->selectedIndexes())
    some = queue_.start(index.row()) || some;
  if (!some) queue_.start_left();
}

void QueueView::show_row() {
  const int at = row();
  if (at >= 0 && queue_.state(at) == RunQueue::RowState::Left) return start_left();
  if (at < 0 || queue_.run(at) == 0) return;
  if (!queue_.is_in_open_workspace(at)) {
    emit session_.message(tr("It is in another workspace than the one that is open"));
    return;
  }
  const bool goes_on = queue_.state(at) == RunQueue::RowState::Running;
  session_.show_run(queue_.run(at), [&session = session_, goes_on] {
    if (goes_on)
      emit session.message(
          tr("This search still runs in the queue: it is shown as far as it has "
             "come. Once it is done, show it again to continue it"));
  });
}

void QueueView::move_by(int by) {
  queue_.move(row(), by);
  refresh();
}

void QueueView::stop_or_remove() {
  QModelIndexList chosen = list_->selectionModel()->selectedIndexes();
  std::ranges::sort(chosen, std::ranges::greater(), &QModelIndex::row);
  for (const QModelIndex& index : chosen)
    if (!queue_.remove(index.row())) queue_.stop(index.row());
}

std::vector<RunRow> QueueView::chosen_runs() const {
  std::vector<RunRow> runs;
  const QItemSelectionModel& chosen = *list_->selectionModel();
  for (int at = 0; at < queue_.rowCount(); ++at) {
    const bool wanted = !chosen.hasSelection() || chosen.isSelected(queue_.index(at, 0));
    if (wanted && queue_.run(at) > 0 && queue_.is_in_open_workspace(at))
      runs.push_back(queue_.run(at));
  }
  return runs;
}

void QueueView::context_menu(const QPoint& position) {
  const int at = row();
  QMenu menu(this);
  const bool goes_on = at >= 0 && queue_.state(at) == RunQueue::RowState::Running;
  QAction* show =
      menu.addAction(goes_on ? tr("Show What It Has Found So Far") : tr("Show What It Found"), this,
                     &QueueView::show_row);
  show->setEnabled(at >= 0 && queue_.run(at) > 0);
  if (queue_.left() > 0)
    menu.addAction(tr("Start What Was Left from Before"), this, &QueueView::start_left);
  QAction* together = menu.addAction(tr("Convergence in One Chart"), this,
                                     [this] { emit convergence_wanted(chosen_runs()); });
  together->setEnabled(!chosen_runs().empty());
  menu.addSeparator();
  QAction* earlier = menu.addAction(tr("Earlier"), this, [this] { move_by(-1); });
  earlier->setEnabled(up_->isEnabled());
  QAction* later = menu.addAction(tr("Later"), this, [this] { move_by(1); });
  later->setEnabled(down_->isEnabled());
  QAction* remove = menu.addAction(remove_->text(), this, &QueueView::stop_or_remove);
  remove->setEnabled(at >= 0);
  menu.addSeparator();
  menu.addAction(tr("Remove All That Wait"), this, [this] { queue_.remove_waiting(); })
      ->setEnabled(queue_.waiting() + queue_.left() > 0);
  menu.addAction(tr("Remove All That Are Done"), this, [this] { queue_.remove_done(); });
  menu.exec(list_->viewport()->mapToGlobal(position));
}

bool QueueView::eventFilter(QObject* watched, QEvent* event) {
  if (watched != list_ || event->type() != QEvent::KeyPress)
    return QWidget::eventFilter(watched, event);
  const auto& key = static_cast<const QKeyEvent&>(*event);
  const bool alt = key.modifiers().testFlag(Qt::AltModifier);
  if (key.key() == Qt::Key_Delete) return stop_or_remove(), true;
  if (alt && key.key() == Qt::Key_Up) return move_by(-1), true;
  if (alt && key.key() == Qt::Key_Down) return move_by(1), true;
  return QWidget::eventFilter(watched, event);
}

bool QueueView::may_close() {
  const int waiting = queue_.waiting();
  if (queue_.running_row() < 0 && waiting == 0) return true;
  QMessageBox question(QMessageBox::Question, tr("Searches are in the queue"), queue_.status(),
                       QMessageBox::NoButton, this);
  question.setInformativeText(tr(
      "What was found so far is in the workspace and stays. What waits is offered again when the "
      "workspace is opened."));
  auto* leave = question.addButton(tr("&Stop and Close"), QMessageBox::AcceptRole);
  auto* stay = question.addButton(tr("&Keep Open"), QMessageBox::RejectRole);
  question.setDefaultButton(stay);
  question.exec();
  return question.clickedButton() == leave;
}

}  // namespace strato
