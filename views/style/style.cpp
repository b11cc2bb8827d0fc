#include "views/style/style.h"

#include <QApplication>
#include <QFont>
#include <QStyleHints>
#include <QWidget>
#include <algorithm>
#include <array>
#include <cmath>

namespace strato::style {
namespace {

// Okabe-Ito without black, yellow (poor on white) darkened, vermilion last because red means
// infeasible.
constexpr std::array<QRgb, 6> kCategories = {0xff0072b2, 0xff009e73, 0xffcc79a7,
                                             0xff8c6bb1, 0xff56b4e9, 0xffb09c2a};

QColor category(std::size_t index, bool dark) {
  const QColor colour = QColor::fromRgb(kCategories[index % kCategories.size()]);
  return dark ? colour.lighter(125) : colour;
}

QColor shaded(const QColor& base, double step) {  // step in [-1, 1]: darker to lighter
  float h, s, l;
  base.getHslF(&h, &s, &l);
  return QColor::fromHslF(h, s, std::clamp(l + static_cast<float>(step) * 0.14f, 0.15f, 0.85f));
}

double spread(std::size_t index, std::size_t count) {  // evenly over [-1, 1]
  return count < 2 ? 0.0 : 2.0 * static_cast<double>(index) / static_cast<double>(count - 1) - 1.0;
}

QString scaled(double value, double step, std::initializer_list<const char*> units) {
  auto unit = units.begin();
  while (std::abs(value) >= step * 0.9995 && unit + 1 != units.end()) {
    value /= step;
    ++unit;
  }
  return significant(value) + QStringLiteral(" ") + QString::fromUtf8(*unit);
}

}  // namespace

bool is_dark(const QPalette& palette) { return palette.color(QPalette::Window).lightness() < 128; }

QColor device_group_colour(const Cluster& cluster, DeviceGroupId group, bool dark) {
  const GpuTypeId type = cluster.groups()[group].type;
  std::size_t index = 0, count = 0;
  for (std::size_t g = 0; g < cluster.groups().size(); ++g) {
    if (cluster.groups()[DeviceGroupId(g)].type != type) continue;
    if (g < group.index()) ++index;
    ++count;
  }
  return shaded(category(type.index(), dark), 0.8 * spread(index, count));
}

QColor device_colour(const Cluster& cluster, DeviceId device, bool dark) {
  const DeviceGroupId group = cluster.device(device).group;
  const auto& devices = cluster.groups()[group].devices;
  const auto at = std::find(devices.begin(), devices.end(), device) - devices.begin();
  return shaded(device_group_colour(cluster, group, dark),
                0.4 * spread(static_cast<std::size_t>(at), devices.size()));
}

QColor phase_colour(Phase phase, bool dark) {
  return category(static_cast<std::size_t>(phase), dark);
}

QColor kind_colour(TaskKind kind, bool dark) {
  switch (kind) {
    case TaskKind::Compute:
      return category(0, dark);
    case TaskKind::Update:
      return category(3, dark);
    case TaskKind::Split:
    case TaskKind::Concat:
    case TaskKind::Sum:
      return category(5, dark);
    case TaskKind::Transfer:
    case TaskKind::Offload:
    case TaskKind::Fetch:
      return category(1, dark);
    default:
      return category(2, dark);
  }
}

// Piecewise-linear viridis, turned round in dark mode so that "much" stands out from the
// background.
QColor ramp(double fraction, bool dark) {
  constexpr std::array<QRgb, 5> stops = {0xfffde725, 0xff5ec962, 0xff21918c, 0xff3b528b,
                                         0xff440154};
  double x = std::clamp(fraction, 0.0, 1.0);
  if (dark) x = 1 - x;
  x *= stops.size() - 1;
  const auto low = std::min<std::size_t>(static_cast<std::size_t>(x), stops.size() - 2);
  const double part = x - static_cast<double>(low);
  const auto mix = [&](int shift) {
    const auto channel = [&](std::size_t stop) { return (stops[stop] >> shift) & 0xff; };
    return static_cast<int>(std::lround(channel(low) * (1 - part) + channel(low + 1) * part));
  };
  return QColor(mix(16), mix(8), mix(0));
}

QColor infeasible(bool dark) { return dark ? QColor(0xff6b5e) : QColor(0xc62828); }
QColor critical(bool dark) { return dark ? QColor(0xffb74d) : QColor(0xe67700); }
QColor selection(bool dark) { return dark ? QColor(0x64b5f6) : QColor(0x1565c0); }

QColor muted_text(const QPalette& palette) {
  QColor colour = palette.color(QPalette::WindowText);
  colour.setAlphaF(0.62f);
  return colour;
}

QColor text_on(const QColor& fill) {
  const double luminance = 0.299 * fill.redF() + 0.587 * fill.greenF() + 0.114 * fill.blueF();
  return luminance > 0.55 ? QColor(0x1a1a1a) : QColor(Qt::white);
}

QString significant(double value, int digits) {
  if (value == 0 || !std::isfinite(value))
    return value == 0 ? QStringLiteral("0") : QStringLiteral("–");
  const double magnitude = std::floor(std::log10(std::abs(value)));
  const int decimals = std::max(0, digits - 1 - static_cast<int>(magnitude));
  QString text = QString::number(value, 'f', std::min(decimals, 6));
  if (text.startsWith(QLatin1Char('-'))) text.replace(0, 1, QStringLiteral("−"));
  return text;
}

QString time(Nanos t) {
  return scaled(static_cast<double>(t.value), 1000, {"ns", "µs", "ms", "s"});
}
QString axis_time(std::int64_t time, std::int64_t step, std::int64_t end) {
  static constexpr std::array<const char*, 4> units = {"ns", "µs", "ms", "s"};
  std::size_t unit = 0;
  double scale = 1;
  while (unit + 1 < units.size() && static_cast<double>(end) >= 1000 * scale) {
    scale *= 1000;
    ++unit;
  }
  const double digits = std::log10(scale / static_cast<double>(step));
  const int decimals = std::max(0, static_cast<int>(std::ceil(digits - 1e-9)));
  return QString::number(static_cast<double>(time) / scale, 'f', decimals) + QLatin1Char(' ') +
         QString::fromUtf8(units[unit]);
}
QString bytes(Bytes b) {
  return scaled(static_cast<double>(b.value), 1000, {"B", "kB", "MB", "GB", "TB", "PB"});
}
QString bytes_of(Bytes part, Bytes whole) {
  const QString some = bytes(part), all = bytes(whole);
  const qsizetype unit = some.lastIndexOf(QLatin1Char(' '));
  const QString first = all.endsWith(some.mid(unit)) ? some.left(unit) : some;
  return QCoreApplication::translate("Style", "%1 of %2").arg(first, all);
}
QString bandwidth(double bytes_per_second) {
  return scaled(bytes_per_second, 1000, {"B/s", "kB/s", "MB/s", "GB/s", "TB/s"});
}
QString count(double n) {
  return n < 1000 ? QString::number(n) : scaled(n, 1000, {"", "k", "M", "G", "T"});
}
QString flops(double n) {
  return scaled(n, 1000, {"FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP"});
}
QString factor(double f) { return significant(f) + QStringLiteral("×"); }
QString percent(double fraction) { return significant(fraction * 100) + QStringLiteral(" %"); }
QString signed_percent(double fraction) {
  return (fraction > 0 ? QStringLiteral("+") : QString()) + percent(fraction);
}

void apply(QWidget& window) {
  QFont font = window.font();
  font.setStyleStrategy(QFont::PreferAntialias);
  window.setFont(font);
}

}  // namespace strato::style
