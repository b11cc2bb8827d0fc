#include "views/planning/slot_canvas.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>
#include <QToolTip>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

#include "views/planning/pale.h"
#include "views/planning/planning_text.h"
#include "views/style/fitting_name.h"
#include "views/style/style.h"
#include "views/timeline/slice_colours.h"
#include "views/timeline/timeline_painter.h"

namespace strato {
namespace {

constexpr int kSmallestRow = 16, kTallestRow = 48;
constexpr double kFold = 3;          // px: less is folded with its neighbours
constexpr double kSmallest = 5;      // px: the node of the step and its candidates are seen
constexpr double kNodesInView = 40;  // of the usual length, when it follows

}  // namespace

SlotCanvas::SlotCanvas(QWidget* parent) : QAbstractScrollArea(parent) {
  setFrameShape(QFrame::NoFrame);
  setFocusPolicy(Qt::NoFocus);
  viewport()->setMouseTracking(true);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setAccessibleName(tr("Nodes placed so far"));
}

QSize SlotCanvas::minimumSizeHint() const {
  return {240, 3 * kSmallestRow + fontMetrics().height() + 2 * style::kGrid};
}

void SlotCanvas::show_replay(std::shared_ptr<const PlanningReplay> replay,
                             std::shared_ptr<const Problem> problem) {
  replay_ = std::move(replay);
  problem_ = std::move(problem);
  position_ = replay_ ? replay_->size() : 0;
  std::vector<std::int64_t> lengths;
  if (replay_) {
    for (const auto& step : replay_->steps().steps) {
      const std::int64_t length = (step.finish - step.start).value;
      if (length > 0) lengths.push_back(length);
    }
  }
  usual_length_ = 1;
  if (!lengths.empty()) {
    const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
    std::nth_element(lengths.begin(), middle, lengths.end());
    usual_length_ = static_cast<double>(*middle);
  }
  fits_all_ = true;
  lay_out();
}

double SlotCanvas::whole() const {
  return replay_ ? std::max(1.0, static_cast<double>(replay_->last_time().value)) : 1;
}

int SlotCanvas::rows() const {
  if (!replay_) return 0;
  const std::size_t devices = problem_ ? problem_->cluster->device_count() : 0;
  return static_cast<int>(std::max(devices, replay_->device_count()));
}

void SlotCanvas::lay_out() {
  const int axis = fontMetrics().height() + style::kGrid;
  int widest = 0;
  for (int row = 0; problem_ && row < rows(); ++row) {
    const QString name = device_name(*problem_->cluster, DeviceId(static_cast<std::size_t>(row)));
    widest = std::max(widest, fontMetrics().horizontalAdvance(name));
  }
  gutter_ = std::min(widest, 150) + 4 * style::kGrid;
  const int room = viewport()->height() - axis;
  row_height_ = std::clamp(room / std::max(1, rows()), kSmallestRow, kTallestRow);
  verticalScrollBar()->setRange(0, std::max(0, rows() * row_height_ - room));
  verticalScrollBar()->setPageStep(room);
  verticalScrollBar()->setSingleStep(row_height_);
  mapping_.resize(gutter_, viewport()->width() - gutter_ - 2 * style::kGrid);
  if (fits_all_) {
    fit_all();
  } else {
    mapping_.clamp(whole());
    viewport()->update();
  }
}

void SlotCanvas::resizeEvent(QResizeEvent*) { lay_out(); }

// Room on the right for the finish time of what ends last.
void SlotCanvas::fit_all() {
  fits_all_ = true;
  mapping_.fit(0, whole());
  viewport()->update();
}

void SlotCanvas::set_follow(bool on) {
  follow_ = on;
  if (on) follow();
  viewport()->update();
}

void SlotCanvas::set_position(std::size_t position) {
  position_ = position;
  if (follow_) follow();
  viewport()->update();
}

// Zooms in where nodes would be folded, and moves only when the node leaves the middle.
void SlotCanvas::follow() {
  const PlanningSteps::Step* step = replay_ ? replay_->step(position_) : nullptr;
  if (step == nullptr) return;
  const double wanted = std::max(kNodesInView * usual_length_, TimeMapping::kMinSpan);
  if (fits_all_ && wanted < whole()) {
    fits_all_ = false;
    mapping_.ns_per_px = wanted / mapping_.width;
    mapping_.centre(static_cast<double>(step->start.value));
  }
  double from = static_cast<double>(step->start.value),
         to = static_cast<double>(step->finish.value);
  if (to - from > 0.8 * mapping_.span()) to = from + 0.8 * mapping_.span();
  const double margin = 0.1 * mapping_.span();
  if (from < mapping_.begin + margin) mapping_.begin = from - 3 * margin;
  if (to > mapping_.end() - 2 * margin) mapping_.begin = to - mapping_.span() + 4 * margin;
  mapping_.clamp(whole());
  const int top = static_cast<int>(step->device.index()) * row_height_;
  QScrollBar* bar = verticalScrollBar();
  if (top < bar->value() || top + row_height_ > bar->value() + bar->pageStep()) {
    bar->setValue(top - bar->pageStep() / 2);
  }
}

void SlotCanvas::zoom(double factor) {
  fits_all_ = false;
  mapping_.zoom(factor, mapping_.left + mapping_.width / 2);
  mapping_.clamp(whole());
  viewport()->update();
}

void SlotCanvas::pan(double part) {
  mapping_.pan(part * mapping_.width);
  mapping_.clamp(whole());
  viewport()->update();
}

void SlotCanvas::wheelEvent(QWheelEvent* event) {
  const double delta = event->angleDelta().y() / 120.0;
  if (event->modifiers() & Qt::ControlModifier) {
    fits_all_ = false;
    mapping_.zoom(std::pow(1.25, delta), event->position().x());
    mapping_.clamp(whole());
    viewport()->update();
    emit zoomed();
  } else if ((event->modifiers() & Qt::ShiftModifier) || verticalScrollBar()->maximum() == 0) {
    pan(-delta * 0.1);
  } else {
    QAbstractScrollArea::wheelEvent(event);
  }
}

QRectF SlotCanvas::box_of(DeviceId device, Nanos start, Nanos finish) const {
  const double top = fontMetrics().height() + style::kGrid +
                     static_cast<double>(device.index()) * row_height_ -
                     verticalScrollBar()->value();
  const double left = mapping_.x(static_cast<double>(start.value)),
               right = mapping_.x(static_cast<double>(finish.value));
  return QRectF(left, top + 2, right - left, row_height_ - 4);
}

std::optional<std::size_t> SlotCanvas::step_at(const QPointF& point) const {
  if (!replay_ || point.x() < gutter_) return {};
  const double time = mapping_.time(point.x());
  const auto placed = static_cast<std::int32_t>(replay_->placed(position_));
  std::optional<std::size_t> found;
  double nearest = kFold * mapping_.ns_per_px;
  for (int row = 0; row < rows(); ++row) {
    const DeviceId device(static_cast<std::size_t>(row));
    const QRectF line = box_of(device, {}, {});
    if (point.y() < line.top() || point.y() > line.bottom()) continue;
    for (const PlanningReplay::Slot& slot : replay_->placed_on(device)) {
      if (slot.step >= placed) continue;
      const double away = std::max({static_cast<double>(slot.start.value) - time,
                                    time - static_cast<double>(slot.finish.value), 0.0});
      if (away < nearest || (away == 0 && nearest == 0)) {
        nearest = away;
        found = static_cast<std::size_t>(slot.step);
      }
    }
  }
  return found;
}

void SlotCanvas::mousePressEvent(QMouseEvent* event) {
  pressed_ = event->position();
  if (event->button() != Qt::LeftButton || (event->modifiers() & Qt::ShiftModifier)) return;
  if (const auto step = step_at(event->position())) emit step_clicked(*step);
}

void SlotCanvas::mouseMoveEvent(QMouseEvent* event) {
  if ((event->buttons() & Qt::LeftButton) && (event->modifiers() & Qt::ShiftModifier)) {
    mapping_.pan(pressed_.x() - event->position().x());
    mapping_.clamp(whole());
    pressed_ = event->position();
    viewport()->update();
    return;
  }
  viewport()->setCursor(step_at(event->position()) ? Qt::PointingHandCursor : Qt::ArrowCursor);
}

QString SlotCanvas::tip_at(const QPointF& point) const {
  const auto found = step_at(point);
  if (!found) return {};
  const PlanningSteps::Step& step = replay_->steps().steps[*found];
  return tr("%1\n%2 to %3 on %4, placed by step %5\n%6")
      .arg(node_name(*replay_, step.node), style::time(step.start), style::time(step.finish),
           device_name(*problem_->cluster, step.device))
      .arg(*found + 1)
      .arg(QString::fromStdString(sentence(step.why)));
}

bool SlotCanvas::viewportEvent(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    QToolTip::showText(help->globalPos(), tip_at(help->pos()), viewport());
    return true;
  }
  return QAbstractScrollArea::viewportEvent(event);
}

