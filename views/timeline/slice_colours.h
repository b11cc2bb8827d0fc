// What the colour of a slice means: one thing at a time, with a legend.
#pragma once

#include <QColor>
#include <QPixmap>
#include <QString>
#include <cstdint>
#include <vector>

#include "core/program/value/program.h"
#include "views/style/mixed.h"
#include "views/timeline/task_changes.h"

class QPainter;

namespace strato {

enum class ColourMode : std::uint8_t { DeviceGroup, Phase, Kind, Change };
QString label_of(ColourMode mode);

// What a kind of task is called on the screen: "compute", "transfer", ...
QString kind_label(TaskKind kind);

struct SliceColours {
  struct Entry {
    QString name;
    QColor colour;
    bool used = false;     // by a task of this program: unused ones stay out of the legend
    bool hatched = false;  // all of them are communication
  };
  std::vector<Entry> legend;
  IdVector<TaskId, std::uint8_t> entry_of;
};
// `changes` is for ColourMode::Change; without it that is Kind.
SliceColours colour_tasks(const Program& program, ColourMode mode, bool dark,
                          const TaskChanges* changes = nullptr);

// Fills for one legend entry: computation solid, communication hatched, each also in a dimmed form.
struct SliceFill {
  QColor solid, dim;
  QColor light, light_dim;   // ground of the hatching
  QPixmap hatch, hatch_dim;  // tiles
  QColor text, text_dim;
};
SliceFill make_fill(const QColor& colour, const QColor& ground, const QColor& text, double dpr);
// As what communicates is filled: with tiles, or with lines where these are what is kept.
void fill_hatched(QPainter& painter, const QRectF& box, const SliceFill& fill, bool dim = false);
bool draws_lines(const QPainter& painter);  // into an SVG, or for a printer

}  // namespace strato
