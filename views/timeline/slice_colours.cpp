#include "views/timeline/slice_colours.h"

#include <QCoreApplication>
#include <QPaintEngine>
#include <QPainter>
#include <cmath>

#include "views/style/style.h"

namespace strato {
namespace {

struct ColourWords {
  Q_DECLARE_TR_FUNCTIONS(ColourWords)
};

constexpr int kTile = 6;

QPixmap hatch_tile(const QColor& ground, const QColor& line, double dpr) {
  QPixmap tile(static_cast<int>(std::ceil(kTile * dpr)), static_cast<int>(std::ceil(kTile * dpr)));
  tile.setDevicePixelRatio(dpr);
  tile.fill(ground);
  QPainter painter(&tile);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(line, 2));
  for (int shift = -kTile; shift <= kTile; shift += kTile) {  // neighbours close the seam
    painter.drawLine(QPointF(shift - 1, kTile + 1), QPointF(shift + kTile + 1, -1));
  }
  return tile;
}

// `name`: one that QT_TRANSLATE_NOOP told the translators of.
SliceColours::Entry entry(const char* name, const QColor& colour) {
  return {ColourWords::tr(name), colour};
}

SliceColours by_kind(const Program& program, bool dark) {
  SliceColours colours;
  const auto add = [&](const char* name, TaskKind kind) {
    colours.legend.push_back(entry(name, style::kind_colour(kind, dark)));
    colours.legend.back().hatched = is_communication(kind);
  };
  add(QT_TRANSLATE_NOOP("ColourWords", "compute"), TaskKind::Compute);
  add(QT_TRANSLATE_NOOP("ColourWords", "update"), TaskKind::Update);
  add(QT_TRANSLATE_NOOP("ColourWords", "reshuffle"), TaskKind::Concat);
  add(QT_TRANSLATE_NOOP("ColourWords", "transfer"), TaskKind::Transfer);
  add(QT_TRANSLATE_NOOP("ColourWords", "collective"), TaskKind::AllReduce);
  for (const Task& task : program.tasks) {
    std::uint8_t index = 4;
    switch (task.kind) {
      case TaskKind::Compute:
        index = 0;
        break;
      case TaskKind::Update:
        index = 1;
        break;
      case TaskKind::Split:
      case TaskKind::Concat:
      case TaskKind::Sum:
        index = 2;
        break;
      case TaskKind::Transfer:
      case TaskKind::Offload:
      case TaskKind::Fetch:
        index = 3;
        break;
      default:
        break;
    }
    colours.entry_of.push_back(index);
  }
  return colours;
}

SliceColours by_phase(const Program& program, bool dark) {
  SliceColours colours;
  colours.legend = {
      entry(QT_TRANSLATE_NOOP("ColourWords", "forward"), style::phase_colour(Phase::Forward, dark)),
      entry(QT_TRANSLATE_NOOP("ColourWords", "loss"), style::phase_colour(Phase::Loss, dark)),
      entry(QT_TRANSLATE_NOOP("ColourWords", "backward"),
            style::phase_colour(Phase::Backward, dark)),
      entry(QT_TRANSLATE_NOOP("ColourWords", "update"), style::phase_colour(Phase::Update, dark)),
      entry(QT_TRANSLATE_NOOP("ColourWords", "computed again"),
            mixed(style::phase_colour(Phase::Forward, dark), dark ? Qt::black : Qt::white, 0.5))};
  constexpr std::uint8_t kAgain = 4;
  for (const Task& task : program.tasks) {
    const Phase phase = task.op.valid() ? program.graph->op(task.op).phase : Phase::Forward;
    colours.entry_of.push_back(task.again ? kAgain : static_cast<std::uint8_t>(phase));
  }
  return colours;
}

SliceColours by_device_group(const Program& program, bool dark) {
  SliceColours colours;
  const Cluster& cluster = *program.cluster;
  const std::size_t most = std::min<std::size_t>(cluster.groups().size(), 255);
  for (std::size_t g = 0; g < most; ++g) {
    colours.legend.push_back({QString::fromStdString(cluster.groups()[DeviceGroupId(g)].name),
                              style::device_group_colour(cluster, DeviceGroupId(g), dark), false});
  }
  for (const Task& task : program.tasks) {
    const std::size_t group = task.device.valid() ? cluster.device(task.device).group.index() : 0;
    colours.entry_of.push_back(static_cast<std::uint8_t>(std::min(group, most - 1)));
  }
  return colours;
}

// Green to purple, even for colour-blind eyes; red stays infeasible, gold the critical path.
SliceColours by_change(const Program& program, const TaskChanges& changes, bool dark) {
  SliceColours colours;
  colours.legend = {
      entry(QT_TRANSLATE_NOOP("ColourWords", "only here"),
            dark ? QColor(0x6f8fb8) : QColor(0x4a6fa5)),
      entry(QT_TRANSLATE_NOOP("ColourWords", "much faster"),
            dark ? QColor(0x3fae5f) : QColor(0x1b7837)),
      entry(QT_TRANSLATE_NOOP("ColourWords", "faster"), dark ? QColor(0x87c796) : QColor(0x7fbf7b)),
      entry(QT_TRANSLATE_NOOP("ColourWords", "same"), dark ? QColor(0x6a6c70) : QColor(0xbdbdbd)),
      entry(QT_TRANSLATE_NOOP("ColourWords", "slower"), dark ? QColor(0xb79ac8) : QColor(0xaf8dc3)),
      entry(QT_TRANSLATE_NOOP("ColourWords", "much slower"),
            dark ? QColor(0xa35fc0) : QColor(0x762a83))};
  for (const Task& task : program.tasks)
    colours.entry_of.push_back(static_cast<std::uint8_t>(changes.of(task)));
  return colours;
}

}  // namespace