// --- painting

void SlotCanvas::paintEvent(QPaintEvent*) {
  QPainter painter(viewport());
  painter.fillRect(viewport()->rect(), palette().color(QPalette::Base));
  if (!replay_ || !problem_) return;
  const int axis = fontMetrics().height() + style::kGrid;
  painter.save();
  painter.setClipRect(0, axis, viewport()->width(), viewport()->height() - axis);
  for (int row = 0; row < rows(); ++row) {
    paint_row(painter, DeviceId(static_cast<std::size_t>(row)));
  }
  painter.restore();
  paint_axis(painter);
  const PlanningSteps::Step* step = replay_->step(position_);
  if (step == nullptr) return;
  painter.setClipRect(gutter_, axis, viewport()->width() - gutter_, viewport()->height() - axis);
  paint_step(painter, *step);
}

void SlotCanvas::paint_axis(QPainter& painter) {
  const QColor ground = palette().color(QPalette::Base), ink = palette().color(QPalette::Text);
  const int height = fontMetrics().height() + style::kGrid;
  painter.setClipRect(gutter_, 0, viewport()->width() - gutter_, viewport()->height());
  const std::int64_t step = nice_step(mapping_.ns_per_px, 84);
  const auto first = static_cast<std::int64_t>(std::max(0.0, mapping_.begin)) / step * step;
  for (std::int64_t t = first; static_cast<double>(t) <= mapping_.end(); t += step) {
    const double x = mapping_.x(static_cast<double>(t));
    painter.setPen(mixed(ground, ink, 0.15));
    painter.drawLine(QPointF(x, height - 4), QPointF(x, height));
    painter.setPen(style::muted_text(palette()));
    const QString label = style::axis_time(t, step, static_cast<std::int64_t>(mapping_.end()));
    const double right = x + 3 + fontMetrics().horizontalAdvance(label);
    if (x + 3 < gutter_ || right > viewport()->width()) continue;
    painter.drawText(QPointF(x + 3, fontMetrics().ascent() + 1), label);
  }
  const double end = mapping_.x(static_cast<double>(replay_->makespan(position_).value));
  painter.setPen(QPen(style::muted_text(palette()), 1, Qt::DashLine));
  painter.drawLine(QPointF(end, height), QPointF(end, viewport()->height()));
  painter.setClipping(false);
}

