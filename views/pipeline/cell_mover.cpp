#include "views/pipeline/cell_mover.h"

#include <algorithm>

#include "core/base/error.h"
#include "views/pipeline/pipeline_canvas.h"
#include "views/pipeline/pipeline_words.h"
#include "views/style/text.h"

namespace strato {

ScheduleTable with_cell_before(const PipelinePicture& picture, PipelinePicture::CellAt moved,
                               std::size_t before) {
  ScheduleTable table = table_as_run(picture.rows(), picture.plan());
  std::vector<ScheduleCell>& row = table[moved.row];
  const std::vector<StageCell>& cells = picture.rows().rows[moved.row].cells;
  const ScheduleCell cell = cells[moved.cell].cell;
  if (before < cells.size() && cells[before].cell == cell) return table;
  std::erase(row, cell);
  const auto to = before < cells.size() ? std::ranges::find(row, cells[before].cell) : row.end();
  row.insert(to, cell);
  return table;
}

QString refusal_of(const PipelinePicture& picture, const ScheduleTable& table) {
  try {
    picture.plan().order(by_hand(table, picture.plan().micro_batches().count));
  } catch (const InputError& error) {
    return QString::fromUtf8(error.what());
  }
  return {};
}

CellMover::CellMover(PipelineModel& model, PipelineCanvas& canvas)
    : QObject(&canvas), model_(model), canvas_(canvas) {
  connect(&canvas_, &PipelineCanvas::cell_dragged, this, &CellMover::drag);
  connect(&canvas_, &PipelineCanvas::cell_dropped, this, &CellMover::drop);
  connect(&model_, &PipelineModel::thought_changed, this, &CellMover::tell);
}

bool CellMover::think(const PipelinePicture& picture, PipelinePicture::CellAt moved,
                      std::size_t before) {
  const ScheduleTable table = with_cell_before(picture, moved, before);
  refusal_.clear();
  if (table == table_as_run(picture.rows(), picture.plan())) return false;
  refusal_ = refusal_of(picture, table);
  if (!refusal_.isEmpty()) return false;
  model_.think(
      [wanted = by_hand(table, picture.plan().micro_batches().count)](const Regrouping& from) {
        Strategy strategy = from.strategy;
        strategy.micro_batches = wanted;
        return strategy;
      },
      tr("%1 elsewhere in its stage").arg(text(name_of(picture.cell(moved).cell))));
  return true;
}

void CellMover::drag() {
  const PipelineScene& scene = canvas_.scene();
  moves_ = think(*scene.picture, scene.drop->moved, scene.drop->before);
  tell();
}

void CellMover::tell() {
  if (!canvas_.drags()) return;
  const PipelineScene& scene = canvas_.scene();
  const QString what = words_of(scene.picture->cell(scene.drop->moved).cell, scene.picture->plan());
  const QString why = refusal_.isEmpty() && moves_ ? model_.refusal() : refusal_;
  if (!why.isEmpty()) return canvas_.tell_drop(tr("%1: %2").arg(what, why), true);
  if (!moves_) return canvas_.tell_drop(tr("%1: as it is").arg(what), false);
  const bool known = !model_.waits() && model_.thought() && model_.shown();
  canvas_.tell_drop(tr("%1: %2").arg(what, known ? change_words(model_.shown()->price(),
                                                                model_.thought()->price())
                                                 : QStringLiteral("…")),
                    false);
}

// What is known by then is made; what is not stays to be looked at.
void CellMover::drop() {
  if (!moves_ || !model_.refusal().isEmpty()) {
    model_.forget();
    if (!refusal_.isEmpty()) emit refused(refusal_);
  } else {
    model_.apply();
  }
  moves_ = false;
}

void CellMover::move_selected(int places) {
  const auto& selected = canvas_.selected();
  const auto& picture = canvas_.scene().picture;
  if (!picture || !selected || model_.waits()) return;
  const auto count = std::ssize(picture->rows().rows[selected->row].cells);
  const auto to = static_cast<std::ptrdiff_t>(selected->cell) + (places < 0 ? places : places + 1);
  if (to < 0 || to > count) return;
  if (!think(*picture, *selected, static_cast<std::size_t>(to)) && !refusal_.isEmpty())
    emit refused(refusal_);
}

}  // namespace strato
