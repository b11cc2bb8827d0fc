#include "views/pipeline/pipeline_canvas.h"

#include <QApplication>
#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>
#include <QToolTip>
#include <QWheelEvent>
#include <algorithm>

#include "views/pipeline/pipeline_words.h"
#include "views/style/style.h"
#include "views/style/text.h"

namespace strato {
namespace {

constexpr int kLeastCells = 26, kMostCells = 44, kLeastMemory = 14, kMostMemory = 36;
constexpr int kWidestLabels = 210, kNarrowestLabels = 132;
constexpr double kWheelZoom = 1.0015;

}  // namespace

PipelineCanvas::PipelineCanvas(QWidget* parent) : QAbstractScrollArea(parent) {
  setFrameShape(QFrame::NoFrame);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);  // it zooms and pans
  setFocusPolicy(Qt::NoFocus);                           // the view has the keys
  viewport()->setMouseTracking(true);
  setAccessibleName(tr("Stages of the pipeline over time"));
  setMinimumHeight(kPipelineAxis + 2 * (kLeastCells + kLeastMemory + 14));
  connect(verticalScrollBar(), &QScrollBar::valueChanged, this, [this](int value) {
    scene_.scroll = value;
    viewport()->update();
  });
}

double PipelineCanvas::whole() const {
  return scene_.picture ? static_cast<double>(scene_.picture->rows().step_time.value) : 1;
}

void PipelineCanvas::show_picture(std::shared_ptr<const PipelinePicture> picture) {
  const double before = whole();
  const bool first = !scene_.picture;
  if (picture == scene_.picture) return;
  std::optional<ScheduleCell> kept;  // the selected one is found again
  if (scene_.selected) kept = scene_.picture->cell(*scene_.selected).cell;
  scene_.picture = std::move(picture);
  scene_.drop.reset();
  scene_.selected.reset();
  if (kept && scene_.picture) scene_.selected = scene_.picture->find(*kept);
  scene_.hovered.reset();
  scene_.revealed = scene_.picture ? scene_.picture->in_time().size() : 0;
  lay_out();
  const bool zoomed = scene_.mapping.span() < before;
  if (first || !zoomed || whole() < 0.5 * before || whole() > 2 * before)
    fit_all();
  else
    moved();
}

void PipelineCanvas::reveal(std::size_t cells) {
  scene_.revealed = cells;
  if (scene_.picture && cells > 0 && cells < scene_.picture->in_time().size())
    keep_in_sight(scene_.picture->in_time()[cells - 1]);
  viewport()->update();
}

void PipelineCanvas::select(std::optional<CellAt> cell) {
  if (cell == scene_.selected) return;
  scene_.selected = cell;
  if (cell) keep_in_sight(*cell);
  viewport()->update();
  emit cell_selected();
}

void PipelineCanvas::keep_in_sight(CellAt cell) {
  const QRectF box = scene_.box_of(cell);
  if (box.left() < scene_.mapping.left || box.right() > viewport()->width()) {
    scene_.mapping.centre(scene_.mapping.time(box.center().x()));
    moved();
  }
  const int top = static_cast<int>(cell.row) * scene_.row_height();
  const int room = viewport()->height() - kPipelineAxis;
  if (top < scene_.scroll) verticalScrollBar()->setValue(top);
  if (top + scene_.row_height() > scene_.scroll + room)
    verticalScrollBar()->setValue(top + scene_.row_height() - room);
}

void PipelineCanvas::select_beside(int cells) {
  if (!scene_.picture || scene_.picture->in_time().empty()) return;
  if (!scene_.selected) return select(scene_.picture->in_time().front());
  CellAt to = *scene_.selected;
  const auto count = std::ssize(scene_.picture->rows().rows[to.row].cells);
  to.cell = static_cast<std::size_t>(
      std::clamp<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(to.cell) + cells, 0, count - 1));
  select(to);
}

