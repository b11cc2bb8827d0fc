#include "views/pipeline/layer_strip.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "views/pipeline/pipeline_words.h"
#include "views/style/fitting_name.h"
#include "views/style/mixed.h"
#include "views/style/style.h"
#include "views/style/text.h"

namespace strato {
namespace {

constexpr double kGrip = 5;    // px on either side of a border
constexpr double kMargin = 8;  // px

}  // namespace

LayerStrip::LayerStrip(PipelineModel& model, QWidget* parent) : QWidget(parent), model_(model) {
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  setAccessibleName(tr("Layers of the stages"));
  connect(&model_, &PipelineModel::shown_changed, this, &LayerStrip::refresh);
  connect(&model_, &PipelineModel::thought_changed, this, &LayerStrip::refresh);
  refresh();
}

QSize LayerStrip::sizeHint() const { return {480, fontMetrics().height() + 3 * style::kGrid}; }

const StageLayers* LayerStrip::layers() const {
  return seen_ && seen_->layers() ? &*seen_->layers() : nullptr;
}

void LayerStrip::refresh() {
  if (dragged_) return tell();
  const PipelineModel::Picture& now = model_.seen();
  if (now == seen_ || (!now && model_.looking())) return;
  seen_ = now;
  work_before_.assign(1, 0);
  if (layers() != nullptr)
    for (const Nanos work : layers()->work)
      work_before_.push_back(work_before_.back() + static_cast<double>(work.value));
  if (layers() == nullptr || chosen_ >= layers()->chunk_count()) chosen_ = 0;
  setVisible(layers() != nullptr);
  update();
}

// As wide as its work, and a little for each, so that none is lost.
double LayerStrip::x_of_layer(std::int32_t layer) const {
  const auto count = static_cast<double>(layers()->names.size());
  const double part = 0.9 * work_before_[at(layer)] / std::max(1.0, work_before_.back()) +
                      0.1 * layer / std::max(1.0, count);
  return kMargin + part * (width() - 2 * kMargin);
}

double LayerStrip::x_of(std::size_t chunk) const {
  return x_of_layer(dragged_ == chunk ? dragged_to_ : layers()->begins[chunk]);
}

std::optional<std::size_t> LayerStrip::border_at(const QPointF& point) const {
  if (layers() == nullptr) return std::nullopt;
  std::optional<std::size_t> nearest;
  double distance = kGrip;
  for (std::size_t chunk = 1; chunk < layers()->chunk_count(); ++chunk) {
    const double off = std::abs(x_of(chunk) - point.x());
    if (off > distance) continue;
    distance = off;
    nearest = chunk;
  }
  return nearest;
}

std::int32_t LayerStrip::layer_at(std::size_t chunk, double x) const {
  std::int32_t best = layers()->earliest(chunk);
  for (std::int32_t layer = best; layer <= layers()->latest(chunk); ++layer)
    if (std::abs(x_of_layer(layer) - x) < std::abs(x_of_layer(best) - x)) best = layer;
  return best;
}

void LayerStrip::move_border(std::size_t chunk, std::int32_t layer) {
  model_.think(
      [chunk, layer](const Regrouping& from) {
        const Problem& shown = from.shown;
        const StagePlan plan(shown.graph, shown.grouping, shown.cluster, shown.cost, from.strategy);
        return with_chunk_at(from.opened, shown, from.strategy, stage_layers(shown, plan), chunk,
                             layer);
      },
      tr("chunk %1 begins with %2").arg(chunk + 1).arg(text(layers()->names[at(layer)])));
}

QString LayerStrip::words(std::size_t chunk) const {
  const std::int32_t begins = dragged_ == chunk ? dragged_to_ : layers()->begins[chunk];
  const auto count = [&](std::size_t of) {
    const std::int32_t first = of == chunk ? begins : layers()->begins[of];
    const std::int32_t end = of + 1 == chunk ? begins : layers()->begins[of + 1];
    return tr("%1 layers").arg(end - first);
  };
  const auto stage = [&](std::size_t of) {
    return stage_name(seen_->plan().stage_of_chunk(static_cast<std::int32_t>(of)));
  };
  return tr("%1 with %2 | %3 with %4, from %5 on")
      .arg(stage(chunk - 1), count(chunk - 1), stage(chunk), count(chunk),
           text(layers()->names[at(begins)]));
}

// What it would cost, beside the cursor.
void LayerStrip::tell() {
  if (!dragged_) return note_.forget();
  QString told = words(*dragged_);
  const bool bad = !model_.refusal().isEmpty();
  if (bad)
    told += QStringLiteral(": ") + model_.refusal();
  else if (model_.waits())
    told += QStringLiteral(": …");
  else if (model_.thought() && model_.shown())
    told += QStringLiteral(": ") + change_words(model_.shown()->price(), model_.thought()->price());
  note_.tell(told, cursor_, bad);
}

void LayerStrip::choose(std::size_t chunk) {
  chosen_ = chunk;
  setAccessibleDescription(chunk == 0 ? QString() : words(chunk));
  update();
}

void LayerStrip::mousePressEvent(QMouseEvent* event) {
  const auto border = border_at(event->position());
  if (event->button() != Qt::LeftButton || !border) return;
  choose(*border);
  dragged_ = border;
  dragged_to_ = layers()->begins[*border];
  cursor_ = event->position().toPoint();
  tell();
}

void LayerStrip::mouseMoveEvent(QMouseEvent* event) {
  cursor_ = event->position().toPoint();
  if (!dragged_) {
    border_at(event->position()) ? setCursor(Qt::SplitHCursor) : unsetCursor();
    return;
  }
  const std::int32_t layer = layer_at(*dragged_, event->position().x());
  if (layer != dragged_to_) {
    dragged_to_ = layer;
    move_border(*dragged_, layer);
    update();
  }
  tell();
}

// What is known by then is made; what is not stays to be looked at.
void LayerStrip::mouseReleaseEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton || !dragged_) return;
  dragged_.reset();
  note_.forget();
  if (!model_.refusal().isEmpty() || (!model_.apply() && !model_.waits())) model_.forget();
  refresh();
  update();
}

