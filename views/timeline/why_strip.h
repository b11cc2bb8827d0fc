// The critical path's reasons as blocks for the eye, and what is called what on the screen: the
// strip above the rows and the gaps in them.
#pragma once

#include <QBrush>
#include <QColor>
#include <QString>
#include <QStringList>
#include <array>
#include <optional>
#include <vector>

#include "core/sim/explain/path_pieces.h"
#include "views/timeline/time_mapping.h"

namespace strato {

// Pieces [first, last) drawn as one: neighbours of one reason, and what is too narrow to be seen.
struct WhyBlock {
  std::size_t first = 0, last = 0;
  Reason reason = Reason::Compute;            // that most of its time goes to
  std::array<std::int64_t, kReasons> time{};  // ns
};
// What is in view, in time order. Costs what is in view.
std::vector<WhyBlock> why_blocks(const std::vector<PathPiece>& path, const TimeMapping& mapping);
std::optional<WhyBlock> why_block_at(const std::vector<PathPiece>& path, const TimeMapping& mapping,
                                     double x);
std::size_t longest_piece(const std::vector<PathPiece>& path, const WhyBlock& block);

// Work has the colour of its kind; where more of it waits, that colour with a pattern.
QColor reason_colour(Reason reason, bool dark);
Qt::BrushStyle waiting_pattern(Reason reason);

// From the longest to the shortest: what fits is shown.
QStringList gap_texts(const Timeline& timeline, const Gap& gap);
QString describe_gap(const Timeline& timeline, const Gap& gap);  // tooltip: HTML
QString describe_block(const Timeline& timeline, const std::vector<PathPiece>& path,
                       const WhyBlock& block);

}  // namespace strato