void PipelineCanvas::select_across(int rows) {
  if (!scene_.picture || scene_.picture->in_time().empty()) return;
  if (!scene_.selected) return select(scene_.picture->in_time().front());
  const std::vector<StageRow>& all = scene_.picture->rows().rows;
  const auto row = static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(
      static_cast<std::ptrdiff_t>(scene_.selected->row) + rows, 0, std::ssize(all) - 1));
  const Nanos now = scene_.picture->cell(*scene_.selected).begin;
  const std::vector<StageCell>& cells = all[row].cells;
  if (cells.empty()) return;
  const auto later =
      std::ranges::partition_point(cells, [&](const StageCell& cell) { return cell.end <= now; });
  const auto last = std::ssize(cells) - 1;
  select(CellAt{row, static_cast<std::size_t>(std::min(later - cells.begin(), last))});
}

void PipelineCanvas::fit_all() {
  scene_.mapping.fit(0, whole(), 0.01);
  viewport()->update();
}

void PipelineCanvas::zoom(double factor) {
  scene_.mapping.zoom(factor, scene_.mapping.left + scene_.mapping.width / 2);
  moved();
}

void PipelineCanvas::pan(double parts) {
  scene_.mapping.pan(parts * scene_.mapping.width);
  moved();
}

void PipelineCanvas::moved() {
  scene_.mapping.clamp(whole());
  viewport()->update();
}

// Rows are as high as there is room, and scroll where there is none.
void PipelineCanvas::lay_out() {
  scene_.palette = palette();
  scene_.font = font();
  const int labels = std::clamp(viewport()->width() / 5, kNarrowestLabels, kWidestLabels);
  scene_.mapping.resize(labels, std::max(1, viewport()->width() - labels));
  if (!scene_.picture || scene_.picture->rows().rows.empty()) return;
  const auto rows = static_cast<int>(scene_.picture->rows().rows.size());
  const int each = (viewport()->height() - kPipelineAxis) / rows - 14;
  const int least = std::max(kLeastCells, 2 * fontMetrics().height() - 4);
  scene_.cells_height = std::clamp(each * 3 / 5, least, std::max(least, kMostCells));
  scene_.memory_height = std::clamp(each - scene_.cells_height, kLeastMemory, kMostMemory);
  const int room = viewport()->height() - kPipelineAxis;
  verticalScrollBar()->setRange(0, std::max(0, scene_.height() - room));
  verticalScrollBar()->setPageStep(room);
  verticalScrollBar()->setSingleStep(scene_.row_height() / 2);
  scene_.scroll = verticalScrollBar()->value();
}

void PipelineCanvas::resizeEvent(QResizeEvent* event) {
  QAbstractScrollArea::resizeEvent(event);
  const bool fitted = scene_.mapping.span() >= whole();
  lay_out();
  fitted ? fit_all() : moved();
}

void PipelineCanvas::changeEvent(QEvent* event) {
  QAbstractScrollArea::changeEvent(event);
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) {
    lay_out();
    viewport()->update();
  }
}

void PipelineCanvas::paintEvent(QPaintEvent*) {
  QPainter painter(viewport());
  PipelinePainter(scene_, viewport()->size()).paint(painter);
}

void PipelineCanvas::wheelEvent(QWheelEvent* event) {
  if (event->modifiers().testFlag(Qt::ControlModifier)) {
    scene_.mapping.zoom(std::pow(kWheelZoom, event->angleDelta().y()),
                        std::max(scene_.mapping.left, event->position().x()));
    return moved();
  }
  if (event->angleDelta().x() != 0) return pan(-event->angleDelta().x() / 1000.0);
  QAbstractScrollArea::wheelEvent(event);
}

void PipelineCanvas::mousePressEvent(QMouseEvent* event) {
  const bool pans =
      event->button() == Qt::MiddleButton ||
      (event->button() == Qt::LeftButton && event->modifiers().testFlag(Qt::ShiftModifier));
  if (pans)
    pan_from_ = event->position();
  else if (event->button() == Qt::LeftButton && scene_.picture && scene_.cell_at(event->position()))
    press_ = event->position();
}

void PipelineCanvas::tell_drop(const QString& words, bool refused) {
  if (!scene_.drop) return;
  scene_.drop->refused = refused;
  viewport()->setCursor(refused ? Qt::ForbiddenCursor : Qt::ClosedHandCursor);
  note_.tell(words, cursor_, refused);
  viewport()->update();
}