void LayerStrip::keyPressEvent(QKeyEvent* event) {
  if (layers() == nullptr) return QWidget::keyPressEvent(event);
  const bool left = event->key() == Qt::Key_Left, right = event->key() == Qt::Key_Right;
  const auto last = layers()->chunk_count() - 1;
  if (event->modifiers().testFlag(Qt::AltModifier) && (left || right) && chosen_ > 0) {
    const std::int32_t layer = layers()->begins[chosen_] + (left ? -1 : 1);
    if (!model_.waits() && layer >= layers()->earliest(chosen_) &&
        layer <= layers()->latest(chosen_))
      move_border(chosen_, layer);
    return;
  }
  if (left || right)
    return choose(
        std::clamp<std::size_t>(left ? std::max<std::size_t>(chosen_, 1) - 1 : chosen_ + 1,
                                std::min<std::size_t>(1, last), last));
  if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) {
    model_.apply();
    return;
  }
  if (event->key() == Qt::Key_Escape && (dragged_ || model_.thinks())) {
    dragged_.reset();
    note_.forget();
    return model_.forget();
  }
  QWidget::keyPressEvent(event);
}

void LayerStrip::focusInEvent(QFocusEvent* event) {
  QWidget::focusInEvent(event);
  if (chosen_ == 0 && layers() != nullptr && layers()->chunk_count() > 1) choose(1);
}

bool LayerStrip::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip || layers() == nullptr) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  if (const auto border = border_at(help->pos())) {
    QToolTip::showText(help->globalPos(),
                       words(*border) + QLatin1Char('\n') +
                           tr("Drag it, or Alt+Left and Alt+Right: layers go to the other stage"),
                       this);
    return true;
  }
  std::int32_t layer = 0;
  while (layer + 1 < layers()->layers.count && x_of_layer(layer + 1) <= help->pos().x()) ++layer;
  QToolTip::showText(
      help->globalPos(),
      tr("%1\n%2 of a step on one device")
          .arg(text(layers()->names[at(layer)]), style::time(layers()->work[at(layer)])),
      this);
  return true;
}

void LayerStrip::paintEvent(QPaintEvent*) {
  if (layers() == nullptr) return;
  QPainter painter(this);
  const bool dark = style::is_dark(palette());
  const QColor ground = palette().color(QPalette::Window),
               ink = palette().color(QPalette::WindowText);
  const QRectF strip(kMargin, 2, width() - 2 * kMargin, height() - 4);
  const std::size_t count = layers()->chunk_count();
  for (std::size_t chunk = 0; chunk < count; ++chunk) {
    const double left = x_of(chunk), right = chunk + 1 < count ? x_of(chunk + 1) : strip.right();
    const auto stage = seen_->plan().stage_of_chunk(static_cast<std::int32_t>(chunk));
    const QRectF box(left, strip.top(), right - left, strip.height());
    painter.fillRect(box, mixed(ground, ink, chunk % 2 == 0 ? 0.10 : 0.17));
    const double whole = std::max(1.0, work_before_.back());
    const double part = (work_before_[at(layers()->begins[chunk + 1])] -
                         work_before_[at(layers()->begins[chunk])]) /
                        whole;
    const QString name = stage_name(stage),
                  share = name + QStringLiteral(" · ") + style::percent(part);
    const QString all =
        tr("%1 of the work in %2 layers").arg(share).arg(layers()->layers_of_chunk(chunk));
    painter.setPen(ink);
    for (const QString& words : {all, share, name}) {
      if (QFontMetricsF(font()).horizontalAdvance(words) + 12 > box.width()) continue;
      painter.drawText(box, Qt::AlignCenter, words);
      break;
    }
  }
  for (std::size_t chunk = 1; chunk < count; ++chunk) {
    const bool chosen = dragged_ == chunk || (hasFocus() && chosen_ == chunk);
    painter.fillRect(QRectF(std::round(x_of(chunk)) - (chosen ? 2 : 1), strip.top() - 2,
                            chosen ? 4 : 2, strip.height() + 4),
                     chosen ? style::selection(dark) : mixed(ground, ink, 0.6));
  }
}

}  // namespace strato
