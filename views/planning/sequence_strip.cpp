#include "views/planning/sequence_strip.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>
#include <QToolTip>
#include <algorithm>

#include "core/base/at.h"
#include "views/planning/pale.h"
#include "views/planning/planning_text.h"
#include "views/style/style.h"
#include "views/timeline/slice_colours.h"

namespace strato {
namespace {

constexpr double kSides = 2 * style::kGrid;
constexpr double kFollowedWidth = 6;  // px of an op, when it follows

}  // namespace

SequenceStrip::SequenceStrip(QWidget* parent) : QWidget(parent) {
  setMouseTracking(true);
  setAccessibleName(tr("Order of the nodes"));
}

QSize SequenceStrip::minimumSizeHint() const { return {200, 3 * fontMetrics().height()}; }
QSize SequenceStrip::sizeHint() const { return {600, 6 * fontMetrics().height()}; }

void SequenceStrip::show_replay(std::shared_ptr<const PlanningReplay> replay,
                                std::shared_ptr<const Problem> problem) {
  replay_ = std::move(replay);
  problem_ = std::move(problem);
  highest_rank_ = 1;
  position_ = 0;
  if (!replay_) return update();
  position_ = replay_->size();
  for (const Nanos rank : replay_->steps().ranking.value)
    highest_rank_ = std::max(highest_rank_, static_cast<double>(rank.value));
  choose_window();
}

void SequenceStrip::set_position(std::size_t position) {
  position_ = position;
  choose_window();
}

void SequenceStrip::set_follow(bool follow) {
  follow_ = follow;
  choose_window();
}

void SequenceStrip::resizeEvent(QResizeEvent*) { choose_window(); }

// The ranks' shape is seen as a whole only; breakpoints only from near.
void SequenceStrip::choose_window() {
  update();
  first_ = 0;
  shown_ = std::max<std::size_t>(1, places());
  if (!replay_ || !fuses()) return;
  const auto room = static_cast<std::size_t>(std::max(10.0, plot().width() / kFollowedWidth));
  const std::size_t known = replay_->fused(position_);
  if (follow_ && room < shown_) {
    const std::size_t before = room * 3 / 4;  // more of what is known than of what comes
    first_ = std::min(known > before ? known - before : 0, shown_ - room);
    shown_ = room;
  }
  const auto& cost = replay_->steps().fusion.cost;
  const auto begin = cost.begin() + static_cast<std::ptrdiff_t>(first_);
  const auto [low, high] =
      std::minmax_element(begin, begin + static_cast<std::ptrdiff_t>(shown_) + 1);
  lowest_cost_ = static_cast<double>(low->value);
  highest_cost_ = std::max(lowest_cost_ + 1, static_cast<double>(high->value));
}

// From the start until the last op of the sequence is cut.
bool SequenceStrip::fuses() const {
  return replay_->has(PlanningPhase::Fuse) && position_ <= replay_->end(PlanningPhase::Fuse);
}

std::size_t SequenceStrip::places() const {
  if (!replay_) return 0;
  return fuses() ? replay_->steps().fusion.sequence.size() : replay_->steps().nodes.size();
}

NodeIndex SequenceStrip::node_at(std::size_t place) const { return replay_->order()[place]; }

QRectF SequenceStrip::plot() const {
  const double top = fontMetrics().height() + 2.0 * style::kGrid;
  return QRectF(kSides, top, std::max(1.0, width() - 2 * kSides),
                std::max(1.0, height() - top - style::kGrid));
}

double SequenceStrip::x_of(std::size_t place) const {
  const QRectF area = plot();
  return area.left() + area.width() * (static_cast<double>(place) - static_cast<double>(first_)) /
                           static_cast<double>(shown_);
}

std::optional<std::size_t> SequenceStrip::place_at(double x) const {
  const QRectF area = plot();
  if (places() == 0 || x < area.left() || x >= area.right()) return {};
  const double part = (x - area.left()) / area.width();
  return std::min(places() - 1,
                  first_ + static_cast<std::size_t>(part * static_cast<double>(shown_)));
}

QColor SequenceStrip::colour_of(NodeIndex node) const {
  const std::size_t step = replay_->step_of(node);
  if (step >= replay_->placed(position_)) {
    return mixed(palette().color(QPalette::Base), palette().color(QPalette::Text), 0.28);
  }
  const DeviceId device = replay_->steps().steps[step].device;
  if (device.index() >= problem_->cluster->device_count()) return style::muted_text(palette());
  return pale(style::device_colour(*problem_->cluster, device, style::is_dark(palette())),
              palette().color(QPalette::Base));
}

QString SequenceStrip::title() const {
  const PlanningSteps& steps = replay_->steps();
  if (fuses()) {
    return tr("Ops %1 to %2 of %3 · communication left, %4 to %5")
        .arg(first_ + 1)
        .arg(first_ + shown_)
        .arg(places())
        .arg(style::time(Nanos(static_cast<std::int64_t>(lowest_cost_))),
             style::time(Nanos(static_cast<std::int64_t>(highest_cost_))));
  }
  if (steps.ranking.value.empty()) return tr("%1 nodes").arg(places());
  return tr("%1 nodes in their order · %2, up to %3")
      .arg(places())
      .arg(QString::fromStdString(steps.ranking.name),
           style::time(Nanos(static_cast<std::int64_t>(highest_rank_))));
}

void SequenceStrip::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), palette().color(QPalette::Base));
  if (!replay_ || !problem_) return;
  painter.setPen(style::muted_text(palette()));
  painter.drawText(
      QRectF(kSides, style::kGrid, width() - 2 * kSides, fontMetrics().height()),
      Qt::AlignLeft | Qt::AlignVCenter,
      fontMetrics().elidedText(title(), Qt::ElideRight, static_cast<int>(width() - 2 * kSides)));
  if (places() == 0) return;
  if (fuses()) {
    paint_fusion(painter);
  } else {
    paint_ranks(painter);
  }
}