void PipelineCanvas::end_drag() {
  press_.reset();
  scene_.drop.reset();
  note_.forget();
  viewport()->unsetCursor();
  viewport()->update();
  emit drag_ended();
}

void PipelineCanvas::mouseMoveEvent(QMouseEvent* event) {
  if (pan_from_) {
    scene_.mapping.pan(pan_from_->x() - event->position().x());
    pan_from_ = event->position();
    return moved();
  }
  if (press_) {
    cursor_ = event->position().toPoint();
    const bool far_enough =
        (event->position() - *press_).manhattanLength() >= QApplication::startDragDistance();
    if (!scene_.drop && !far_enough) return;
    const CellAt moved = *scene_.cell_at(*press_);
    const std::size_t before = scene_.place_at(moved.row, event->position().x());
    if (scene_.drop && scene_.drop->before == before) return;
    scene_.drop = {moved, before, false};
    emit cell_dragged();
    return viewport()->update();
  }
  const auto hovered = scene_.picture ? scene_.cell_at(event->position()) : std::nullopt;
  if (hovered == scene_.hovered) return;
  scene_.hovered = hovered;
  viewport()->update();
}

void PipelineCanvas::mouseReleaseEvent(QMouseEvent* event) {
  if (pan_from_) return pan_from_.reset();
  if (event->button() != Qt::LeftButton || !scene_.picture) return;
  if (drags()) {
    emit cell_dropped();
    return end_drag();
  }
  press_.reset();
  const auto row = scene_.row_at(event->position().y());
  if (row && event->position().x() < scene_.mapping.left) emit stage_clicked(*row);
  select(scene_.cell_at(event->position()));
}

QString PipelineCanvas::tip_at(const QPointF& point) const {
  if (!scene_.picture) return {};
  const PipelinePicture& picture = *scene_.picture;
  const auto row = scene_.row_at(point.y());
  if (!row) return {};
  const StageRow& stage = picture.rows().rows[*row];
  const Cluster& cluster = *picture.timeline().program->cluster;
  const QString name = stage_name(static_cast<std::int32_t>(*row));
  const auto span = [](Nanos begin, Nanos end) {
    return tr("%1, from %2 to %3")
        .arg(style::time(end - begin), style::time(begin), style::time(end));
  };
  if (point.x() < scene_.mapping.left)
    return tr("%1: %2\nThe row is that of %3, which has most to do.")
        .arg(name, devices_words(stage, cluster), text(cluster.device(stage.shown).name));
  if (const StageBubble* bubble = scene_.bubble_at(point)) {
    QStringList lines{cause_words(*bubble, stage, picture.plan()),
                      tr("%1: %2").arg(name, span(bubble->begin, bubble->end))};
    if (bubble->next) lines << tr("Then: %1").arg(words_of(*bubble->next, picture.plan()));
    return lines.join(QLatin1Char('\n'));
  }
  if (const auto place = scene_.cell_at(point)) {
    const StageCell& cell = picture.cell(*place);
    return tr("%1: %2\n%3\n%4 in schedule files, which count from 0")
        .arg(name, words_of(cell.cell, picture.plan()), span(cell.begin, cell.end),
             text(name_of(cell.cell)));
  }
  if (scene_.cells_of(*row).contains(point))
    return tr("%1: what runs once a step: updates, and exchanges of gradients").arg(name);
  if (!scene_.memory_of(*row).contains(point)) return {};
  const auto time = std::clamp(scene_.mapping.time(point.x()), 0.0, whole());
  const DeviceUse& use = picture.timeline().devices[stage.shown];
  return tr("%1 after %2\nat most %3")
      .arg(style::bytes(Bytes(picture.memory()[*row].at(static_cast<std::int64_t>(time)))),
           style::time(Nanos(static_cast<std::int64_t>(time))),
           style::bytes_of(use.peak, use.capacity));
}

bool PipelineCanvas::viewportEvent(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    QToolTip::showText(help->globalPos(), tip_at(help->pos()), this);
    return true;
  }
  if (event->type() == QEvent::Leave && scene_.hovered) {
    scene_.hovered.reset();
    viewport()->update();
  }
  return QAbstractScrollArea::viewportEvent(event);
}

}  // namespace strato
