#include "views/pipeline/pipeline_view.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QStackedWidget>
#include <QVBoxLayout>
#include <algorithm>

#include "views/models/ascending.h"
#include "views/pipeline/cell_mover.h"
#include "views/pipeline/layer_strip.h"
#include "views/pipeline/pipeline_canvas.h"
#include "views/pipeline/pipeline_words.h"
#include "views/pipeline/schedule_bar.h"
#include "views/style/elided_label.h"
#include "views/style/style.h"
#include "views/style/transport_bar.h"
#include "views/style/wrap_layout.h"

namespace strato {
namespace {

const QString kPipelinePlanner = QStringLiteral("pipeline");

QString short_words(PassKind pass) {
  return pass == PassKind::Forward    ? PipelineView::tr("forward")
         : pass == PassKind::Backward ? PipelineView::tr("backward")
                                      : PipelineView::tr("weight gradients");
}

}  // namespace

PipelineView::PipelineView(Session& session, QWidget* parent)
    : QWidget(parent),
      session_(session),
      model_(new PipelineModel(session, this)),
      pages_(new QStackedWidget),
      canvas_(new PipelineCanvas),
      schedule_(new ScheduleBar(session, *model_)),
      layers_(new LayerStrip(*model_)),
      mover_(new CellMover(*model_, *canvas_)),
      transport_(new style::TransportBar) {
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName(tr("Pipeline"));
  auto* content = new QWidget;
  auto* column = new QVBoxLayout(content);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(build_header());
  column->addWidget(canvas_, 1);
  column->addWidget(layers_);
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
  layout->setSpacing(0);
  layout->addWidget(schedule_);
  layout->addWidget(pages_, 1);
  connect(model_, &PipelineModel::shown_changed, this, &PipelineView::refresh);
  connect(model_, &PipelineModel::thought_changed, this, &PipelineView::refresh);
  connect(&session_, &Session::search_changed, this, &PipelineView::refresh_empty);
  connect(&session_, &Session::problem_changed, this, &PipelineView::refresh_empty);
  connect(transport_, &style::TransportBar::moved, this, &PipelineView::show_position);
  connect(canvas_, &PipelineCanvas::cell_selected, this, &PipelineView::select_groups);
  connect(canvas_, &PipelineCanvas::stage_clicked, this, [this](std::size_t row) {
    session_.selection().select_device(canvas_->scene().picture->rows().rows[row].shown);
  });
  connect(canvas_, &PipelineCanvas::drag_ended, this, &PipelineView::refresh);
  connect(mover_, &CellMover::refused, &session_, &Session::message);
  connect(plan_, &QPushButton::clicked, this,
          [this] { session_.start_search(kPipelinePlanner, {}); });
  refresh();
}

QWidget* PipelineView::build_empty() {
  empty_ = new QLabel;
  empty_->setAlignment(Qt::AlignCenter);
  empty_->setWordWrap(true);
  empty_->setForegroundRole(QPalette::PlaceholderText);
  plan_ = new QPushButton(tr("Plan a Pipeline"));
  plan_->setObjectName(QStringLiteral("plan a pipeline"));
  auto* page = new QWidget;
  auto* column = new QVBoxLayout(page);
  column->setContentsMargins(6 * style::kGrid, 6 * style::kGrid, 6 * style::kGrid,
                             6 * style::kGrid);
  column->setSpacing(3 * style::kGrid);
  column->addStretch(1);
  column->addWidget(empty_);
  column->addWidget(plan_, 0, Qt::AlignHCenter);
  column->addStretch(1);
  return page;
}

QWidget* PipelineView::build_header() {
  auto* header = new QWidget;
  headline_ = new style::ElidedLabel(Qt::ElideRight);
  QFont bold = headline_->font();
  bold.setWeight(QFont::DemiBold);
  headline_->setFont(bold);
  bubble_ = new style::ElidedLabel(Qt::ElideRight);
  auto* words = new style::WrapLayout(header);
  words->setContentsMargins(2 * style::kGrid, style::kGrid, 2 * style::kGrid, style::kGrid);
  words->setSpacing(3 * style::kGrid);
  words->addWidget(headline_);
  words->addWidget(bubble_);
  for (QLabel*& entry : legend_) {
    entry = new QLabel;
    words->addWidget(entry);
  }
  return header;
}

void PipelineView::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  model_->watch(true);
}