// One bar a node, or a pixel where there are more: then the highest of its nodes.
void SequenceStrip::paint_ranks(QPainter& painter) {
  const QRectF area = plot();
  const auto& value = replay_->steps().ranking.value;
  const auto now = replay_->node(position_);
  const bool ranked = position_ > replay_->begin(PlanningPhase::Rank) && !value.empty();
  const QColor gold = style::critical(style::is_dark(palette()));
  const double gap = area.width() / static_cast<double>(places()) > 4 ? 1 : 0;
  const auto height_of = [&](NodeIndex node) {
    if (!ranked) return 2.0;
    const double part = static_cast<double>(value[at(node)].value) / highest_rank_;
    return std::max(2.0, part * area.height());
  };
  for (std::size_t first = 0; first < places();) {
    const double left = x_of(first);
    std::size_t last = first + 1;
    NodeIndex shown = node_at(first);
    double height = height_of(shown);
    while (last < places() && x_of(last + 1) - left < 1) {
      const double other = height_of(node_at(last));
      if (other > height) {
        height = other;
        shown = node_at(last);
      }
      ++last;
    }
    const double width = std::max(1.0, x_of(last) - left - gap);
    painter.fillRect(QRectF(left, area.bottom() - height, width, height), colour_of(shown));
    if (ranked && gap > 0 && replay_->on_critical_path(shown)) {
      painter.fillRect(QRectF(left, area.bottom() - height, width, std::min(3.0, height)), gold);
    }
    first = last;
  }
  if (!now) return;
  const double left = x_of(replay_->place_in_order(*now));
  const double width = std::max(3.0, area.width() / static_cast<double>(places()) - gap);
  const double height = height_of(*now);
  painter.fillRect(QRectF(left, area.bottom() - height, width, height),
                   style::selection(style::is_dark(palette())));
  painter.setPen(palette().color(QPalette::Text));
  painter.drawLine(QPointF(left + width / 2, area.top() - 3),
                   QPointF(left + width / 2, std::max(area.top() - 2, area.bottom() - height - 2)));
}

