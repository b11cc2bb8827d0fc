#include "views/pipeline/pipeline_words.h"

#include <QCoreApplication>
#include <QStringList>
#include <algorithm>

#include "views/style/style.h"
#include "views/style/text.h"

namespace strato {
namespace {

struct PipelineWords {
  Q_DECLARE_TR_FUNCTIONS(PipelineWords)
};

const QString kDot = QStringLiteral(" · ");
const QString kArrow = QStringLiteral(" → ");

bool fills(const StageBubble& bubble, const StageRow& row) {
  return !row.cells.empty() && bubble.end <= row.cells.front().begin;
}
bool drains(const StageBubble& bubble, const StageRow& row) {
  return !row.cells.empty() && bubble.begin >= row.cells.back().end;
}

}  // namespace

QString words_of(PassKind pass) {
  switch (pass) {
    case PassKind::Forward:
      return PipelineWords::tr("forward pass");
    case PassKind::Backward:
      return PipelineWords::tr("backward pass");
    case PassKind::Weights:
      break;
  }
  return PipelineWords::tr("weight gradients");
}

QString words_of(const ScheduleCell& cell, const StagePlan& plan) {
  const QString words = PipelineWords::tr("%1 of micro-batch %2 of %3")
                            .arg(words_of(cell.pass))
                            .arg(cell.micro + 1)
                            .arg(plan.micro_batches().count);
  if (plan.chunk_count() == plan.stages().size()) return words;
  return words + PipelineWords::tr(", chunk %1 of %2").arg(cell.chunk + 1).arg(plan.chunk_count());
}

QString stage_name(std::int32_t stage) { return PipelineWords::tr("Stage %1").arg(stage + 1); }

QString devices_words(const StageRow& row, const Cluster& cluster) {
  const QString first = text(cluster.device(row.shown).name);
  const std::size_t others = row.devices.size() - 1;
  return others == 0 ? first : PipelineWords::tr("%1 and %2 more").arg(first).arg(others);
}

QString cause_words(const StageBubble& bubble, const StageRow& row, const StagePlan& plan) {
  const QString from = PipelineWords::tr("stage %1").arg(bubble.from + 1);
  QString words;
  switch (bubble.cause) {
    case BubbleCause::Pass:
      words = bubble.awaited_cell ? PipelineWords::tr("waits until %1 has computed the %2")
                                        .arg(from, words_of(*bubble.awaited_cell, plan))
                                  : PipelineWords::tr("waits for %1").arg(from);
      break;
    case BubbleCause::Transfer:
      words = PipelineWords::tr("what %1 has computed is on its way").arg(from);
      break;
    case BubbleCause::Exchange:
      words = PipelineWords::tr("stages exchange what they share");
      break;
    case BubbleCause::Peer:
      words = PipelineWords::tr("waits for another device of its stage, or its host");
      break;
    case BubbleCause::Busy:
      words = PipelineWords::tr("links, or what starts its kernels, are busy");
      break;
    case BubbleCause::End:
      words = PipelineWords::tr("is done; %1 is not").arg(from);
      break;
  }
  if (fills(bubble, row)) return PipelineWords::tr("The pipeline fills: %1").arg(words);
  if (drains(bubble, row)) return PipelineWords::tr("The pipeline drains: %1").arg(words);
  words[0] = words[0].toUpper();
  return words;
}

QString short_cause(const StageBubble& bubble, const StageRow& row) {
  if (bubble.cause == BubbleCause::Transfer) return PipelineWords::tr("transfer");
  if (bubble.cause == BubbleCause::Exchange) return PipelineWords::tr("exchange");
  if (drains(bubble, row)) return PipelineWords::tr("drains");
  if (fills(bubble, row)) return PipelineWords::tr("fills");
  if (bubble.cause == BubbleCause::Pass)
    return PipelineWords::tr("waits for %1").arg(bubble.from + 1);
  return bubble.cause == BubbleCause::Peer ? PipelineWords::tr("its own stage")
                                           : PipelineWords::tr("busy");
}

QString shape_words(const PipelinePicture& picture) {
  const StagePlan& plan = picture.plan();
  const MicroBatches& micro = plan.micro_batches();
  QStringList parts{micro.schedule == PipelineSchedule::ByHand
                        ? PipelineWords::tr("by hand")
                        : text(std::string(name_of(micro.schedule))),
                    PipelineWords::tr("%1 stages").arg(plan.stages().size()),
                    PipelineWords::tr("%1 micro-batches").arg(micro.count)};
  if (plan.chunk_count() > plan.stages().size())
    parts.insert(2, PipelineWords::tr("%1 chunks").arg(plan.chunk_count()));
  return parts.join(kDot);
}

QString bubble_words(const PipelinePicture& picture) {
  return PipelineWords::tr(
             "Bubble %1 of the step; of its passes alone %2, without transfers %3, and with equal "
             "stages %4")
      .arg(style::percent(picture.price().bubble), style::percent(picture.passes().bubble),
           style::percent(picture.without_transfers().bubble),
           style::percent(picture.ideal().bubble));
}

QString price_words(const PipelinePrice& price) {
  QStringList parts{style::time(price.step_time),
                    PipelineWords::tr("bubble %1").arg(style::percent(price.bubble)),
                    style::bytes_of(price.peak, price.capacity)};
  if (!price.feasible) parts << PipelineWords::tr("does not fit");
  return parts.join(kDot);
}

QString change_words(const PipelinePrice& before, const PipelinePrice& after) {
  QStringList parts{PipelineWords::tr("%1 (%2)").arg(
      style::time(before.step_time) + kArrow + style::time(after.step_time),
      style::signed_percent(after.step_time / std::max(before.step_time, Nanos(1)) - 1))};
  parts << PipelineWords::tr("bubble %1")
               .arg(style::percent(before.bubble) + kArrow + style::percent(after.bubble));
  parts << PipelineWords::tr("peak %1").arg(style::bytes(before.peak) + kArrow +
                                            style::bytes_of(after.peak, after.capacity));
  if (!after.feasible) parts << PipelineWords::tr("does not fit");
  return parts.join(kDot);
}

QString story_of(const PipelinePicture& picture, std::size_t position) {
  if (position == 0 || position > picture.in_time().size())
    return PipelineWords::tr("Nothing has begun: all stages wait.");
  const PipelinePicture::CellAt place = picture.in_time()[position - 1];
  const StageCell& now = picture.cell(place);
  QStringList waits;
  for (std::size_t row = 0; row < picture.rows().rows.size(); ++row)
    for (const StageBubble& bubble : picture.rows().rows[row].bubbles)
      if (bubble.begin <= now.begin && now.begin < bubble.end) waits << QString::number(row + 1);
  std::int32_t kept = 0;  // of this stage: forward, and not yet backward
  for (const StageCell& cell : picture.rows().rows[place.row].cells) {
    if (cell.begin > now.begin) break;
    if (cell.cell.pass == PassKind::Forward) ++kept;
    if (cell.cell.pass == PassKind::Backward && cell.end <= now.begin) --kept;
  }
  QString story = PipelineWords::tr(
                      "%1: stage %2 begins the %3 (%4 in schedule files). It keeps what "
                      "%5 of its passes have made.")
                      .arg(style::time(now.begin))
                      .arg(place.row + 1)
                      .arg(words_of(now.cell, picture.plan()), text(name_of(now.cell)))
                      .arg(kept);
  if (!waits.isEmpty())
    story += QLatin1Char(' ') + (waits.size() == 1
                                     ? PipelineWords::tr("Stage %1 waits.").arg(waits.front())
                                     : PipelineWords::tr("%1 stages wait.").arg(waits.size()));
  return story;
}

}  // namespace strato
