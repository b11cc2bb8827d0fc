#include "views/traces/recorded_text.h"

#include <QCoreApplication>
#include <algorithm>
#include <iterator>

#include "core/trace/analyse/communication.h"
#include "views/style/fitting_name.h"
#include "views/style/style.h"
#include "views/style/text.h"

namespace strato {
namespace {

struct TraceWords {
  Q_DECLARE_TR_FUNCTIONS(TraceWords)
};

QColor collective_colour(trace::Collective collective, bool dark) {
  const QColor base = style::kind_colour(TaskKind::AllReduce, dark);
  switch (collective) {
    case trace::Collective::AllReduce:
      return base;
    case trace::Collective::AllGather:
      return base.lighter(dark ? 120 : 112);
    case trace::Collective::ReduceScatter:
      return base.darker(135);
    case trace::Collective::AllToAll:
      return base.darker(175);
    case trace::Collective::SendReceive:
      return style::kind_colour(TaskKind::Transfer, dark);
    default:
      return mixed(base, dark ? Qt::white : Qt::black, 0.5);
  }
}

QColor colour_of(int look, bool dark) {
  const QColor ground = dark ? Qt::black : Qt::white, ink = dark ? Qt::white : Qt::black;
  switch (look) {
    case kComputing:
      return style::kind_colour(TaskKind::Compute, dark);
    case kOther:
      return style::kind_colour(TaskKind::Concat, dark);
    case kHostWait:
      return mixed(ground, ink, 0.36);
    case kKernelWait:
      return mixed(ground, ink, 0.2);
    case kIdle:
      return mixed(ground, ink, 0.08);
    case kHost:
      return mixed(ground, ink, 0.35);
    default:
      return collective_colour(static_cast<trace::Collective>(look - kFirstCollective), dark);
  }
}

// "0, 1, 8 to 15"
QString numbers_text(const std::vector<std::int64_t>& numbers) {
  constexpr qsizetype most = 6;
  QStringList parts;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    if (parts.size() == most) {
      parts << QStringLiteral("…");
      break;
    }
    const bool several = last > i + 1;
    parts << (several ? TraceWords::tr("%1 to %2").arg(numbers[i]).arg(numbers[last])
                      : QString::number(numbers[i]));
    i = several ? last + 1 : i + 1;
  }
  return parts.join(QStringLiteral(", "));
}

QString ranks_text(const RecordedRun& run) {
  const auto count = static_cast<int>(run.set.traces.size());
  const std::int64_t world = run.analysis.world_size;
  if (count == 1) {
    const QString rank = TraceWords::tr("rank %1").arg(*run.set.traces.front().rank);
    return world > 1 ? TraceWords::tr("%1 of %2").arg(rank).arg(world) : rank;
  }
  const auto& missing = run.analysis.missing;
  if (missing.empty()) return TraceWords::tr("%1 ranks").arg(count);
  return TraceWords::tr("%1 of %2 ranks, without %3")
      .arg(count)
      .arg(world)
      .arg(numbers_text(missing));
}

QString steps_text(const RecordedRun& run) {
  if (run.steps.empty()) return TraceWords::tr("no steps were found");
  std::vector<Nanos> lengths;
  const bool any_steady = std::ranges::any_of(run.steps, &RecordedStep::steady);
  for (const RecordedStep& step : run.steps)
    if (step.steady || !any_steady) lengths.push_back(step.length);
  const auto middle = lengths.begin() + std::ssize(lengths) / 2;
  std::ranges::nth_element(lengths, middle);
  const QString typical = style::time(*middle);
  return run.steps.size() == 1
             ? TraceWords::tr("one step of %1").arg(typical)
             : TraceWords::tr("%1 steps, typically %2").arg(run.steps.size()).arg(typical);
}

QString parallelism_text(const RecordedRun& run) {
  QStringList parts;
  for (const trace::GroupFamily& family : run.analysis.families) {
    if (family.role == trace::GroupRole::Unknown || family.role == trace::GroupRole::World ||
        family.size < 2)
      continue;
    parts << TraceWords::tr("%1 parallelism of %2").arg(name_of(family.role)).arg(family.size);
  }
  parts.removeDuplicates();
  return parts.mid(0, 3).join(QStringLiteral(", "));
}

QString clocks_note(const RecordedRun& run) {
  const trace::Alignment& alignment = run.analysis.alignment;
  if (alignment.matches == 0)
    return TraceWords::tr("The clocks are as they were recorded: no collective could be matched.");
  const auto apart = std::ranges::count(alignment.aligned, false);
  QString note = TraceWords::tr(
                     "Clocks were aligned at %1 collectives (%2 of the time of communication); "
                     "their ends are then typically %3 apart, at worst %4.")
                     .arg(alignment.matches)
                     .arg(style::percent(run.analysis.matched_share),
                          style::time(alignment.typical_error), style::time(alignment.worst_error));
  if (apart > 0)
    note +=
        QLatin1Char(' ') + TraceWords::tr(
                               "Ranks that share no collective with the others: %1. When they ran "
                               "beside them is not known.")
                               .arg(apart);
  return note;
}

QString readable(const std::string& name) {
  constexpr qsizetype most = 400;
  const QString whole = text(name);
  return (whole.size() > most ? whole.left(most) + QStringLiteral("…") : whole).toHtmlEscaped();
}

QString call_lines(const trace::Trace& trace, const trace::Event& event) {
  if (!event.call.valid()) return {};
  const trace::Call& call = trace.calls[event.call];
  QString lines = QStringLiteral("<br>") + QString::fromUtf8(name_of(call.collective));
  if (call.group.valid())
    lines += TraceWords::tr(" in group %1").arg(readable(trace::group_text(trace, call.group)));
  if (call.sent > Bytes(0))
    lines += QStringLiteral("<br>") + TraceWords::tr("%1 sent").arg(style::bytes(call.sent));
  if (call.received > Bytes(0))
    lines += QStringLiteral(", ") + TraceWords::tr("%1 received").arg(style::bytes(call.received));
  return lines;
}

}  // namespace