void SequenceStrip::paint_fusion(QPainter& painter) {
  const QRectF area = plot();
  const PlanningSteps::Fusion& fusion = replay_->steps().fusion;
  const std::size_t known = replay_->fused(position_);
  const bool dark = style::is_dark(palette());
  const QColor ground = palette().color(QPalette::Base), ink = palette().color(QPalette::Text);
  const double bottom = area.bottom();
  const auto y_of = [&](std::size_t place) {
    return bottom - 6 -
           (area.height() - 8) * (static_cast<double>(fusion.cost[place].value) - lowest_cost_) /
               (highest_cost_ - lowest_cost_);
  };
  painter.fillRect(QRectF(area.left(), bottom - 4, area.width(), 4), mixed(ground, ink, 0.12));
  painter.setClipRect(area.adjusted(-4, -4, 4, 4));
  const auto breaks = replay_->breaks(known);
  for (std::size_t i = 0; i + 1 < breaks.size(); ++i) {  // neighbouring clusters look different
    const double from = x_of(static_cast<std::size_t>(breaks[i])),
                 to = x_of(static_cast<std::size_t>(breaks[i + 1]));
    if (to < area.left() || from > area.right()) continue;
    painter.fillRect(QRectF(from, area.top(), to - from, bottom - 4 - area.top()),
                     mixed(ground, ink, i % 2 == 0 ? 0.05 : 0.11));
    painter.fillRect(QRectF(from, bottom - 4, to - from, 4),
                     mixed(ground, ink, i % 2 == 0 ? 0.45 : 0.7));
  }
  QPolygonF line;
  double last_x = -10;
  for (std::size_t place = first_; place <= std::min(known, first_ + shown_); ++place) {
    const double x = x_of(place);
    if (x - last_x < 0.7 && place < known) continue;
    line << QPointF(x, y_of(place));
    last_x = x;
  }
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(ink, 1.5));
  painter.drawPolyline(line);
  if (known == 0) return;
  const double x = x_of(known), from = x_of(static_cast<std::size_t>(fusion.before[known]));
  QColor tint = style::selection(dark);
  tint.setAlphaF(0.28f);
  painter.fillRect(QRectF(from, area.top(), std::max(2.0, x - from), area.height()), tint);
  painter.setPen(QPen(style::selection(dark), 2));
  painter.drawLine(QPointF(x, area.top()), QPointF(x, bottom));
  painter.setBrush(style::selection(dark));
  painter.drawEllipse(QPointF(x, y_of(known)), 3, 3);
}

void SequenceStrip::mousePressEvent(QMouseEvent* event) {
  const auto place = replay_ ? place_at(event->position().x()) : std::nullopt;
  if (event->button() != Qt::LeftButton || !place) return;
  if (fuses()) {
    emit position_clicked(replay_->begin(PlanningPhase::Fuse) + *place + 1);
    return;
  }
  const std::size_t step = replay_->step_of(node_at(*place));
  if (step != PlanningReplay::kNever) emit position_clicked(replay_->position_of_step(step));
}

void SequenceStrip::mouseMoveEvent(QMouseEvent* event) {
  const bool hit = replay_ && place_at(event->position().x());
  setCursor(hit ? Qt::PointingHandCursor : Qt::ArrowCursor);
}

QString SequenceStrip::tip_at(double x) const {
  const auto place = replay_ ? place_at(x) : std::nullopt;
  if (!place) return {};
  const PlanningSteps& steps = replay_->steps();
  if (fuses()) {
    const OpId op = steps.fusion.sequence[*place];
    return tr("Op %1: %2\nS = %3 with a breakpoint after it")
        .arg(*place + 1)
        .arg(QString::fromStdString(problem_->graph->op(op).name),
             style::time(steps.fusion.cost[*place + 1]));
  }
  const NodeIndex node = node_at(*place);
  QString tip = tr("%1. %2").arg(*place + 1).arg(node_name(*replay_, node));
  if (!steps.ranking.value.empty()) {
    tip += tr("\n%1: %2")
               .arg(QString::fromStdString(steps.ranking.name),
                    style::time(steps.ranking.value[at(node)]));
  }
  return tip;
}

bool SequenceStrip::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    QToolTip::showText(help->globalPos(), tip_at(help->pos().x()), this);
    return true;
  }
  return QWidget::event(event);
}

}  // namespace strato