void PipelineView::hideEvent(QHideEvent* event) {
  QWidget::hideEvent(event);
  transport_->play(false);
  model_->watch(false);
}

void PipelineView::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange) refresh_header();
}

bool PipelineView::is_empty() const { return pages_->currentIndex() == 0; }
QString PipelineView::empty_text() const { return empty_->text(); }
QString PipelineView::headline() const { return headline_->text(); }
QString PipelineView::story() const { return story_->text(); }

// The last picture stays while the next one is made.
void PipelineView::refresh() {
  const PipelineModel::Picture& seen = model_->seen();
  const bool is_pipeline = seen && seen->is_pipeline();
  if (is_pipeline && seen != canvas_->scene().picture && !canvas_->drags()) {
    canvas_->show_picture(seen);
    transport_->begin(seen->in_time().size(), seen->in_time().size());
    show_position();
  }
  if (!is_pipeline && !model_->looking()) {
    canvas_->show_picture(nullptr);
    transport_->begin(0, 0);
  }
  pages_->setCurrentIndex(canvas_->scene().picture ? 1 : 0);
  refresh_header();
  refresh_empty();
}

void PipelineView::refresh_header() {
  const auto& picture = canvas_->scene().picture;
  if (!picture) return;
  const bool thought = picture == model_->thought() && picture != model_->shown();
  const QString shape =
      shape_words(*picture) + QStringLiteral(" · ") + style::time(picture->price().step_time);
  headline_->setText(thought ? tr("Not applied yet: %1").arg(shape) : shape);
  bubble_->setText(bubble_words(*picture));
  bubble_->setToolTip(
      bubble_->text() + QLatin1Char('\n') +
      tr("The part of the step in which a stage neither computes nor takes part in an exchange "
         "among its own devices, on average over stages"));
  refresh_legend();
}

void PipelineView::refresh_legend() {
  const PipelinePicture& picture = *canvas_->scene().picture;
  const auto show = [&](std::size_t entry, const QColor& colour, const QString& mark,
                        const QString& words, bool there) {
    legend_[entry]->setText(
        QStringLiteral("<span style='color:%1'>%2</span>&nbsp;%3").arg(colour.name(), mark, words));
    legend_[entry]->setVisible(there);
  };
  const QString solid = QStringLiteral("■"), hatched = QStringLiteral("▨");
  const QColor muted = style::muted_text(palette());
  const std::size_t stages = picture.plan().stages().size();
  for (const PassKind pass : {PassKind::Forward, PassKind::Backward, PassKind::Weights})
    show(static_cast<std::size_t>(pass), colour_of(pass, 0, 1, palette()), solid, short_words(pass),
         pass != PassKind::Weights || picture.plan().splits_backward());
  show(3, muted, hatched, tr("waits"), true);
  show(4, style::kind_colour(TaskKind::Transfer, style::is_dark(palette())), hatched,
       tr("transfer"), true);
  show(5, muted, solid, tr("fainter: a later chunk"), picture.plan().chunk_count() > stages);
}

