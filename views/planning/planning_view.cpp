#include "views/planning/planning_view.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QSplitter>
#include <QStackedWidget>
#include <QTimer>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "core/base/error.h"
#include "views/models/planning_replay.h"
#include "views/planning/planning_text.h"
#include "views/planning/rows_table.h"
#include "views/planning/sequence_strip.h"
#include "views/planning/slot_canvas.h"
#include "views/style/elided_label.h"
#include "views/style/style.h"
#include "views/style/transport_bar.h"

namespace strato {
namespace {

constexpr int kSelectEvery = 120;  // ms
const QString kSuggested = QStringLiteral("celeritas");

void check_ops(const PlanningSteps& steps, const Graph& graph) {
  const auto known = [&](OpId op) { return op.valid() && op.index() < graph.ops().size(); };
  bool all = std::ranges::all_of(steps.fusion.sequence, known) &&
             std::ranges::all_of(steps.trials, known, &PlanningSteps::Trial::op);
  for (const auto& ops : steps.nodes) all &= std::ranges::all_of(ops, known);
  if (!all) {
    throw InputError("", "planning steps", "they name ops that the model does not have",
                     "report it to the authors of the planner");
  }
}

QToolButton* make_button(const QString& text, const QString& tip) {
  auto* button = new QToolButton;
  button->setText(text);
  button->setToolTip(tip);
  button->setAutoRaise(true);
  button->setFocusPolicy(Qt::NoFocus);  // the view has the keys
  return button;
}

}  // namespace

PlanningView::PlanningView(Session& session, QWidget* parent)
    : QWidget(parent),
      session_(session),
      pages_(new QStackedWidget(this)),
      transport_(new style::TransportBar),
      select_later_(new QTimer(this)) {
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName(tr("Planner steps"));
  select_later_->setSingleShot(true);
  select_later_->setInterval(kSelectEvery);
  auto* content = new QWidget;
  auto* column = new QVBoxLayout(content);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(build_header());
  column->addWidget(build_body(), 1);
  story_ = new QLabel;
  story_->setTextFormat(Qt::PlainText);
  story_->setWordWrap(true);
  story_->setAlignment(Qt::AlignTop | Qt::AlignLeft);
  story_->setContentsMargins(2 * style::kGrid, style::kGrid, 2 * style::kGrid, 0);
  // Room for the longest story, so that nothing jumps while it plays.
  story_->setMinimumHeight(2 * fontMetrics().lineSpacing() + style::kGrid + 2);
  column->addWidget(story_);
  auto* bottom = new QHBoxLayout;
  bottom->setContentsMargins(2 * style::kGrid, style::kGrid, 2 * style::kGrid, style::kGrid);
  bottom->addWidget(transport_);
  column->addLayout(bottom);
  pages_->addWidget(build_empty());
  pages_->addWidget(content);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(1, 1, 1, 1);  // the frame of the focus
  layout->addWidget(pages_);
  connect_parts();
  take_steps();
}

QWidget* PlanningView::build_empty() {
  empty_ = new QLabel;
  empty_->setAlignment(Qt::AlignCenter);
  empty_->setWordWrap(true);
  empty_->setForegroundRole(QPalette::PlaceholderText);
  run_ = new QPushButton(tr("Run %1").arg(kSuggested));
  run_->setFocusPolicy(Qt::NoFocus);
  auto* page = new QWidget;
  auto* column = new QVBoxLayout(page);
  column->setContentsMargins(24, 24, 24, 24);
  column->setSpacing(3 * style::kGrid);
  column->addStretch(1);
  column->addWidget(empty_);
  column->addWidget(run_, 0, Qt::AlignHCenter);
  column->addStretch(1);
  return page;
}

QWidget* PlanningView::build_header() {
  auto* header = new QWidget;
  auto* row = new QHBoxLayout(header);
  row->setContentsMargins(2 * style::kGrid, style::kGrid, 2 * style::kGrid, style::kGrid);
  row->setSpacing(style::kGrid);
  algorithm_ = new style::ElidedLabel(Qt::ElideRight, header);
  algorithm_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  phases_ = new QHBoxLayout;
  phases_->setSpacing(0);
  follow_ = make_button(tr("Follow"), tr("Keep the node of the step in sight (F)"));
  follow_->setCheckable(true);
  follow_->setChecked(true);
  fit_ = make_button(tr("Fit"), tr("Show the whole timeline"));
  row->addLayout(phases_);
  row->addSpacing(2 * style::kGrid);
  row->addWidget(algorithm_, 1);
  row->addWidget(follow_);
  row->addWidget(fit_);
  return header;
}

QWidget* PlanningView::build_body() {
  across_ = new QSplitter(Qt::Horizontal);
  down_ = new QSplitter(Qt::Vertical);
  tables_ = new QSplitter(Qt::Vertical);
  canvas_ = new SlotCanvas;
  strip_ = new SequenceStrip;
  compared_ = new RowsTable(tr("What was compared"));
  ready_ = new RowsTable(tr("Nodes that are ready"));
  down_->addWidget(canvas_);
  down_->addWidget(strip_);
  down_->setStretchFactor(0, 3);
  down_->setStretchFactor(1, 2);
  down_->setSizes({300, 200});
  tables_->addWidget(compared_);
  tables_->addWidget(ready_);
  tables_->setStretchFactor(0, 3);
  tables_->setStretchFactor(1, 2);
  across_->addWidget(down_);
  across_->addWidget(tables_);
  across_->setStretchFactor(0, 1);
  across_->setSizes({620, 380});
  for (QSplitter* splitter : {across_, down_, tables_}) splitter->setChildrenCollapsible(false);
  return across_;
}

void PlanningView::connect_parts() {
  connect(transport_, &style::TransportBar::moved, this, [this] {
    show_position();
    if (!select_later_->isActive()) select_later_->start();
  });
  connect(select_later_, &QTimer::timeout, this, &PlanningView::select_ops);
  connect(canvas_, &SlotCanvas::step_clicked, this, &PlanningView::step_clicked);
  connect(strip_, &SequenceStrip::position_clicked, this, &PlanningView::seek);
  for (RowsTable* table : {compared_, ready_}) {
    connect(table, &RowsTable::node_clicked, this, [this](int node) {
      const std::size_t step = replay_ ? replay_->step_of(node) : PlanningReplay::kNever;
      if (step != PlanningReplay::kNever) step_clicked(step);
    });
  }
  connect(follow_, &QToolButton::toggled, canvas_, &SlotCanvas::set_follow);
  connect(follow_, &QToolButton::toggled, strip_, &SequenceStrip::set_follow);
  connect(fit_, &QToolButton::clicked, this, [this] {
    follow_->setChecked(false);
    canvas_->fit_all();
  });
  connect(run_, &QPushButton::clicked, this, [this] { session_.start_search(kSuggested, {}); });
  connect(&session_, &Session::planning_steps_changed, this, &PlanningView::take_steps);
  connect(&session_, &Session::problem_changed, this, &PlanningView::refresh_empty);
  connect(&session_, &Session::search_changed, this, &PlanningView::refresh_empty);
}

void PlanningView::take_steps() {
  show_steps(session_.planning_steps(), session_.snapshot().problem);
}

void PlanningView::show_steps(std::shared_ptr<const PlanningSteps> steps,
                              std::shared_ptr<const Problem> problem) {
  replay_.reset();
  problem_ = std::move(problem);
  QString trouble;
  if (steps && problem_) {
    try {
      check_ops(*steps, *problem_->graph);
      replay_ = std::make_shared<const PlanningReplay>(std::move(steps));
    } catch (const InputError& error) {
      trouble = QString::fromUtf8(error.what());
    }
  }
  canvas_->show_replay(replay_, problem_);
  strip_->show_replay(replay_, problem_);
  pages_->setCurrentIndex(replay_ ? 1 : 0);
  if (!replay_) {
    transport_->begin(0, 0);
    refresh_empty();
    if (!trouble.isEmpty()) empty_->setText(trouble);
    return;
  }
  fill_phases();
  transport_->begin(replay_->size(), replay_->size());
  show_position();
  canvas_->fit_all();
  tell_algorithm();
}

// A baseline may have won: then these are not the steps to the strategy that is shown.
void PlanningView::tell_algorithm() {
  QString text = QString::fromStdString(replay_->steps().algorithm);
  const QString& note = session_.search().note;
  if (!note.isEmpty()) text += QStringLiteral(" · ") + note;
  algorithm_->setText(text);
  algorithm_->setToolTip(text);
}

void PlanningView::refresh_empty() {
  if (replay_) return tell_algorithm();
  const SearchStatus& search = session_.search();
  const bool open = session_.snapshot().problem != nullptr;
  const bool idle = search.state == SearchPhase::Idle;
  const auto planners = session_.plugins().list(PluginKind::Planner);
  run_->setVisible(open && idle &&
                   std::ranges::find(planners, kSuggested.toStdString(), &PluginInfo::name) !=
                       planners.end());
  const QString what =
      tr("Run celeritas, order-place, heft, fastt, m-etf, m-sct or m-topo with Search (F5): how "
         "it ranked, fused and placed the ops appears here, step by step.");
  if (!open) {
    empty_->setText(tr("No planner steps yet.\nOpen a model and a cluster (Ctrl+O) first."));
  } else if (!idle) {
    empty_->setText(tr("%1 is at work.\nIts steps appear here when it is done, if it records them.")
                        .arg(search.run));
  } else if (search.run.isEmpty()) {
    empty_->setText(tr("No planner steps yet.\n") + what);
  } else {
    empty_->setText(tr("No steps of %1: they are kept for searches of this session, of planners "
                       "that place op by op, on models of moderate size.\n")
                        .arg(search.run) +
                    what);
  }
}

QString PlanningView::story() const { return story_->text(); }
QString PlanningView::empty_text() const { return empty_->text(); }

void PlanningView::fill_phases() {
  for (QToolButton* button : phase_buttons_) delete button;
  phase_buttons_.clear();
  for (const auto phase :
       {PlanningPhase::Fuse, PlanningPhase::Rank, PlanningPhase::Place, PlanningPhase::Split}) {
    if (!replay_->has(phase)) continue;
    const std::size_t first = replay_->begin(phase) + 1;
    const std::size_t steps = replay_->end(phase) - replay_->begin(phase);
    auto* button =
        make_button(steps > 1 ? tr("%1 %2").arg(phase_name(phase)).arg(steps) : phase_name(phase),
                    tr("To the first of these steps"));
    button->setCheckable(true);
    button->setProperty("phase", static_cast<int>(phase));
    connect(button, &QToolButton::clicked, this, [this, first] { seek(first); });
    phases_->addWidget(button);
    phase_buttons_.push_back(button);
  }
}

void PlanningView::seek(std::size_t position) { transport_->seek(position); }

void PlanningView::step_clicked(std::size_t step) {
  setFocus();
  seek(replay_->position_of_step(step));
}

void PlanningView::show_position() {
  if (!replay_) return;
  const std::size_t position = transport_->position();
  const PlanningPhase phase = replay_->phase(position);
  for (QToolButton* button : phase_buttons_) {
    button->setChecked(button->property("phase").toInt() == static_cast<int>(phase));
  }
  const bool places = phase == PlanningPhase::Place || phase == PlanningPhase::Split;
  canvas_->setVisible(places);
  follow_->setVisible(phase != PlanningPhase::Rank);
  fit_->setVisible(phase != PlanningPhase::Rank);
  canvas_->set_position(position);
  strip_->set_position(position);
  compared_->show_rows(compared_rows(*replay_, position, *problem_));
  ready_->show_rows(ready_rows(*replay_, position));
  tables_->setVisible(compared_->model().rowCount() > 0);
  story_->setText(planning_story(*replay_, position, *problem_));
}

void PlanningView::select_ops() {
  const auto& shown = session_.snapshot().problem;
  if (!replay_ || !shown || shown->graph != problem_->graph) return;
  std::vector<GroupId> groups;
  for (const OpId op : replay_->ops(transport_->position()))
    groups.push_back(shown->grouping->group_of(op));
  std::ranges::sort(groups);
  const auto rest = std::ranges::unique(groups);
  groups.erase(rest.begin(), rest.end());
  session_.selection().select_groups(std::move(groups));
}

void PlanningView::keyPressEvent(QKeyEvent* event) {
  if (!replay_ || transport_->take_key(*event)) return;
  switch (event->key()) {
    case Qt::Key_W:
      return canvas_->zoom(1.4);
    case Qt::Key_S:
      return canvas_->zoom(1 / 1.4);
    case Qt::Key_A:
      return canvas_->pan(-0.15);
    case Qt::Key_D:
      return canvas_->pan(0.15);
    case Qt::Key_F:
      return follow_->toggle();
    default:
      QWidget::keyPressEvent(event);
  }
}

void PlanningView::paintEvent(QPaintEvent*) {
  if (!hasFocus()) return;
  QPainter painter(this);
  painter.setPen(QPen(style::selection(style::is_dark(palette())), 1));
  painter.drawRect(rect().adjusted(0, 0, -1, -1));
}

}  // namespace strato