QString name_of_look(std::uint8_t look) {
  switch (look) {
    case kComputing:
      return TraceWords::tr("computing");
    case kOther:
      return TraceWords::tr("copies and other");
    case kHostWait:
      return TraceWords::tr("waits for the host");
    case kKernelWait:
      return TraceWords::tr("between kernels");
    case kIdle:
      return TraceWords::tr("idle");
    case kHost:
      return TraceWords::tr("on the host");
    default: {
      const auto collective = static_cast<trace::Collective>(look - kFirstCollective);
      return collective == trace::Collective::Unknown ? TraceWords::tr("other communication")
                                                      : QString::fromUtf8(name_of(collective));
    }
  }
}

SliceColours recorded_colours(const RecordedRun& run, bool dark) {
  SliceColours colours;
  for (int look = 0; look < kLooks; ++look) {
    SliceColours::Entry entry{name_of_look(static_cast<std::uint8_t>(look)), colour_of(look, dark)};
    entry.hatched = look >= kFirstCollective && look < kOther;
    colours.legend.push_back(std::move(entry));
  }
  for (const RankRow& row : run.rows)
    for (const RecordedSlices* slices : {&row.busy, &row.idle, &row.hidden})
      for (const std::uint8_t look : slices->look) colours.legend[look].used = true;
  colours.legend[kHost].used = !run.has_kernels() && run.timed();
  return colours;
}