void PipelineView::refresh_empty() {
  const Snapshot& snapshot = session_.snapshot();
  const bool open = snapshot.problem != nullptr;
  const bool idle = session_.search().state == SearchPhase::Idle;
  const auto planners = session_.plugins().list(PluginKind::Planner);
  plan_->setVisible(open && idle && !model_->looking() &&
                    std::ranges::find(planners, kPipelinePlanner.toStdString(),
                                      &PluginInfo::name) != planners.end());
  if (!open)
    empty_->setText(tr("No pipeline yet.\nOpen a model and a cluster (Ctrl+O) first."));
  else if (!idle)
    empty_->setText(tr("%1 is at work.\nIts best plan appears here, if it is a pipeline.")
                        .arg(session_.search().run));
  else if (model_->looking())
    empty_->setText(tr("Looking at the plan…"));
  else if (!model_->trouble().isEmpty())
    empty_->setText(model_->trouble());
  else if (snapshot.strategy.micro_batches.count < 2)
    empty_->setText(
        tr("The plan takes the batch as a whole, so that no stage follows another.\nLet the "
           "planner make stages, or put groups on different devices in Placement and choose "
           "micro-batches above."));
  else
    empty_->setText(
        tr("All devices are one stage: they compute every op together, or wait for "
           "each other in a circle.\nLet the planner make stages, or put groups that "
           "follow each other on different devices in Placement."));
}

void PipelineView::show_position() {
  const auto& picture = canvas_->scene().picture;
  if (!picture) return;
  const std::size_t position = transport_->position();
  canvas_->reveal(position);
  story_->setText(
      position == transport_->steps()
          ? tr("Space plays the step cell by cell. A click on a cell follows its micro-batch "
               "through all stages; hatched is time in which a stage waits, hover to see for what.")
          : story_of(*picture, position));
}

// Those of the chunk of the selected cell: they light up in all views.
void PipelineView::select_groups() {
  if (canvas_->selected()) setFocus();
  const auto& picture = canvas_->scene().picture;
  const auto& problem = session_.snapshot().problem;
  if (!picture || picture != model_->shown() || !problem || !canvas_->selected()) return;
  const std::int32_t chunk = picture->cell(*canvas_->selected()).cell.chunk;
  std::vector<GroupId> groups;
  for (const OpId op : problem->graph->ops().ids())
    if (const auto cell = picture->plan().cell_of(op); cell && cell->chunk == chunk)
      groups.push_back(problem->grouping->group_of(op));
  session_.selection().select_groups(ascending(std::move(groups)));
}

void PipelineView::keyPressEvent(QKeyEvent* event) {
  if (!canvas_->scene().picture) return QWidget::keyPressEvent(event);
  const bool control = event->modifiers().testFlag(Qt::ControlModifier);
  switch (event->key()) {
    case Qt::Key_Left:
    case Qt::Key_Right:
      if (event->modifiers().testFlag(Qt::AltModifier))
        return mover_->move_selected(event->key() == Qt::Key_Left ? -1 : 1);
      if (!control) break;
      return canvas_->select_beside(event->key() == Qt::Key_Left ? -1 : 1);
    case Qt::Key_Return:
    case Qt::Key_Enter:
      model_->apply();
      return;
    case Qt::Key_Up:
      return canvas_->select_across(-1);
    case Qt::Key_Down:
      return canvas_->select_across(1);
    case Qt::Key_W:
      return canvas_->zoom(1.4);
    case Qt::Key_S:
      return canvas_->zoom(1 / 1.4);
    case Qt::Key_A:
      return canvas_->pan(-0.15);
    case Qt::Key_D:
      return canvas_->pan(0.15);
    case Qt::Key_F:
      return canvas_->fit_all();
    case Qt::Key_Escape:
      if (canvas_->drags()) canvas_->end_drag();
      if (!canvas_->selected() && !model_->thinks()) break;
      canvas_->select(std::nullopt);
      return model_->forget();
    default:
      break;
  }
  if (!transport_->take_key(*event)) QWidget::keyPressEvent(event);
}

void PipelineView::paintEvent(QPaintEvent*) {
  if (!hasFocus()) return;
  QPainter painter(this);
  painter.setPen(QPen(style::selection(style::is_dark(palette())), 1));
  painter.drawRect(rect().adjusted(0, 0, -1, -1));
}

}  // namespace strato
