#include "views/timeline/why_strip.h"

#include <QCoreApplication>
#include <algorithm>

#include "views/models/explanation.h"
#include "views/style/style.h"
#include "views/style/text.h"
#include "views/timeline/slice_colours.h"
#include "views/timeline/slice_row.h"

namespace strato {
namespace {

struct WhyWords {
  Q_DECLARE_TR_FUNCTIONS(WhyWords)
};

QString device_of(const Program& program, TaskId task) {
  const DeviceId device = program.tasks[task].device;
  return device.valid() ? text(program.cluster->device(device).name) : QString();
}

QString share_of_step(std::int64_t time, const Timeline& timeline) {
  return style::percent(static_cast<double>(time) /
                        std::max<double>(1, static_cast<double>(timeline.step_time.value)));
}

QString task_line(const QString& what, const Program& program, TaskId task) {
  return task.valid()
             ? QStringLiteral("<br>%1: %2").arg(what, text(program.task_name(task)).toHtmlEscaped())
             : QString();
}

}  // namespace

std::vector<WhyBlock> why_blocks(const std::vector<PathPiece>& path, const TimeMapping& mapping) {
  std::vector<WhyBlock> blocks;
  const auto first = std::upper_bound(
      path.begin(), path.end(), mapping.begin,
      [](double time, const auto& piece) { return time < static_cast<double>(piece.end.value); });
  const double view_end = mapping.end(), smallest = kFoldPixels * mapping.ns_per_px;
  auto i = static_cast<std::size_t>(first - path.begin());
  while (i < path.size() && static_cast<double>(path[i].begin.value) < view_end) {
    WhyBlock block{i, i, path[i].reason, {}};
    do {
      const PathPiece& piece = path[block.last++];
      block.time[static_cast<std::size_t>(piece.reason)] += (piece.end - piece.begin).value;
    } while (block.last < path.size() &&
             static_cast<double>((path[block.last].end - path[i].begin).value) < smallest);
    block.reason = static_cast<Reason>(std::max_element(block.time.begin(), block.time.end()) -
                                       block.time.begin());
    i = block.last;
    if (blocks.empty() || blocks.back().reason != block.reason) {
      blocks.push_back(block);
      continue;
    }
    blocks.back().last = block.last;
    for (std::size_t r = 0; r < kReasons; ++r) blocks.back().time[r] += block.time[r];
  }
  return blocks;
}

std::optional<WhyBlock> why_block_at(const std::vector<PathPiece>& path, const TimeMapping& mapping,
                                     double x) {
  const double time = mapping.time(x);
  for (const WhyBlock& block : why_blocks(path, mapping)) {
    if (time >= static_cast<double>(path[block.first].begin.value) &&
        time < static_cast<double>(path[block.last - 1].end.value)) {
      return block;
    }
  }
  return std::nullopt;
}

std::size_t longest_piece(const std::vector<PathPiece>& path, const WhyBlock& block) {
  std::size_t best = block.first;
  for (std::size_t i = block.first; i < block.last; ++i) {
    if (path[i].end - path[i].begin > path[best].end - path[best].begin) best = i;
  }
  return best;
}

QColor reason_colour(Reason reason, bool dark) {
  switch (reason) {
    case Reason::Compute:
    case Reason::DeviceBusy:
      return style::kind_colour(TaskKind::Compute, dark);
    case Reason::Reshuffle:
      return style::kind_colour(TaskKind::Concat, dark);
    case Reason::Transfer:
    case Reason::LinkBusy:
      return style::kind_colour(TaskKind::Transfer, dark);
    case Reason::Collective:
      return style::kind_colour(TaskKind::AllReduce, dark);
    default:
      return dark ? QColor(0x9a9a9a) : QColor(0x7a7a7a);
  }
}

Qt::BrushStyle waiting_pattern(Reason reason) {
  switch (reason) {
    case Reason::LinkBusy:
      return Qt::DiagCrossPattern;
    case Reason::Straggler:
      return Qt::VerPattern;
    case Reason::Process:
      return Qt::HorPattern;
    case Reason::DeviceBusy:
      return Qt::Dense6Pattern;
    default:
      return Qt::Dense7Pattern;
  }
}

QStringList gap_texts(const Timeline& timeline, const Gap& gap) {
  const Program& program = *timeline.program;
  if (!gap.next.valid()) {
    const QString last = gap.cause.valid() ? device_of(program, gap.cause) : QString();
    return {WhyWords::tr("done, %1 still works").arg(last), WhyWords::tr("done")};
  }
  const QString device = gap.cause.valid() ? device_of(program, gap.cause) : QString();
  switch (gap.reason) {
    case Reason::Transfer:
      return {WhyWords::tr("waits for transfer from %1").arg(device),
              WhyWords::tr("waits for transfer"), WhyWords::tr("transfer")};
    case Reason::Collective: {
      const QString kind = gap.cause.valid() ? kind_label(program.tasks[gap.cause].kind)
                                             : WhyWords::tr("collective");
      return {WhyWords::tr("waits for %1").arg(kind), kind};
    }
    case Reason::LinkBusy:
      return {WhyWords::tr("waits for a busy link"), WhyWords::tr("waits for link"),
              WhyWords::tr("link")};
    case Reason::Straggler:
      return {WhyWords::tr("waits for straggler %1").arg(device),
              WhyWords::tr("straggler %1").arg(device), WhyWords::tr("straggler")};
    default:
      return {WhyWords::tr("waits for %1").arg(device), device};
  }
}

QString describe_gap(const Timeline& timeline, const Gap& gap) {
  const Program& program = *timeline.program;
  return WhyWords::tr("<b>Idle %1</b> (%2 of the step): %3%4%5")
      .arg(style::time(gap.end - gap.begin), share_of_step((gap.end - gap.begin).value, timeline),
           gap_texts(timeline, gap).front().toHtmlEscaped(),
           task_line(gap.next.valid() ? WhyWords::tr("held up by") : WhyWords::tr("the last task"),
                     program, gap.cause),
           task_line(WhyWords::tr("next"), program, gap.next));
}

QString describe_block(const Timeline& timeline, const std::vector<PathPiece>& path,
                       const WhyBlock& block) {
  const Program& program = *timeline.program;
  QString result;
  for (std::size_t r = 0; r < kReasons; ++r) {
    if (block.time[r] == 0) continue;
    result += WhyWords::tr("%1<b>%2</b> %3 (%4 of the step)")
                  .arg(result.isEmpty() ? QString() : QStringLiteral("<br>"),
                       QCoreApplication::translate("Explanation", label_of(static_cast<Reason>(r))),
                       style::time(Nanos(block.time[r])), share_of_step(block.time[r], timeline));
  }
  const PathPiece& longest = path[longest_piece(path, block)];
  const bool one = block.last - block.first == 1;
  result += task_line(one ? WhyWords::tr("runs") : WhyWords::tr("longest"), program, longest.task);
  return result + task_line(WhyWords::tr("waits"), program, longest.waiting);
}

}  // namespace strato