void SlotCanvas::paint_block(QPainter& painter, const QRectF& box, const QColor& colour,
                             bool many) {
  const QColor ground = palette().color(QPalette::Base);
  painter.fillRect(box, many ? mixed(colour, ground, 0.4) : colour);
}

void SlotCanvas::paint_row(QPainter& painter, DeviceId device) {
  const QColor ground = palette().color(QPalette::Base), ink = palette().color(QPalette::Text);
  const bool dark = style::is_dark(palette());
  const QRectF line = box_of(device, {}, {});
  if (line.bottom() < 0 || line.top() > viewport()->height()) return;
  painter.setClipRect(0, fontMetrics().height() + style::kGrid, viewport()->width(),
                      viewport()->height());
  painter.fillRect(QRectF(gutter_, line.top(), viewport()->width() - gutter_, line.height()),
                   mixed(ground, ink, 0.04));
  painter.setPen(ink);
  painter.drawText(QRectF(2 * style::kGrid, line.top(), gutter_ - 3 * style::kGrid, line.height()),
                   Qt::AlignVCenter | Qt::AlignLeft,
                   fontMetrics().elidedText(device_name(*problem_->cluster, device),
                                            Qt::ElideMiddle, gutter_ - 3 * style::kGrid));
  painter.setClipRect(QRectF(gutter_, fontMetrics().height() + style::kGrid,
                             viewport()->width() - gutter_, viewport()->height()));
  const QColor colour = pale(device.index() < problem_->cluster->device_count()
                                 ? style::device_colour(*problem_->cluster, device, dark)
                                 : style::muted_text(palette()),
                             ground);
  const QColor gold = style::critical(dark);
  const auto placed = static_cast<std::int32_t>(replay_->placed(position_));
  QRectF folded;
  const auto flush = [&] {
    if (folded.isValid()) paint_block(painter, folded, colour, true);
    folded = {};
  };
  for (const PlanningReplay::Slot& slot : replay_->placed_on(device)) {
    if (static_cast<double>(slot.start.value) > mapping_.end()) break;
    if (slot.step >= placed || static_cast<double>(slot.finish.value) < mapping_.begin) continue;
    QRectF box = box_of(device, slot.start, slot.finish);
    if (box.width() < kFold) {
      box.setWidth(std::max(box.width(), 1.0));
      if (folded.isValid() && box.left() > folded.right() + 1) flush();
      folded = folded.isValid() ? folded.united(box) : box;
      continue;
    }
    flush();
    box.adjust(0, 0, -1, 0);  // neighbours stay apart
    paint_block(painter, box, colour, false);
    const NodeIndex node = replay_->steps().steps[static_cast<std::size_t>(slot.step)].node;
    if (replay_->on_critical_path(node)) {
      painter.fillRect(QRectF(box.left(), box.bottom() - 3, box.width(), 3), gold);
    }
    const QRectF text = box.intersected(QRectF(gutter_, 0, 1e6, 1e6)).adjusted(3, 0, -3, 0);
    if (text.width() < 24) continue;
    painter.setPen(style::text_on(colour));
    painter.drawText(
        text, Qt::AlignVCenter | Qt::AlignLeft,
        style::fitting_name(node_name(*replay_, node), QFontMetricsF(font()), text.width()));
  }
  flush();
}

