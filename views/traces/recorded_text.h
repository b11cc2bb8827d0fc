// A recorded run in words, and the colours of what it shows.
#pragma once

#include <QString>
#include <QStringList>

#include "views/timeline/slice_colours.h"
#include "views/traces/recorded_run.h"

namespace strato {

// What ran where: entries by Look, those in use that the run has. What communicates has the colour
// of collectives, or of transfers, as in the timeline, in shades by kind.
SliceColours recorded_colours(const RecordedRun& run, bool dark);
QString name_of_look(std::uint8_t look);  // "computing", "AllReduce", "waits for the host"

// "8 ranks of 16, 8 are missing (8 to 15) · 3 steps, 20.1 ms each · …"
QString headline_of(const RecordedRun& run);
QStringList notes_of(
    const RecordedRun& run);  // sentences: clocks, parallelism, who is late, remarks
QString lane_name(const trace::Trace& trace, trace::LaneId lane);  // "stream 7", "thread 12 main"

// Tooltips, as HTML: an event; what a rank does at a moment of the axis, and what runs then.
QString describe_event(const RecordedRun& run, std::size_t index, std::size_t event);
QString describe_moment(const RecordedRun& run, std::size_t index, Nanos at);

}  // namespace strato