QString label_of(ColourMode mode) {
  switch (mode) {
    case ColourMode::DeviceGroup:
      return ColourWords::tr("Device group");
    case ColourMode::Phase:
      return ColourWords::tr("Phase");
    case ColourMode::Kind:
      return ColourWords::tr("Kind");
    case ColourMode::Change:
      return ColourWords::tr("Change");
  }
  return {};
}

QString kind_label(TaskKind kind) {
  switch (kind) {
    case TaskKind::Compute:
      return ColourWords::tr("compute");
    case TaskKind::Split:
      return ColourWords::tr("split");
    case TaskKind::Concat:
      return ColourWords::tr("concat");
    case TaskKind::Sum:
      return ColourWords::tr("sum");
    case TaskKind::Transfer:
      return ColourWords::tr("transfer");
    case TaskKind::AllReduce:
      return ColourWords::tr("AllReduce");
    case TaskKind::AllGather:
      return ColourWords::tr("AllGather");
    case TaskKind::ReduceScatter:
      return ColourWords::tr("ReduceScatter");
    case TaskKind::AllToAll:
      return ColourWords::tr("AllToAll");
    case TaskKind::Offload:
      return ColourWords::tr("To host memory");
    case TaskKind::Fetch:
      return ColourWords::tr("From host memory");
    case TaskKind::Reduce:
      return ColourWords::tr("reduce");
    case TaskKind::Broadcast:
      return ColourWords::tr("broadcast");
    case TaskKind::Update:
      return ColourWords::tr("update");
  }
  return {};
}

SliceColours colour_tasks(const Program& program, ColourMode mode, bool dark,
                          const TaskChanges* changes) {
  SliceColours colours = mode == ColourMode::Change && changes ? by_change(program, *changes, dark)
                         : mode == ColourMode::Phase           ? by_phase(program, dark)
                         : mode == ColourMode::DeviceGroup     ? by_device_group(program, dark)
                                                               : by_kind(program, dark);
  for (const std::uint8_t index : colours.entry_of) colours.legend[index].used = true;
  return colours;
}

SliceFill make_fill(const QColor& colour, const QColor& ground, const QColor& text, double dpr) {
  SliceFill fill;
  fill.solid = colour;
  fill.dim = mixed(colour, ground, 0.78);
  fill.light = mixed(colour, ground, 0.72);
  fill.light_dim = mixed(colour, ground, 0.92);
  fill.hatch = hatch_tile(fill.light, mixed(colour, ground, 0.15), dpr);
  fill.hatch_dim = hatch_tile(fill.light_dim, mixed(colour, ground, 0.78), dpr);
  fill.text = style::text_on(colour);
  fill.text_dim = mixed(text, ground, 0.45);
  return fill;
}

bool draws_lines(const QPainter& painter) {
  const QPaintEngine* engine = painter.paintEngine();
  return engine && engine->type() != QPaintEngine::Raster &&
         engine->type() != QPaintEngine::OpenGL2;
}

void fill_hatched(QPainter& painter, const QRectF& box, const SliceFill& fill, bool dim) {
  if (!draws_lines(painter)) {
    const double period = fill.hatch.width() / fill.hatch.devicePixelRatio();
    painter.drawTiledPixmap(box, dim ? fill.hatch_dim : fill.hatch,
                            QPointF(std::fmod(box.x(), period), std::fmod(box.y(), period)));
    return;
  }
  painter.fillRect(box, dim ? fill.light_dim : fill.light);
  painter.setPen(QPen(dim ? fill.dim : fill.solid, 1));
  for (double x = box.left() - box.height(); x < box.right(); x += 5) {
    const double from = std::max(x, box.left()), to = std::min(x + box.height(), box.right());
    painter.drawLine(QPointF(from, box.bottom() - (from - x)),
                     QPointF(to, box.bottom() - (to - x)));
  }
}

}  // namespace strato