// The outlines first: what was taken lies on top.
void SlotCanvas::paint_step(QPainter& painter, const PlanningSteps::Step& step) {
  const bool compared = step.why != PlanningSteps::Why::Colocated;
  for (const auto& candidate : step.candidates) {
    if (compared && candidate.device != step.device) paint_candidate(painter, candidate);
  }
  QRectF box = box_of(step.device, step.start, step.finish);
  box.setWidth(std::max(box.width() - 1, kSmallest));
  const QColor accent = style::selection(style::is_dark(palette()));
  painter.fillRect(box, accent);
  painter.setPen(QPen(palette().color(QPalette::Text), 1.5));
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(box);
  const QRectF text = box.intersected(QRectF(gutter_, 0, 1e6, 1e6)).adjusted(3, 0, -3, 0);
  if (text.width() >= 24) {
    painter.setPen(style::text_on(accent));
    painter.drawText(
        text, Qt::AlignVCenter | Qt::AlignLeft,
        style::fitting_name(node_name(*replay_, step.node), QFontMetricsF(font()), text.width()));
  }
  paint_finish(painter, box, style::time(step.finish), true);
}

void SlotCanvas::paint_candidate(QPainter& painter, const PlanningSteps::Candidate& candidate) {
  const bool dark = style::is_dark(palette());
  const QColor colour = candidate.fits ? style::selection(dark) : style::infeasible(dark);
  QRectF box = box_of(candidate.device, candidate.start, candidate.finish);
  box.setWidth(std::max(box.width() - 1, kSmallest));
  QColor tint = palette().color(QPalette::Base);
  tint.setAlphaF(0.55f);
  painter.fillRect(box, tint);
  painter.setPen(QPen(colour, 1.5, Qt::DashLine));
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(box);
  paint_finish(painter, box, candidate.fits ? style::time(candidate.finish) : tr("no room"), false);
}

// Beside the box, or in it, where that is in sight; on its own ground, since nodes may be there
// already.
void SlotCanvas::paint_finish(QPainter& painter, const QRectF& box, const QString& text,
                              bool taken) {
  QFont bold = font();
  bold.setBold(taken);
  const QFontMetricsF metrics(bold);
  const double width = metrics.horizontalAdvance(text) + 2 * style::kGrid;
  double left = box.right() + 3;
  if (left + width > viewport()->width()) {
    const double inside = viewport()->width() - width - 3;
    left = inside > box.left() + 2 ? std::min(inside, box.right() - width - 3)
                                   : box.left() - 3 - width;
  }
  left = std::max(left, gutter_ + 1.0);
  const QRectF chip(left, box.top() + 1, width, box.height() - 2);
  QColor ground = palette().color(QPalette::Base);
  ground.setAlphaF(0.95f);
  painter.fillRect(chip, ground);
  painter.setFont(bold);
  painter.setPen(palette().color(QPalette::Text));
  painter.drawText(chip, Qt::AlignCenter, text);
  painter.setFont(font());
}

}  // namespace strato