QString headline_of(const RecordedRun& run) {
  QStringList parts{ranks_text(run)};
  if (run.timed()) {
    parts << steps_text(run);
  } else {
    parts << TraceWords::tr("an order of operators, without times");
  }
  if (run.set.traces.size() > 1 && run.analysis.alignment.matches > 0)
    parts << TraceWords::tr("clocks within %1")
                 .arg(style::time(run.analysis.alignment.typical_error));
  const QString parallelism = parallelism_text(run);
  if (!parallelism.isEmpty()) parts << parallelism;
  QStringList late;
  for (const trace::Straggler& each : run.analysis.stragglers) late << QString::number(each.rank);
  if (!late.isEmpty())
    parts << TraceWords::tr("the others wait for rank %1")
                 .arg(late.mid(0, 6).join(QStringLiteral(", ")));
  QString line = parts.join(QStringLiteral(" · "));
  line[0] = line[0].toUpper();
  return line;
}

QStringList notes_of(const RecordedRun& run) {
  QStringList notes;
  for (const trace::Straggler& each : run.analysis.stragglers) notes << text(sentence_of(each));
  if (run.set.traces.size() > 1 && run.timed()) notes << clocks_note(run);
  for (const std::string& sentence : parallelism_sentences(run.analysis.families))
    notes << text(sentence);
  for (const std::string& remark : run.set.remarks) notes << text(remark);
  for (const trace::Trace& trace : run.set.traces)
    for (const std::string& remark : trace.remarks)
      notes << (run.set.traces.size() == 1
                    ? text(remark)
                    : TraceWords::tr("Rank %1: %2").arg(*trace.rank).arg(text(remark)));
  return notes;
}

QString lane_name(const trace::Trace& trace, trace::LaneId id) {
  const trace::Lane& lane = trace.lanes[id];
  const QString number =
      (lane.on_device ? TraceWords::tr("stream %1") : TraceWords::tr("thread %1")).arg(lane.thread);
  return lane.name.empty() ? number : number + QLatin1Char(' ') + text(lane.name);
}

QString describe_event(const RecordedRun& run, std::size_t index, std::size_t number) {
  const trace::Trace& trace = run.set.traces[index];
  const trace::Event& event = trace.events[number];
  const trace::Lane& lane = trace.lanes[event.lane];
  const QString where =
      lane.on_device
          ? TraceWords::tr("%1 of device %2").arg(lane_name(trace, event.lane)).arg(lane.process)
          : lane_name(trace, event.lane);
  return QStringLiteral("<b>%1</b><br>%2<br>%3%4")
      .arg(readable(trace.name(event)),
           TraceWords::tr("%1 at %2")
               .arg(style::time(event.duration), style::time(event.start + run.rows[index].shift)),
           where.toHtmlEscaped(), call_lines(trace, event));
}

QString describe_moment(const RecordedRun& run, std::size_t index, Nanos at) {
  const RankRow& row = run.rows[index];
  QString words = TraceWords::tr("<b>Rank %1</b>").arg(row.rank);
  for (const RecordedSlices* slices : {&row.busy, &row.idle, &row.hidden}) {
    const std::size_t i = slices->first_after(static_cast<double>(at.value));
    if (i >= slices->size() || slices->start[i] > at.value) continue;
    const QString time = style::time(Nanos(slices->end[i] - slices->start[i]));
    words += QStringLiteral("<br>") +
             (slices == &row.hidden ? TraceWords::tr("%1 under it, %2") : QStringLiteral("%1, %2"))
                 .arg(name_of_look(slices->look[i]), time);
  }
  // Events that began before and still run, the latest first.
  constexpr std::ptrdiff_t looked_at = 4096;
  constexpr int most = 3;
  const std::vector<trace::Event>& events = run.set.traces[index].events;
  const Nanos own = at - row.shift;
  auto event = std::ranges::upper_bound(events, own, {}, &trace::Event::start);
  const auto stop = event - std::min(looked_at, event - events.begin());
  for (int told = 0; event != stop && told < most;) {
    --event;
    if (!runs_on_device(event->kind) || event->end() <= own) continue;
    ++told;
    words += QStringLiteral("<br>") +
             describe_event(run, index, static_cast<std::size_t>(event - events.begin()));
  }
  return words;
}

}  // namespace strato
